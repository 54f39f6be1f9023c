/* The state that differs between processes. A start must be cheap, so nothing is parsed in advance.
   The start block is copied once, and each reader parses the part that it needs. The list of the
   state that a start refreshes is a security contract:

   Math.random's state      new entropy from the sidecar
   time origin              both clocks
   start block              pid, ppid, argv, env, cwd, url, source
   env's table              none, so without writes and deletions of an earlier process
   chdir                    none
   loop arrays, exit info   zero
   async context            undefined

   The restore of a process from a snapshot has a second, shorter list. The process continues:
   its start block, its loop and its clocks stay, and the sidecar's monotonic clock continues
   from the time of the snapshot.

   Math.random's state      new entropy, in every realm
   pid, ppid                the sidecar's numbers
   the rest                 bootstrap/start-up/restore.js */

static uint32_t cf_u32_at(const char *p)
{
    uint32_t value;
    memcpy(&value, p, 4);
    return value;
}

static const char *cf_next_text(const char *p, CfText *out)
{
    out->len = cf_u32_at(p);
    out->bytes = p + 4;
    return p + 4 + ((out->len + 1 + 3) & ~3u);
}

static void cf_env_reset(void);

/* Seeds the generator of `realm` with new entropy. */
static void cf_seed(JSContext *realm)
{
    uint64_t seed;
    host_random(&seed, sizeof(seed));
    realm->random_state = seed ? seed : 1;
}

static int cf_start_process(JSContext *ctx, uint32_t mode, const void *block, uint32_t len)
{
    char *copy = malloc(len ? len : 1);
    const char *p;

    if (!copy)
        return -1;
    memcpy(copy, block, len);
    free(cf.start_block);
    cf.start_block = copy;
    cf.mode = mode;
    cf.pid = cf_u32_at(copy);
    cf.ppid = cf_u32_at(copy + 4);
    cf.argc = cf_u32_at(copy + 8);
    cf.envc = cf_u32_at(copy + 12);
    cf.execc = cf_u32_at(copy + 16);
    p = cf_next_text(copy + 20, &cf.cwd);
    p = cf_next_text(p, &cf.url);
    p = cf_next_text(p, &cf.source);
    cf.argv_begin = p;
    for (uint32_t i = 0; i < cf.argc; i++) {
        CfText skipped;
        p = cf_next_text(p, &skipped);
    }
    cf.env_begin = p;
    cf.has_node_options = false;
    for (uint32_t i = 0; i < cf.envc; i++) {
        CfText entry;
        p = cf_next_text(p, &entry);
        cf.has_node_options |= entry.len > 13 && !memcmp(entry.bytes, "NODE_OPTIONS=", 13);
        cf.has_node_options |= entry.len == 20 && !memcmp(entry.bytes, "NODE_USE_SYSTEM_CA=1", 20);
    }
    cf.exec_begin = p;
    cf_env_reset();

    memset(&cf.state, 0, sizeof(cf.state));
    cf.state.timer_at = -1;
    memset(cf.immediate_info, 0, sizeof(cf.immediate_info));
    memset(cf.timer_info, 0, sizeof(cf.timer_info));
    memset(cf.exit_info, 0, sizeof(cf.exit_info));
    memset(cf.tick_info, 0, sizeof(cf.tick_info));
    cf.stop = CF_RUNNING;
    cf.exhaustions = 0;
    cf.timer_ref = false; /* as in Node: only timers with a reference keep the loop alive */
    cf.program_done = false;
    cf.eval_id = 0;
    set_value(ctx, &cf.cwd_override, JS_UNDEFINED);
    set_value(ctx, &cf.main_promise, JS_UNDEFINED);
    set_value(ctx, &ctx->rt->async_context, JS_UNDEFINED);

    cf_seed(ctx);
    cf.time_origin_ns = (double)host_clock(CF_CLOCK_MONOTONIC);
    cf.time_origin_wall_ms = (double)host_clock(CF_CLOCK_WALL) / 1e6;
    return 0;
}

/* The content of a RESTORE event besides process ids. */
typedef struct CfRestored {
    double elapsed_ms;  /* milliseconds since the snapshot, by the wall clock */
    const char *env;   /* strings as in the start block: KEY=value, or KEY alone */
    uint32_t envc;
} CfRestored;

