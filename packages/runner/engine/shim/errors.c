/* Ends a guest early: the sidecar stops the guest, memory is exhausted, process.exit unwinds, or
   an error stays uncaught.

   Unwinding uses one immortal error object that the engine treats as uncatchable. `cf.stop`
   stays set, and the engine polls on every call and every backward jump. Code that drops the
   error by accident (a promise, an iterator's return) therefore fails again at once. Next: the
   patch `interrupts`. */

static void cf_throw_stop(JSContext *ctx)
{
    ctx->interrupt_counter = 0; /* makes the engine poll at the next call */
    JS_Throw(ctx, js_dup(cf_image.stop_error));
}

static JSValue cf_stop(JSContext *ctx, CfStop why)
{
    if (!cf.stop)
        cf.stop = why;
    cf_throw_stop(ctx);
    return JS_EXCEPTION;
}

/* The engine's interrupt handler. Returns non-zero to make the engine unwind. */
static int cf_interrupted(JSRuntime *rt, void *opaque)
{
    if (cf.stop)
        return 1;
    if (cf.deadline_ns && (double)host_clock(CF_CLOCK_MONOTONIC) >= cf.deadline_ns) {
        cf.stop = CF_STOP_TIMEOUT;
        return 1;
    }
    if (!cf_image.booted || !host_poll())
        return 0;
    cf.stop = CF_STOP_INTERRUPT;
    return 1;
}

static void cf_write_text(const char *text)
{
    cf_write_all(2, text, strlen(text));
}

static void cf_print_out_of_memory(void)
{
    static const char text[] =
        "\n<--- Last few GCs --->\n\n\n<--- JS stacktrace --->\n\n"
        "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n";
    cf_write_all(2, text, sizeof(text) - 1);
}

static void cf_end_out_of_memory(JSContext *ctx);

/* The program ends when the sum of the weights of its failed allocations exceeds this number.
   Without a limit, a program that catches each error and fills the heap again would never end. */
#define CF_EXHAUSTIONS_MAX 200
/* the weight of an allocation failure when not even CF_EXHAUSTION_PROBE bytes are free */
#define CF_EXHAUSTION_FULL 4
#define CF_EXHAUSTION_PROBE (64u << 10)

/* Handles a failed allocation: releases the reserve, so that the error can be reported. Makes
   the next allocation of an object collect garbage, and counts the failure. */
static void cf_out_of_memory(JSRuntime *rt)
{
    void *probe;

    cf_heap_use_reserve();
    rt->malloc_gc_threshold = 0;
    probe = malloc(CF_EXHAUSTION_PROBE);
    free(probe);
    cf.exhaustions += probe ? 1 : CF_EXHAUSTION_FULL;
    if (cf.exhaustions > CF_EXHAUSTIONS_MAX)
        cf_end_out_of_memory(cf_image.ctx);
}

static JSValue cf_memory_error(void)
{
    return js_dup(cf_image.memory_error);
}

/* Ends the program, because memory is exhausted. */
static void cf_end_out_of_memory(JSContext *ctx)
{
    if (cf.stop == CF_STOP_MEMORY)
        return;
    cf_print_out_of_memory();
    cf.stop = CF_STOP_MEMORY;
    ctx->interrupt_counter = 0;
}

static bool cf_is_memory_error(JSContext *ctx, JSValueConst error)
{
    if (JS_VALUE_GET_TAG(error) != JS_TAG_OBJECT)
        return false;
    return JS_VALUE_GET_OBJ(error)->class_id == JS_CLASS_ERROR && JS_VALUE_GET_OBJ(error)->is_memory_error;
}

/* Prints the stack of a thrown value, or the value as a text. Serves only if the bootstrap has
   no hook, or if the hook throws. */
static void cf_print_plainly(JSContext *ctx, JSValueConst error)
{
    JSValue stack = JS_IsObject(error) ? JS_GetPropertyStr(ctx, error, "stack") : JS_UNDEFINED;
    const char *text = JS_ToCString(ctx, JS_IsString(stack) ? stack : error);
    if (text) {
        cf_write_text("Uncaught ");
        cf_write_text(text);
        cf_write_text("\n");
        JS_FreeCString(ctx, text);
    } else {
        JS_FreeValue(ctx, JS_GetException(ctx));
        cf_write_text("Uncaught exception\n");
    }
    JS_FreeValue(ctx, stack);
}

/* Ends the program. In a resident runner, ends only the running evaluation, if an evaluation is
   running. */
static void cf_end_uncaught(JSContext *ctx, int code)
{
    if (cf.mode == CF_MODE_RESIDENT) {
        if (cf.eval_id && !cf.state.eval_reason) {
            cf.state.eval_reason = CF_REASON_UNCAUGHT;
            cf.state.eval_exit_code = code;
            cf.program_done = true;
        }
        return;
    }
    cf.state.exit_reason = CF_REASON_UNCAUGHT;
    cf.exit_info[1] = code;
    cf.exit_info[2] = 1;
    cf.stop = CF_STOP_EXIT;
    ctx->interrupt_counter = 0;
}

/* Reports `error` as uncaught and frees the reference. */
static void cf_report_uncaught(JSContext *ctx, JSValue error, bool from_promise)
{
    JSValue result;
    bool handled = false;

    if (cf.stop || JS_IsUncatchableError(error)) {
        JS_FreeValue(ctx, error);
        return;
    }
    if (cf_is_memory_error(ctx, error)) {
        JS_FreeValue(ctx, error);
        cf_end_out_of_memory(ctx);
        return;
    }
    if (!JS_IsFunction(ctx, CF_HOOK(HOOK_UNCAUGHT))) {
        cf_print_plainly(ctx, error);
        JS_FreeValue(ctx, error);
        cf_end_uncaught(ctx, 1);
        return;
    }
    JSValueConst args[2] = { error, js_bool(from_promise) };
    result = JS_Call(ctx, CF_HOOK(HOOK_UNCAUGHT), JS_UNDEFINED, 2, args);
    JS_FreeValue(ctx, error);
    if (JS_IsException(result)) {
        JSValue second = JS_GetException(ctx);
        if (cf.stop || JS_IsUncatchableError(second)) {
            JS_FreeValue(ctx, second);
            return;
        }
        if (cf_is_memory_error(ctx, second)) {
            cf_end_out_of_memory(ctx);
        } else {
            cf_print_plainly(ctx, second);
            cf_end_uncaught(ctx, CF_EXIT_BROKEN_HANDLER);
        }
        JS_FreeValue(ctx, second);
        return;
    }
    handled = JS_ToBoolFree(ctx, result);
    if (!handled && !cf.stop)
        cf_end_uncaught(ctx, cf.exit_info[2] ? cf.exit_info[1] : 1);
}

/* Reports the pending exception. */
static void cf_report_exception(JSContext *ctx, bool from_promise)
{
    cf_report_uncaught(ctx, JS_GetException(ctx), from_promise);
}

/* reportUncaught(error, fromPromise): implements `triggerUncaughtException` of Node's binding
   `errors` */
NATIVE(cf_report_uncaught_native)
{
    cf_report_uncaught(ctx, js_dup(argv[0]), JS_ToBool(ctx, argv[1]));
    return cf.stop ? cf_stop(ctx, cf.stop) : JS_UNDEFINED;
}

/* Prints the pending exception and ends the build of the image. */
static _Noreturn void cf_fatal(JSContext *ctx, const char *what)
{
    JSValue error = JS_GetException(ctx);
    cf_write_text(what);
    cf_write_text(": ");
    cf_print_plainly(ctx, error);
    host_fatal(CF_FATAL_INVARIANT, what, strlen(what));
}
