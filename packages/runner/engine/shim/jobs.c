/* Microtasks, rejected promises without a handler, and the async context that travels with both. */

static JSValue cf_microtask(JSContext *ctx, int argc, JSValueConst *argv)
{
    JSValue result = JS_Call(ctx, argv[0], JS_UNDEFINED, 0, NULL);
    if (JS_IsException(result)) {
        js_forget_sites(ctx->rt); /* V8 reports these with the place where the error was made */
        cf_report_exception(ctx, false);
    }
    JS_FreeValue(ctx, result);
    return JS_UNDEFINED;
}

/* Runs jobs until there are none. A nested call returns at once: the outer one goes on. */
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
