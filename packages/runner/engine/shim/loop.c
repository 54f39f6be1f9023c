/* The event loop, in C: Node's order of callbacks, ticks, microtasks, timers and immediates, and
   the decision when a program or an evaluation has ended. JavaScript is called only if it has work
   to do. Next: evaluations.c, jobs.c for microtasks, bootstrap/event-loop/hooks.js for the
   JavaScript side. */

#define CF_NO_TIMER (-1.0)

static double cf_next_timer = CF_NO_TIMER; /* in the time of cf_loop_now() */

/* Returns whole milliseconds since the process began. */
static double cf_loop_now(void)
{
    return floor(((double)host_clock(CF_CLOCK_MONOTONIC) - cf.time_origin_ns) / 1e6);
}

NATIVE(cf_now)
{
    return js_number(cf_loop_now());
}

NATIVE(cf_schedule_timer)
{
    double delay;
    if (JS_ToFloat64(ctx, &delay, argv[0]))
        return JS_EXCEPTION;
    cf_next_timer = cf_loop_now() + (delay >= 1 ? delay : 1);
    return JS_UNDEFINED;
}

NATIVE(cf_toggle_timer_ref)
{
    cf.timer_ref = JS_ToBool(ctx, argv[0]) > 0;
    return JS_UNDEFINED;
}

NATIVE(cf_toggle_immediate_ref)
{
    return JS_UNDEFINED;
}

static const char *const cf_hook_names[HOOK_COUNT] = {
    "start", "link", "tick", "timers", "immediates", "complete", "uncaught", "beforeExit", "exit", "evalDone", "options", "main",
    "restore", "restored", "evalPlace", "cell", "abandon",
};

NATIVE(cf_set_hooks)
{
    for (int i = 0; i < HOOK_COUNT; i++) {
        JSValue hook = JS_GetPropertyStr(ctx, argv[0], cf_hook_names[i]);
        if (JS_IsException(hook))
            return hook;
        if (JS_IsUndefined(hook))
            continue;
        if (!JS_IsFunction(ctx, hook)) {
            JS_FreeValue(ctx, hook);
            return JS_ThrowTypeError(ctx, "setHooks: %s must be a function", cf_hook_names[i]);
        }
        set_value(ctx, &CF_HOOK(i), hook);
    }
    return JS_UNDEFINED;
}

/* Calls a hook. Returns false if the hook is not registered, if the program must stop, or if the
   hook threw an error. Reports the error. */
static bool cf_call_hook(JSContext *ctx, int which, int argc, JSValueConst *argv, JSValue *result)
{
    JSValue value;
    if (cf.stop || !JS_IsFunction(ctx, CF_HOOK(which)))
        return false;
    value = JS_Call(ctx, CF_HOOK(which), JS_UNDEFINED, argc, argv);
    if (JS_IsException(value)) {
        cf_report_exception(ctx, false);
        return false;
    }
    if (result)
        *result = value;
    else
        JS_FreeValue(ctx, value);
    return true;
}

/* Runs the microtasks and ticks that follow a callback, as Node's InternalCallbackScope::Close
   does. */
static void cf_drain(JSContext *ctx)
{
    if (!cf.tick_info[0])
        cf_run_jobs(ctx);
    while (!cf.stop && (cf.tick_info[0] || cf.tick_info[1])) {
        if (!JS_IsFunction(ctx, CF_HOOK(HOOK_TICK))) {
            cf.tick_info[0] = cf.tick_info[1] = 0;
            cf_run_jobs(ctx);
            break;
        }
        cf_call_hook(ctx, HOOK_TICK, 0, NULL, NULL);
    }
}

/* Programs. */

/* Sets the promise of the running program's end, and takes over the caller's reference to the
   promise. */
static void cf_set_main_promise(JSContext *ctx, JSValue promise)
{
    JSPromiseData *s = JS_GetOpaque(promise, JS_CLASS_PROMISE);
    if (s)
        /* cf_check_main_promise reports the promise's failure, and the tracker of rejections
           does not */
        js_promise_set_handled(ctx, promise);
    set_value(ctx, &cf.main_promise, promise);
}