static bool cf_restore_process(JSContext *ctx, CfRestored *restored, const uint8_t *payload, uint32_t len)
{
    struct list_head *el;

    list_for_each(el, &ctx->rt->context_list)
        cf_seed(list_entry(el, JSContext, link));
    if (len < 24)
        return false;
    cf.pid = cf_u32_at((const char *)payload);
    cf.ppid = cf_u32_at((const char *)payload + 4);
    restored->envc = cf_u32_at((const char *)payload + 8);
    memcpy(&restored->elapsed_ms, payload + 16, 8);
    restored->env = (const char *)payload + 24;
    return true;
}

static JSValue cf_text_value(JSContext *ctx, CfText text)
{
    return cf_utf8(ctx, (const uint8_t *)text.bytes, text.len);
}

static JSValue cf_texts(JSContext *ctx, const char *p, uint32_t count)
{
    JSValue array = JS_NewArray(ctx);
    for (uint32_t i = 0; i < count && !JS_IsException(array); i++) {
        CfText text;
        p = cf_next_text(p, &text);
        if (JS_DefinePropertyValueUint32(ctx, array, i, cf_text_value(ctx, text), JS_PROP_C_W_E) < 0) {
            JS_FreeValue(ctx, array);
            return JS_EXCEPTION;
        }
    }
    return array;
}

NATIVE(cf_argv) { return cf_texts(ctx, cf.argv_begin, cf.argc); }
NATIVE(cf_exec_argv) { return cf_texts(ctx, cf.exec_begin, cf.execc); }

NATIVE(cf_cwd)
{
    if (JS_IsString(cf.cwd_override))
        return js_dup(cf.cwd_override);
    return cf_text_value(ctx, cf.cwd);
}

NATIVE(cf_chdir)
{
    JSValue path = JS_ToString(ctx, argv[0]);
    if (JS_IsException(path))
        return path;
    set_value(ctx, &cf.cwd_override, path);
    return JS_UNDEFINED;
}

NATIVE(cf_url) { return cf_text_value(ctx, cf.url); }
NATIVE(cf_process_source) { return cf_text_value(ctx, cf.source); }
NATIVE(cf_pid) { return js_int32(cf.pid); }
NATIVE(cf_ppid) { return js_int32(cf.ppid); }
NATIVE(cf_mode) { return js_int32(cf.mode); }

NATIVE(cf_time_origin)
{
    JSValue values[2] = { js_float64(cf.time_origin_ns), js_float64(cf.time_origin_wall_ms) };
    return cf_array(ctx, 2, values);
}

/* exit(code): ends the process without calling a hook */
NATIVE(cf_exit)
{
    int code = 0;
    if (!JS_IsUndefined(argv[0]) && JS_ToInt32(ctx, &code, argv[0]))
        return JS_EXCEPTION;
    if (!cf.stop) {
        cf.exit_info[1] = code;
        cf.exit_info[2] = 1;
    }
    return cf_stop(ctx, CF_STOP_EXIT);
}

/* returnsValue(): returns whether the program or the running evaluation may return a value */
NATIVE(cf_returns_value)
{
    return js_bool(cf.mode == CF_MODE_RUN || (cf.mode == CF_MODE_RESIDENT && cf.eval_id && (cf.eval_flags & CF_EVAL_RETURNS)));
}

/* isEvaluating(): returns whether a resident runner runs an evaluation */
NATIVE(cf_is_evaluating)
{
    return js_bool(cf.eval_id != 0);
}

static void cf_free_return_value(JSContext *ctx)
{
    if (cf.state.value_ptr)
        js_free(ctx, (void *)(uintptr_t)cf.state.value_ptr);
    cf.state.value_ptr = 0;
    cf.state.value_len = 0;
}

/* setReturnValue(json): sets the JSON text that the run returns to the app */
NATIVE(cf_set_return_value)
{
    size_t len;
    const char *text = JS_ToCStringLen(ctx, &len, argv[0]);
    if (!text)
        return JS_EXCEPTION;
    char *copy = js_malloc(ctx, len + 1);
    if (copy) {
        memcpy(copy, text, len + 1);
        cf_free_return_value(ctx);
        cf.state.value_ptr = (uint32_t)(uintptr_t)copy;
        cf.state.value_len = len;
    }
    JS_FreeCString(ctx, text);
    return copy ? JS_UNDEFINED : JS_EXCEPTION;
}
