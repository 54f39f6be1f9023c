/* The exports of docs/internals/guest-abi.md: boot, freeze, info, inbox and turn. Next: loop.c,
   which a turn runs. */

static uint8_t cf_inbox_memory[CF_INBOX_SIZE] __attribute__((aligned(16)));

static CfInfo cf_info_block;

static void *cf_js_calloc(void *opaque, size_t count, size_t size) { return calloc(count, size); }
static void *cf_js_malloc(void *opaque, size_t size) { return malloc(size); }
static void cf_js_free(void *opaque, void *p) { free(p); }
static void *cf_js_realloc(void *opaque, void *p, size_t size) { return realloc(p, size); }

static const JSMallocFunctions cf_malloc_functions = { cf_js_calloc, cf_js_malloc, cf_js_free, cf_js_realloc, cf_usable_size };

/* buildFile(name): returns the text of a build input, or undefined */
NATIVE(cf_build_file)
{
    size_t name_len;
    int32_t size;
    uint8_t *bytes;
    JSValue text;
    const char *name = JS_ToCStringLen(ctx, &name_len, argv[0]);

    if (!name)
        return JS_EXCEPTION;
    size = host_build_file(name, name_len, NULL, 0);
    bytes = size < 0 ? NULL : js_malloc(ctx, size + 1);
    if (!bytes) {
        JS_FreeCString(ctx, name);
        return size < 0 ? JS_UNDEFINED : JS_EXCEPTION;
    }
    host_build_file(name, name_len, bytes, size);
    JS_FreeCString(ctx, name);
    text = cf_utf8(ctx, bytes, size);
    js_free(ctx, bytes);
    return text;
}