/* Compiles and starts a program. A NUL follows `source`. */
static void cf_run_program(JSContext *ctx, CfText source, const char *url)
{
    JSModuleDef *m = cf_compile_module(ctx, source.bytes, source.len, url);
    JSValue promise;

    if (!m) {
        cf.program_done = true;
        cf_report_exception(ctx, true);
        return;
    }
    host_mark(CF_MARK_USER_CODE);
    if (m->req_module_entries_count == 0) {
        promise = cf_instantiate(ctx, m) < 0 ? JS_EXCEPTION : js_evaluate_module(ctx, m);
        js_release_module(ctx, m);
    } else if (JS_IsFunction(ctx, CF_HOOK(HOOK_LINK))) {
        JSValue handle = cf_module_handle(ctx, m), name = JS_NewString(ctx, url);
        JSValueConst args[2] = { handle, name };
        promise = JS_IsException(handle) ? handle : JS_Call(ctx, CF_HOOK(HOOK_LINK), JS_UNDEFINED, 2, args);
        JS_FreeValue(ctx, handle);
        JS_FreeValue(ctx, name);
    } else {
        js_unlinked_request(ctx, m->req_module_entries[0].module_name);
        js_release_module(ctx, m);
        promise = JS_EXCEPTION;
    }
    if (JS_IsException(promise)) {
        cf.program_done = true;
        cf_report_exception(ctx, true);
        return;
    }
    cf_set_main_promise(ctx, promise);
    /* Node evaluates a module inside a microtask, so the module's microtasks run before its
       ticks. */
    cf_run_jobs(ctx);
}

/* Records that the program's module has ended, and reports the module's error. */
static void cf_check_main_promise(JSContext *ctx)
{
    JSPromiseStateEnum state;
    JSValue error;

    if (cf.program_done || JS_IsUndefined(cf.main_promise))
        return;
    state = JS_PromiseState(ctx, cf.main_promise);
    if (state == JS_PROMISE_PENDING)
        return;
    cf.program_done = true;
    error = state == JS_PROMISE_REJECTED ? JS_PromiseResult(ctx, cf.main_promise) : JS_UNDEFINED;
    set_value(ctx, &cf.main_promise, JS_UNDEFINED);
    if (state == JS_PROMISE_REJECTED) {
        cf_report_uncaught(ctx, error, true);
        cf_drain(ctx);
    }
}

/* Due work. */

static bool cf_timer_due(void)
{
    return cf_next_timer != CF_NO_TIMER && cf_loop_now() >= cf_next_timer;
}

/* Calls the hook of due timers and schedules the next timer, as Node's RunTimers does. */
static void cf_run_timers(JSContext *ctx)
{
    JSValue result = JS_UNDEFINED;
    double expiry = 0, delay;
    bool ok;

    cf_next_timer = CF_NO_TIMER;
    do {
        JSValue now = js_number(cf_loop_now());
        if (!JS_IsFunction(ctx, CF_HOOK(HOOK_TIMERS)))
            return;
        ok = cf_call_hook(ctx, HOOK_TIMERS, 1, vc(&now), &result);
    } while (!ok && !cf.stop);
    if (cf.stop) {
        /* A resident runner continues after an interrupt, with the timers that are left. */
        cf_next_timer = cf_loop_now() + 1;
        return;
    }
    if (JS_ToFloat64(ctx, &expiry, result))
        JS_FreeValue(ctx, JS_GetException(ctx));
    JS_FreeValue(ctx, result);
    if (expiry != 0) {
        delay = fabs(expiry) - cf_loop_now();
        cf_next_timer = cf_loop_now() + (delay >= 1 ? delay : 1);
        cf.timer_ref = expiry > 0;
    }
    cf_drain(ctx);
}

static void cf_run_immediates(JSContext *ctx)
{
    do {
        if (!cf_call_hook(ctx, HOOK_IMMEDIATES, 0, NULL, NULL) && !JS_IsFunction(ctx, CF_HOOK(HOOK_IMMEDIATES)))
            cf.immediate_info[0] = cf.immediate_info[1] = 0;
    } while (!cf.stop && cf.immediate_info[2]); /* an exception has interrupted the queue */
    cf_drain(ctx);
}

/* Returns the number of references that keep the event loop alive. */
static uint32_t cf_refs(void)
{
    uint32_t timers = cf_next_timer != CF_NO_TIMER && cf.timer_ref ? 1 : 0;
    if (timers && cf.timer_info[0] > 0)
        timers = cf.timer_info[0];
    return timers + cf.immediate_info[1] + cf.state.keep_alive;
}

