/* Declarations that the shim's files share: the guest's state and small helpers. One struct holds
   everything that a start or a turn writes, so that a turn dirties one page and not five. */
#ifndef COLDFRAME_H
#define COLDFRAME_H

#define CF_STACK_SIZE (4u << 20)
/* the part of the stack that is left to C functions that do not check the stack */
#define CF_STACK_MARGIN (192u << 10)
#define CF_INBOX_SIZE (64u << 10)

#define NATIVE(name) static JSValue name(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv)

/* A string of the start block, in place. */
typedef struct CfText {
    const char *bytes;
    uint32_t len;
} CfText;

/* The reason why an error that nothing can catch unwinds the guest. */
typedef enum CfStop { CF_RUNNING = 0, CF_STOP_EXIT, CF_STOP_INTERRUPT, CF_STOP_MEMORY, CF_STOP_TIMEOUT } CfStop;

enum {
    HOOK_START, HOOK_LINK, HOOK_TICK, HOOK_TIMERS, HOOK_IMMEDIATES, HOOK_COMPLETE, HOOK_UNCAUGHT,
    HOOK_BEFORE_EXIT, HOOK_EXIT, HOOK_EVAL_DONE, HOOK_OPTIONS, HOOK_MAIN, HOOK_RESTORE, HOOK_RESTORED,
    HOOK_EVAL_PLACE, HOOK_CELL, HOOK_ABANDON, HOOK_COUNT
};

static struct Coldframe {
    CfState state;
    /* Arrays that native.loop exposes to JavaScript, in Node's layouts. */
    uint32_t immediate_info[3]; /* count, refCount, hasOutstanding */
    int32_t timer_info[1];      /* timers that keep the event loop alive */
    int32_t exit_info[3];       /* exiting, exitCode, hasExitCode */
    uint8_t tick_info[4];       /* hasTickScheduled, hasRejectionToWarn */

    CfStop stop;
    double deadline_ns;         /* deadline of a vm script with a timeout, else 0 */
    bool running_jobs;
    bool timer_ref;
    uint32_t exhaustions;       /* weights of the failed allocations of this process (errors.c) */

    uint32_t mode, pid, ppid, argc, envc, execc;
    void *start_block;
    CfText cwd, url, source;
    const char *argv_begin, *env_begin, *exec_begin;
    bool has_node_options;      /* NODE_OPTIONS or NODE_USE_SYSTEM_CA is in the environment */
    JSValue cwd_override;       /* after chdir, else undefined */
    double time_origin_ns, time_origin_wall_ms;

    /* the promise of the program or of the running evaluation, else undefined */
    JSValue main_promise;
    uint32_t eval_id;
    uint32_t eval_base_refs;    /* number of references when the evaluation began */
    bool program_done;          /* the program's module has been evaluated */
    uint32_t eval_flags;        /* CF_EVAL_... of the evaluation */
    bool eval_placed;           /* an evaluation's environment and working directory are set */

    void *big_inbox;
} cf;

/* State that is written while the image is built. A process rarely writes this state, for
   example the promise hooks of a program. */
static struct {
    JSRuntime *rt;
    JSContext *ctx;
    JSValue hooks[HOOK_COUNT];
    JSValue default_prepare, header_fn, prepare_callback;
    JSValue rejection_tracker, import_callback, import_meta_callback;
    JSValue promise_hooks[4]; /* init, before, after, settled */
    JSValue stop_error, memory_error;
    JSValue env, absent, zone_names;
    JSClassID module_class, env_class, log_class;
    bool booted;
} cf_image;

#define CF_HOOK(which) (cf_image.hooks[which])

/* errors.c */
static int cf_interrupted(JSRuntime *rt, void *opaque);
static JSValue cf_stop(JSContext *ctx, CfStop why);
static void cf_report_uncaught(JSContext *ctx, JSValue error, bool from_promise);
static _Noreturn void cf_fatal(JSContext *ctx, const char *what);

/* inspect.c, messages.c: reading values without running code */
static JSValue cf_constructor_name(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv);
static JSValueConst cf_plain_property(JSObject *p, JSAtom name);

/* views.c */
static int cf_view(JSContext *ctx, JSValueConst value, uint8_t **bytes, size_t *len);
static JSValue cf_flat_string(JSContext *ctx, JSValueConst value);

/* text.c */
static JSValue cf_utf8(JSContext *ctx, const uint8_t *bytes, size_t len);

/* process.c */
static void cf_seed(JSContext *realm);

/* io.c */
static int cf_write_all(int fd, const void *bytes, size_t len);

/* loop.c */
static void cf_drain(JSContext *ctx);
static bool cf_call_hook(JSContext *ctx, int which, int argc, JSValueConst *argv, JSValue *result);

/* modules.c */
static JSModuleDef *cf_compile_module(JSContext *ctx, const char *source, size_t len, const char *url);
static JSValue cf_module_handle(JSContext *ctx, JSModuleDef *m);

#endif
