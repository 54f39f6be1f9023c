/* System calls: numbers, texts and views become the plain integers of the ABI's `sys` import.
   JavaScript passes the number of the call; this file names no call. A text or a view becomes
   two arguments, its address and its length in bytes. One native serves all calls, so that the
   bindings (bootstrap/internal-bindings) need no C of their own to reach the kernel. */

#define SYS_ARGS 8
#define SYS_TEXTS 4
#define SYS_INLINE_TEXT 1024

typedef struct CfSysCall {
    int64_t args[SYS_ARGS];
    int count;
    char *texts[SYS_TEXTS]; /* allocations to free */
    int text_count;
    char inline_text[SYS_INLINE_TEXT];
    size_t inline_used;
} CfSysCall;

static void cf_sys_release(JSContext *ctx, CfSysCall *call)
{
    for (int i = 0; i < call->text_count; i++)
        js_free(ctx, call->texts[i]);
}

/* Stores a text as UTF-8: a short text on the stack, a long text on the heap. */
static int cf_sys_text(JSContext *ctx, CfSysCall *call, JSValueConst value)
{
    JSValue string = cf_flat_string(ctx, value);
    char *place;
    size_t n;

    if (JS_IsException(string))
        return -1;
    JSString *s = JS_VALUE_GET_STRING(string);
    n = cf_utf8_length(s);
    if (n <= SYS_INLINE_TEXT - call->inline_used) {
        place = call->inline_text + call->inline_used;
        call->inline_used += n;
    } else if (call->text_count == SYS_TEXTS) {
        JS_FreeValue(ctx, string);
        JS_ThrowRangeError(ctx, "sys: more than %d long texts", SYS_TEXTS);
        return -1;
    } else if ((place = js_malloc(ctx, n))) {
        call->texts[call->text_count++] = place;
    } else {
        JS_FreeValue(ctx, string);
        return -1;
    }
    cf_write_utf8(s, (uint8_t *)place, n, NULL);
    JS_FreeValue(ctx, string);
    call->args[call->count++] = (uintptr_t)place;
    call->args[call->count++] = n;
    return 0;
}

/* Adds an argument to the call. Views are added in a second round, because the conversion of
   other arguments may run user code. */
static int cf_sys_argument(JSContext *ctx, CfSysCall *call, JSValueConst value, bool views)
{
    int tag = JS_VALUE_GET_NORM_TAG(value);
    bool wide = tag == JS_TAG_OBJECT || tag == JS_TAG_STRING || tag == JS_TAG_STRING_ROPE;

    if (call->count + (wide ? 2 : 1) > SYS_ARGS) {
        JS_ThrowRangeError(ctx, "sys: more than %d arguments", SYS_ARGS);
        return -1;
    }
    if (tag == JS_TAG_OBJECT) {
        uint8_t *bytes;
        size_t len;
        if (views) {
            if (cf_view(ctx, value, &bytes, &len))
                return -1;
            call->args[call->count] = (uintptr_t)bytes;
            call->args[call->count + 1] = len;
        }
        call->count += 2;
        return 0;
    }
    if (views) {
        call->count += wide ? 2 : 1;
        return 0;
    }
    if (wide)
        return cf_sys_text(ctx, call, value);
    if (JS_IsUndefined(value) || JS_IsNull(value))
        call->args[call->count] = 0;
    else if (JS_ToInt64Sat(ctx, &call->args[call->count], value))
        return -1;
    call->count++;
    return 0;
}

static JSValue cf_sys_run(JSContext *ctx, int argc, JSValueConst *argv, bool wait)
{
    CfSysCall call;
    int32_t number;
    int64_t result;

    call.count = call.text_count = 0;
    call.inline_used = 0;
    memset(call.args, 0, sizeof(call.args));
    if (JS_ToInt32(ctx, &number, argv[0]))
        return JS_EXCEPTION;
    for (int round = 0; round < 2; round++) {
        call.count = 0;
        for (int i = 1; i < argc; i++) {
            if (cf_sys_argument(ctx, &call, argv[i], round == 1)) {
                cf_sys_release(ctx, &call);
                return JS_EXCEPTION;
            }
        }
    }
    const int64_t *a = call.args;
    result = (wait ? host_sys_wait : host_sys)(number, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
    cf_sys_release(ctx, &call);
    return js_int64(result);
}

/* sys(number, ...args): makes a system call with at most eight integers; undefined is 0. Returns
   the result, or a negative errno. */
NATIVE(cf_sys)
{
    return cf_sys_run(ctx, argc, argv, false);
}

/* sysWait(number, ...args): makes a system call that may block only this VM */
NATIVE(cf_sys_wait)
{
    return cf_sys_run(ctx, argc, argv, true);
}