static void cf_finish_program(JSContext *ctx)
{
    JSValue code = js_int32(cf.exit_info[2] ? cf.exit_info[1] : 0);

    cf_call_hook(ctx, HOOK_BEFORE_EXIT, 1, vc(&code), NULL);
    cf_drain(ctx);
    cf_check_main_promise(ctx);
    if (cf.stop || cf_refs() > 0 || cf.immediate_info[0])
        return; /* new work or a pending stop: the program does not end now */
    if (!cf.program_done && !cf.exit_info[2]) {
        cf_warn_unsettled(ctx);
        cf.exit_info[1] = CF_EXIT_UNSETTLED;
        cf.exit_info[2] = 1;
    }
    cf.exit_info[0] = 1;
    code = js_int32(cf.exit_info[2] ? cf.exit_info[1] : 0);
    cf_call_hook(ctx, HOOK_EXIT, 1, vc(&code), NULL);
    cf_drain(ctx); /* a microtask can still be queued, but no tick */
    if (!cf.stop)
        cf.stop = CF_STOP_EXIT;
}

/* Returns whether this resident process is a shell. The name of the shell is its only option. */
static bool cf_is_shell(void)
{
    return cf.execc > 0;
}

/* Ends an evaluation when its module and the work that it started have ended. */
static void cf_finish_eval(JSContext *ctx)
{
    uint32_t refs = cf_refs();

    if (!cf.eval_id)
        return;
    if (!cf.state.eval_reason) {
        bool waits_for_work = !(cf.eval_flags & CF_EVAL_UNTIL_VALUE) && !cf_is_shell() && refs > cf.eval_base_refs;
        if (waits_for_work || (!cf.program_done && refs > 0))
            return;
        if (!cf.program_done && !cf.exit_info[2]) {
            cf_warn_unsettled(ctx);
            cf.exit_info[1] = CF_EXIT_UNSETTLED;
            cf.exit_info[2] = 1;
        }
        cf.state.eval_exit_code = cf.exit_info[2] ? cf.exit_info[1] : 0;
    }
    set_value(ctx, &cf.main_promise, JS_UNDEFINED);
    cf.state.eval_done = cf.eval_id;
    cf.eval_id = 0;
    memset(cf.exit_info, 0, sizeof(cf.exit_info));
    cf_call_hook(ctx, HOOK_EVAL_DONE, 0, NULL, NULL);
    cf_drain(ctx);
}

/* Runs until no work is due. */
static void cf_run_loop(JSContext *ctx)
{
    for (;;) {
        cf_check_main_promise(ctx);
        if (cf.stop)
            return;
        if (cf_timer_due())
            cf_run_timers(ctx);
        if (cf.stop)
            return;
        bool ran = cf_run_tasks(ctx);
        if (cf.stop)
            return;
        if (cf.immediate_info[0]) {
            cf_run_immediates(ctx);
            cf_check_main_promise(ctx);
            /* The sidecar must be able to complete a pending operation between two rounds. */
            if (cf.immediate_info[0] && cf.state.keep_alive)
                return;
            continue;
        }
        cf_check_main_promise(ctx);
        if (cf.stop)
            return;
        if (ran || cf_tasks_first)
            continue;
        if (cf.mode == CF_MODE_RESIDENT) {
            cf_finish_eval(ctx);
            return;
        }
        if (cf_refs() > 0)
            return;
        cf_finish_program(ctx);
    }
}

/* Runs all work of the bootstrap while the image is built, including work that waits for a
   timer. */
static void cf_run_loop_for_image(JSContext *ctx)
{
    while (!cf.stop) {
        cf_drain(ctx);
        if (cf_timer_due())
            cf_run_timers(ctx);
        bool ran = cf_run_tasks(ctx);
        if (cf.immediate_info[0])
            cf_run_immediates(ctx);
        else if (ran || cf_tasks_first)
            continue;
        else if (cf_next_timer == CF_NO_TIMER || !cf.timer_ref)
            break;
    }
}

/* runLoop(): runs the loop, only while the image is built */
NATIVE(cf_run_loop_native)
{
    if (cf_image.booted)
        return JS_ThrowTypeError(ctx, "runLoop: only while the image is built");
    cf_run_loop_for_image(ctx);
    return JS_UNDEFINED;
}

/* Events. */