static JSValue cf_special_error(JSContext *ctx, const char *message)
{
    JSValue error = JS_NewObjectClass(ctx, JS_CLASS_ERROR);
    JS_DefinePropertyValueStr(ctx, error, "message", JS_NewString(ctx, message), JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
    return error;
}

static void cf_make_class(JSRuntime *rt, JSClassID *id, const JSClassDef *def)
{
    JS_NewClassID(rt, id);
    JS_NewClass(rt, *id, def);
}

static JSContext *cf_make_engine(void)
{
    JSRuntime *rt = JS_NewRuntime2(&cf_malloc_functions, NULL);
    JSContext *ctx;

    if (!rt)
        return NULL;
    for (int i = 0; i < HOOK_COUNT; i++)
        CF_HOOK(i) = JS_UNDEFINED;
    cf_image.default_prepare = cf_image.header_fn = cf_image.prepare_callback = JS_UNDEFINED;
    for (size_t i = 0; i < countof(cf_image.promise_hooks); i++)
        cf_image.promise_hooks[i] = JS_UNDEFINED;
    cf_image.rejection_tracker = cf_image.import_callback = cf_image.import_meta_callback = JS_UNDEFINED;
    cf.cwd_override = cf.main_promise = cf_image.zone_names = JS_UNDEFINED;
    cf.state.timer_at = -1;
    cf_image.rt = rt;
    cf_make_class(rt, &cf_image.module_class, &cf_module_class_def);
    cf_make_class(rt, &cf_image.env_class, &cf_env_class_def);
    cf_make_class(rt, &cf_image.log_class, &cf_log_class_def);
    cf_make_class(rt, &cf_context_global_class, &cf_context_global_class_def);
    cf_make_class(rt, &cf_context_handle_class, &cf_context_handle_class_def);

    /* The C stack is [0, CF_STACK_SIZE), and a turn always begins at the top of the stack. */
    rt->stack_size = CF_STACK_SIZE - CF_STACK_MARGIN;
    rt->stack_top = CF_STACK_SIZE;
    update_stack_limit(rt);
    JS_SetInterruptHandler(rt, cf_interrupted, NULL);
    JS_SetCanBlock(rt, true);

    ctx = JS_NewContext(rt);
    if (!ctx)
        return NULL;
    cf_image.ctx = ctx;
    js_atom_stack_trace_limit = JS_NewAtom(ctx, "stackTraceLimit");
    js_atom_prepare_stack_trace = JS_NewAtom(ctx, "prepareStackTrace");
    cf_image.absent = JS_NewSymbolFromAtom(ctx, JS_ATOM_empty_string, JS_ATOM_TYPE_SYMBOL);
    cf_image.stop_error = cf_special_error(ctx, "stopped");
    JS_SetUncatchableError(ctx, cf_image.stop_error);
    cf_image.memory_error = JS_NewObjectProtoClass(ctx, ctx->native_error_proto[JS_RANGE_ERROR], JS_CLASS_ERROR);
    JS_DefinePropertyValueStr(ctx, cf_image.memory_error, "message", JS_NewString(ctx, "JavaScript heap out of memory"),
                              JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
    JS_DefinePropertyValueStr(ctx, cf_image.memory_error, "stack", JS_NewString(ctx, "RangeError: JavaScript heap out of memory"),
                              JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
    JS_VALUE_GET_OBJ(cf_image.memory_error)->is_memory_error = 1;
    cf_image.env = JS_NewObjectClass(ctx, JS_CLASS_OBJECT);
    JS_FreeValue(ctx, cf_image.env);
    cf_image.env = JS_NewObjectProtoClass(ctx, ctx->class_proto[JS_CLASS_OBJECT], cf_image.env_class);
    return ctx;
}

CF_EXPORT(cf_boot) int32_t cf_boot(void)
{
    static const char entry[] = "bootstrap/main.js";
    JSContext *ctx = cf_make_engine();
    JSValue name, source, params, main, result;

    if (!ctx) {
        static const char text[] = "no memory for the engine";
        host_fatal(CF_FATAL_MEMORY, text, sizeof(text) - 1);
    }
    cf_start_process(ctx, CF_MODE_EXEC, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 40);
    cf_start_node(ctx);
    JSValue build_file = JS_NewCFunction(ctx, cf_build_file, "buildFile", 1);
    name = JS_NewString(ctx, entry);
    source = cf_build_file(ctx, JS_UNDEFINED, 1, vc(&name));
    if (JS_IsUndefined(source))
        JS_ThrowTypeError(ctx, "there is no build input '%s'", entry);
    if (!JS_IsString(source))
        cf_fatal(ctx, "the image could not be built");
    JSValue names[2] = { JS_NewString(ctx, "native"), JS_NewString(ctx, "buildFile") };
    params = cf_array(ctx, 2, names);
    JSValueConst compile_args[4] = { source, name, params, JS_UNDEFINED };
    main = cf_compile_function(ctx, JS_UNDEFINED, 4, compile_args);
    if (JS_IsException(main))
        cf_fatal(ctx, "the bootstrap could not be compiled");
    JSValue main_args[2] = { cf_new_natives(ctx), build_file };
    result = JS_Call(ctx, main, JS_UNDEFINED, 2, vc(main_args));
    if (JS_IsException(result))
        cf_fatal(ctx, "the bootstrap failed");
    JS_FreeValue(ctx, result);
    JS_FreeValue(ctx, main);
    JS_FreeValue(ctx, main_args[0]);
    JS_FreeValue(ctx, main_args[1]);
    JS_FreeValue(ctx, source);
    JS_FreeValue(ctx, params);
    JS_FreeValue(ctx, name);
    cf_drain(ctx);
    /* Runs the pending work of the bootstrap now. Otherwise every process would run that work
       again. */
    cf_run_loop_for_image(ctx);
    cf_image.booted = true;
    return 0;
}

CF_EXPORT(cf_freeze) int32_t cf_freeze(void)
{
    JSContext *ctx = cf_image.ctx;
    cf_env_reset();
    JS_RunGC(ctx->rt);
    cf_freeze_engine(ctx);
    return 0;
}

CF_EXPORT(cf_info) int32_t cf_info(void)
{
    cf_info_block = (CfInfo){
        .abi_version = CF_ABI_VERSION,
        .state_ptr = (uint32_t)(uintptr_t)&cf.state,
        .inbox_ptr = (uint32_t)(uintptr_t)cf_inbox_memory,
        .inbox_len = CF_INBOX_SIZE,
        .frozen_end = (uint32_t)cf_frozen_end,
        .stack_size = CF_STACK_SIZE,
    };
    return (int32_t)(uintptr_t)&cf_info_block;
}

CF_EXPORT(cf_inbox) int32_t cf_inbox(int32_t len)
{
    if (len >= 0 && len <= (int32_t)CF_INBOX_SIZE)
        return (int32_t)(uintptr_t)cf_inbox_memory;
    free(cf.big_inbox);
    cf.big_inbox = len > 0 ? malloc((uint32_t)len) : NULL;
    return (int32_t)(uintptr_t)cf.big_inbox;
}

/* Ends an evaluation or a callback that the sidecar interrupted. The runner continues with the
   callbacks that are still queued. */
static void cf_end_interrupted_work(JSContext *ctx)
{
    cf.stop = CF_RUNNING;
    JS_FreeValue(ctx, JS_GetException(ctx));
    if (!cf.eval_id)
        return;
    set_value(ctx, &cf.main_promise, JS_UNDEFINED);
    memset(cf.exit_info, 0, sizeof(cf.exit_info));
    cf.program_done = true;
    cf.state.eval_done = cf.eval_id;
    cf.state.eval_exit_code = CF_EXIT_INTERRUPTED;
    cf.state.eval_reason = CF_REASON_INTERRUPTED;
    cf.eval_id = 0;
}

/* Writes the state that the sidecar reads after a turn. Returns 1 if the process has ended. */
static int32_t cf_end_turn(JSContext *ctx)
{
    static const int32_t codes[] = { 0, 0, CF_EXIT_INTERRUPTED, CF_EXIT_MEMORY };
    static const uint32_t reasons[] = { 0, 0, CF_REASON_INTERRUPTED, CF_REASON_MEMORY };
    CfState *state = &cf.state;

    if (cf.stop == CF_STOP_INTERRUPT && cf.mode == CF_MODE_RESIDENT)
        cf_end_interrupted_work(ctx);
    if (cf.stop) {
        state->status = CF_STATUS_EXITED;
        state->timer_at = -1;
        state->exit_code = cf.stop == CF_STOP_EXIT ? (cf.exit_info[2] ? cf.exit_info[1] : 0) : codes[cf.stop];
        if (cf.stop != CF_STOP_EXIT)
            state->exit_reason = reasons[cf.stop];
        if (cf.eval_id) {
            state->eval_done = cf.eval_id;
            state->eval_exit_code = state->exit_code;
            state->eval_reason = state->exit_reason;
            cf.eval_id = 0;
        }
        return 1;
    }
    if (cf.immediate_info[0])
        state->timer_at = cf.time_origin_ns / 1e6 + cf_loop_now();
    else
        state->timer_at = cf_next_timer == CF_NO_TIMER ? -1 : cf.time_origin_ns / 1e6 + cf_next_timer;
    return 0;
}

CF_EXPORT(cf_turn) int32_t cf_turn(int32_t ptr, int32_t len)
{
    JSContext *ctx = cf_image.ctx;

    cf.state.eval_done = 0;
    cf_deliver(ctx, (const uint8_t *)(uintptr_t)(uint32_t)ptr, (uint32_t)len);
    if (cf.big_inbox) {
        free(cf.big_inbox);
        cf.big_inbox = NULL;
    }
    if (!cf.stop)
        cf_run_loop(ctx);
    return cf_end_turn(ctx);
}
