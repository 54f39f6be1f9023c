/* Microtasks, rejected promises without a handler, and the async context that each job carries.
   Next: loop.c. */

static JSValue cf_microtask(JSContext *ctx, int argc, JSValueConst *argv)
{
    JSValue result = JS_Call(ctx, argv[0], JS_UNDEFINED, 0, NULL);
    if (JS_IsException(result)) {
        /* V8 reports these errors with the position where the error was made */
        js_forget_sites(ctx->rt);
        cf_report_exception(ctx, false);
    }
    JS_FreeValue(ctx, result);
    return JS_UNDEFINED;
}

/* Runs jobs until no job is left. A nested call returns at once, because the outer call
   continues. */
static void cf_run_jobs(JSContext *ctx)
{
    JSContext *job_ctx;
    int result;

    if (cf.running_jobs)
        return;
    cf.running_jobs = true;
    while (!cf.stop && (result = JS_ExecutePendingJob(ctx->rt, &job_ctx)) != 0)
        if (result < 0)
            cf_report_exception(ctx, false);
    cf.running_jobs = false;
    if (ctx->rt->kept_alive)
        js_clear_kept_alive(ctx->rt);
}

NATIVE(cf_enqueue_microtask)
{
    if (!JS_IsFunction(ctx, argv[0]))
        return JS_ThrowTypeError(ctx, "enqueueMicrotask: expected a function");
    if (JS_EnqueueJob(ctx, cf_microtask, 1, argv) < 0)
        return JS_EXCEPTION;
    return JS_UNDEFINED;
}

NATIVE(cf_run_microtasks)
{
    cf_run_jobs(ctx);
    return cf.stop ? cf_stop(ctx, cf.stop) : JS_UNDEFINED;
}

/* runTicks(): runs the microtasks or ticks that follow a callback, once. A native that calls
   several callbacks in one event uses this between two callbacks. As in Node, an error of a tick
   leaves the remaining ticks to the next callback. */
NATIVE(cf_run_ticks)
{
    if (!cf.tick_info[0])
        cf_run_jobs(ctx);
    if (!cf.stop && (cf.tick_info[0] || cf.tick_info[1]))
        cf_call_hook(ctx, HOOK_TICK, 0, NULL, NULL);
    return cf.stop ? cf_stop(ctx, cf.stop) : JS_UNDEFINED;
}

NATIVE(cf_get_continuation_data)
{
    return js_dup(ctx->rt->async_context);
}

NATIVE(cf_set_continuation_data)
{
    set_value(ctx, &ctx->rt->async_context, js_dup(argv[0]));
    return JS_UNDEFINED;
}

static void cf_rejection(JSContext *ctx, JSValueConst promise, JSValueConst reason, bool is_handled, void *opaque)
{
    JSValueConst args[3] = { js_int32(is_handled), promise, reason };
    if (cf.stop)
        return;
    JSValue result = JS_Call(ctx, cf_image.rejection_tracker, JS_UNDEFINED, 3, args);
    if (JS_IsException(result))
        cf_report_exception(ctx, false);
    JS_FreeValue(ctx, result);
}

NATIVE(cf_set_rejection_tracker)
{
    set_value(ctx, &cf_image.rejection_tracker, js_dup(argv[0]));
    JS_SetHostPromiseRejectionTracker(ctx->rt, JS_IsFunction(ctx, argv[0]) ? cf_rejection : NULL, NULL);
    return JS_UNDEFINED;
}

/* Reports to the tracker that a settled promise was settled again. V8's number is 2 for a
   rejection and 3 for a resolution. */
static void cf_promise_settled_again(JSContext *ctx, JSValueConst promise, JSValueConst value, bool is_reject)
{
    JSValueConst args[3] = { js_int32(is_reject ? 2 : 3), promise, value };
    if (cf.stop)
        return;
    JSValue result = JS_Call(ctx, cf_image.rejection_tracker, JS_UNDEFINED, 3, args);
    if (JS_IsException(result))
        cf_report_exception(ctx, false);
    JS_FreeValue(ctx, result);
}

/* Calls a promise hook. An exception of the hook is reported as uncaught, and does not affect
   the code that triggered the hook. */
static void cf_promise_hook(JSContext *ctx, JSPromiseHookType type, JSValueConst promise, JSValueConst parent, void *opaque)
{
    static const uint8_t places[] = {
        [JS_PROMISE_HOOK_INIT] = 0, [JS_PROMISE_HOOK_BEFORE] = 1, [JS_PROMISE_HOOK_AFTER] = 2, [JS_PROMISE_HOOK_RESOLVE] = 3,
    };
    JSValueConst args[2] = { promise, parent };
    JSValue hook = cf_image.promise_hooks[places[type]];

    if (cf.stop || !JS_IsFunction(ctx, hook))
        return;
    hook = js_dup(hook); /* the hook may replace itself */
    JSValue result = JS_Call(ctx, hook, JS_UNDEFINED, type == JS_PROMISE_HOOK_INIT ? 2 : 1, args);
    JS_FreeValue(ctx, hook);
    if (JS_IsException(result))
        cf_report_exception(ctx, false);
    JS_FreeValue(ctx, result);
}

/* setPromiseHooks(init, before, after, settled): sets V8's context promise hooks. */
NATIVE(cf_set_promise_hooks)
{
    bool any = false;
    for (int i = 0; i < 4; i++) {
        bool is_hook = i < argc && JS_IsFunction(ctx, argv[i]);
        set_value(ctx, &cf_image.promise_hooks[i], is_hook ? js_dup(argv[i]) : JS_UNDEFINED);
        any |= is_hook;
    }
    JS_SetPromiseHook(ctx->rt, any ? cf_promise_hook : NULL, NULL);
    return JS_UNDEFINED;
}