static void cf_on_start(JSContext *ctx, const CfEvent *event, const uint8_t *payload)
{
    JSValue mode = js_int32(event->id);

    cf_next_timer = CF_NO_TIMER;
    if (cf_start_process(ctx, event->id, payload, event->len) < 0) {
        cf_end_out_of_memory(ctx);
        return;
    }
    cf_start_node(ctx);
    cf_call_hook(ctx, HOOK_START, 1, vc(&mode), NULL);
    if ((cf.execc || cf.has_node_options) && !cf.stop)
        cf_call_hook(ctx, HOOK_OPTIONS, 0, NULL, NULL);
    if (cf.mode == CF_MODE_RESIDENT || cf.stop) {
        cf.program_done = true;
        return;
    }
    if (cf.mode == CF_MODE_FILE) {
        /* Node's own loaders run the program. bootstrap/program/run-file.js detects an ES module
           whose await never settles. */
        JSValue path = cf_text_value(ctx, cf.source);
        cf.program_done = true;
        host_mark(CF_MARK_USER_CODE);
        cf_call_hook(ctx, HOOK_MAIN, 1, vc(&path), NULL);
        JS_FreeValue(ctx, path);
        return;
    }
    cf_run_program(ctx, cf.source, cf.url.bytes);
}

static void cf_on_complete(JSContext *ctx, const CfEvent *event, const uint8_t *payload)
{
    JSValue bytes = JS_UNDEFINED;
    if (event->len) {
        JSValue buffer = JS_NewArrayBufferCopy(ctx, payload, event->len);
        bytes = JS_IsException(buffer) ? buffer : JS_NewTypedArray(ctx, 1, vc(&buffer), JS_TYPED_ARRAY_UINT8);
        JS_FreeValue(ctx, buffer);
        if (JS_IsException(bytes)) {
            cf_report_exception(ctx, false);
            return;
        }
    }
    JSValueConst args[3] = { js_uint32(event->id), js_int32(event->result), bytes };
    cf_call_hook(ctx, HOOK_COMPLETE, 3, args, NULL);
    JS_FreeValue(ctx, bytes);
}

/* In evaluations.c. */
static void cf_on_eval(JSContext *ctx, const CfEvent *event, const uint8_t *payload);
static void cf_on_abandon(JSContext *ctx, const CfEvent *event);

static bool cf_was_restored;

/* Refreshes a process that was restored from a snapshot. process.c and
   bootstrap/start-up/restore.js list the state that must be fresh. The environment changes
   before other code of the program runs. */
static void cf_on_restore(JSContext *ctx, const CfEvent *event, const uint8_t *payload)
{
    uint32_t old_pid = cf.pid;
    CfRestored restored;

    if (!cf_restore_process(ctx, &restored, payload, event->len))
        return;
    JSValue args[3] = { js_float64(restored.elapsed_ms), cf_texts(ctx, restored.env, restored.envc), js_bool(cf.pid != old_pid) };
    if (JS_IsException(args[1]))
        cf_report_exception(ctx, false);
    else
        cf_call_hook(ctx, HOOK_RESTORE, 3, vc(args), NULL);
    cf_was_restored = true;
    JS_FreeValue(ctx, args[1]);
}

static void cf_deliver(JSContext *ctx, const uint8_t *events, uint32_t len)
{
    uint32_t at = 0;
    while (!cf.stop && len - at >= sizeof(CfEvent)) {
        CfEvent event;
        memcpy(&event, events + at, sizeof(event));
        const uint8_t *payload = events + at + sizeof(event);
        at += sizeof(event);
        if (event.len > len - at)
            return;
        at += (event.len + 7) & ~7u;
        switch (event.kind) {
        case CF_EVENT_START: cf_on_start(ctx, &event, payload); break;
        case CF_EVENT_COMPLETE: cf_on_complete(ctx, &event, payload); break;
        case CF_EVENT_EVAL: cf_on_eval(ctx, &event, payload); break;
        case CF_EVENT_ABANDON: cf_on_abandon(ctx, &event); break;
        case CF_EVENT_RESTORE: cf_on_restore(ctx, &event, payload); break;
        default: break; /* a TIMER event only resumes the loop */
        }
        cf_drain(ctx);
    }
    /* The completions that arrived with the RESTORE event are delivered first. So the program has
       dropped the connections that the restore has reset before its listeners run. */
    if (cf_was_restored) {
        cf_was_restored = false;
        cf_call_hook(ctx, HOOK_RESTORED, 0, NULL, NULL);
        cf_drain(ctx);
    }
}
