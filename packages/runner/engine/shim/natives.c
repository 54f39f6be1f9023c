/* The table of natives, which NATIVES.md documents, and the object that passes them to the
   bootstrap. */

static const struct {
    const char *name;
    JSCFunction *function;
    int length;
} cf_natives[] = {
    { "compileFunction", cf_compile_function, 4 }, { "evalScript", cf_eval_script, 3 }, { "compileScript", cf_compile_script, 3 },
    { "setStrip", cf_set_strip, 1 }, { "uncurryThis", cf_uncurry_this, 1 }, { "isConstructor", cf_is_constructor, 1 },

    { "privateSymbol", cf_private_symbol, 1 }, { "classId", cf_class_id, 1 }, { "proxyDetails", cf_proxy_details, 1 },
    { "promiseDetails", cf_promise_details, 1 }, { "previewEntries", cf_preview_entries, 1 },
    { "ownNonIndexKeys", cf_own_non_index_keys, 3 }, { "constructorName", cf_constructor_name, 1 },

    { "callSites", cf_native_call_sites, 2 }, { "functionLocation", cf_function_location, 1 },
    { "errorPosition", cf_error_position, 1 }, { "setPrepareStackTrace", cf_set_prepare_stack_trace, 3 },
    { "setRejectionTracker", cf_set_rejection_tracker, 1 }, { "reportUncaught", cf_report_uncaught_native, 2 },

    { "setPromiseHooks", cf_set_promise_hooks, 4 },
    { "enqueueMicrotask", cf_enqueue_microtask, 1 }, { "runMicrotasks", cf_run_microtasks, 0 },
    { "runTicks", cf_run_ticks, 0 },
    { "getContinuationData", cf_get_continuation_data, 0 }, { "setContinuationData", cf_set_continuation_data, 1 },

    { "now", cf_now, 0 }, { "scheduleTimer", cf_schedule_timer, 1 }, { "toggleTimerRef", cf_toggle_timer_ref, 1 },
    { "toggleImmediateRef", cf_toggle_immediate_ref, 1 }, { "setHooks", cf_set_hooks, 1 },
    { "runLoop", cf_run_loop_native, 0 },

    { "argv", cf_argv, 0 }, { "execArgv", cf_exec_argv, 0 }, { "cwd", cf_cwd, 0 }, { "chdir", cf_chdir, 1 }, { "url", cf_url, 0 },
    { "source", cf_process_source, 0 }, { "pid", cf_pid, 0 }, { "ppid", cf_ppid, 0 }, { "mode", cf_mode, 0 },
    { "env", cf_native_env, 0 }, { "exit", cf_exit, 1 }, { "setReturnValue", cf_set_return_value, 1 },
    { "returnsValue", cf_returns_value, 0 }, { "isEvaluating", cf_is_evaluating, 0 },

    { "clock", cf_clock, 1 }, { "clockNs", cf_clock_ns, 1 }, { "hrtime", cf_hrtime, 1 }, { "hrtimeBigInt", cf_hrtime_bigint, 1 },
    { "timeOrigin", cf_time_origin, 0 }, { "random", cf_random, 1 },

    { "write", cf_write, 2 }, { "writeSome", cf_write_some, 4 }, { "read", cf_read, 4 }, { "readSome", cf_read_some, 4 },
    { "makeLog", cf_make_log, 3 }, { "sys", cf_sys, 1 }, { "sysWait", cf_sys_wait, 1 },

    { "decode", cf_decode, 4 }, { "encode", cf_encode, 2 }, { "writeString", cf_write_string, 5 },
    { "encodeInto", cf_encode_into, 3 }, { "byteLength", cf_byte_length, 1 }, { "isUtf8", cf_is_utf8, 1 },
    { "isAscii", cf_is_ascii, 1 }, { "decodeUtf8", cf_decode_utf8, 5 }, { "compare", cf_compare, 2 },
    { "compareOffset", cf_compare_offset, 6 }, { "copy", cf_copy, 5 }, { "fill", cf_fill, 5 }, { "indexOf", cf_index_of, 5 },
    { "swap16", cf_swap16, 1 }, { "swap32", cf_swap32, 1 }, { "swap64", cf_swap64, 1 },
    { "detachArrayBuffer", cf_detach_array_buffer, 1 }, { "atob", cf_atob, 1 }, { "btoa", cf_btoa, 1 },

    { "compileModule", cf_native_compile_module, 3 }, { "syntheticModule", cf_synthetic_module, 3 },
    { "moduleRequests", cf_module_requests, 1 }, { "linkModule", cf_link_module, 2 },
    { "instantiateModule", cf_instantiate_module, 1 }, { "evaluateModule", cf_evaluate_module, 1 },
    { "evaluateModuleSync", cf_evaluate_module_sync, 1 }, { "moduleNamespace", cf_module_namespace, 1 },
    { "moduleStatus", cf_module_status, 1 }, { "moduleError", cf_module_error, 1 }, { "moduleUrl", cf_module_url, 1 },
    { "setSyntheticExport", cf_set_synthetic_export, 3 }, { "hasTopLevelAwait", cf_has_top_level_await, 1 },
    { "isGraphAsync", cf_native_is_graph_async, 1 }, { "setImportCallback", cf_set_import_callback, 1 },
    { "setImportMetaCallback", cf_set_import_meta_callback, 1 },

    { "setZoneNames", cf_set_zone_names, 1 }, { "zoneOffset", cf_native_zone_offset, 3 },

    { "makeContext", cf_make_context, 3 }, { "runLimited", cf_run_limited, 3 },

    { "gc", cf_gc, 0 }, { "memoryUsage", cf_memory_usage, 0 }, { "memoryDetails", cf_memory_details, 0 },
};

static const struct {
    const char *name;
    int id;
} cf_classes[] = {
#define CLASS(x) { #x, JS_CLASS_##x }
    CLASS(OBJECT), CLASS(ARRAY), CLASS(ERROR), CLASS(NUMBER), CLASS(STRING), CLASS(BOOLEAN), CLASS(SYMBOL), CLASS(BIG_INT),
    CLASS(DATE), CLASS(REGEXP), CLASS(ARGUMENTS), CLASS(MAPPED_ARGUMENTS), CLASS(MODULE_NS), CLASS(C_FUNCTION),
    CLASS(BYTECODE_FUNCTION), CLASS(BOUND_FUNCTION), CLASS(GENERATOR_FUNCTION), CLASS(ASYNC_FUNCTION),
    CLASS(ASYNC_GENERATOR_FUNCTION), CLASS(GENERATOR), CLASS(ASYNC_GENERATOR), CLASS(ARRAY_BUFFER), CLASS(SHARED_ARRAY_BUFFER),
    CLASS(DATAVIEW), CLASS(UINT8C_ARRAY), CLASS(INT8_ARRAY), CLASS(UINT8_ARRAY), CLASS(INT16_ARRAY), CLASS(UINT16_ARRAY),
    CLASS(INT32_ARRAY), CLASS(UINT32_ARRAY), CLASS(BIG_INT64_ARRAY), CLASS(BIG_UINT64_ARRAY), CLASS(FLOAT16_ARRAY),
    CLASS(FLOAT32_ARRAY), CLASS(FLOAT64_ARRAY), CLASS(MAP), CLASS(SET), CLASS(WEAKMAP), CLASS(WEAKSET), CLASS(MAP_ITERATOR),
    CLASS(SET_ITERATOR), CLASS(PROXY), CLASS(PROMISE), CLASS(WEAK_REF), CLASS(FINALIZATION_REGISTRY), CLASS(DOM_EXCEPTION),
#undef CLASS
};

static const struct {
    const char *name;
    int id;
} cf_encodings[] = {
    { "ascii", ENC_ASCII }, { "utf8", ENC_UTF8 }, { "base64", ENC_BASE64 }, { "utf16le", ENC_UTF16LE }, { "latin1", ENC_LATIN1 },
    { "hex", ENC_HEX }, { "buffer", ENC_BUFFER }, { "base64url", ENC_BASE64URL },
};

/* Makes a typed array over memory of the shim. */
static JSValue cf_shared_array(JSContext *ctx, void *memory, size_t bytes, JSTypedArrayEnum type)
{
    JSValue buffer = JS_NewArrayBuffer(ctx, memory, bytes, 0, NULL, NULL, false);
    JSValue array = JS_IsException(buffer) ? buffer : JS_NewTypedArray(ctx, 1, vc(&buffer), type);
    JS_FreeValue(ctx, buffer);
    return array;
}

static JSValue cf_new_natives(JSContext *ctx)
{
    JSValue native = JS_NewObjectProto(ctx, JS_NULL), classes = JS_NewObjectProto(ctx, JS_NULL);
    JSValue encodings = JS_NewObjectProto(ctx, JS_NULL), loop = JS_NewObjectProto(ctx, JS_NULL);

    for (size_t i = 0; i < countof(cf_natives); i++)
        JS_SetPropertyStr(ctx, native, cf_natives[i].name,
                          JS_NewCFunction(ctx, cf_natives[i].function, cf_natives[i].name, cf_natives[i].length));
    for (size_t i = 0; i < countof(cf_classes); i++)
        JS_SetPropertyStr(ctx, classes, cf_classes[i].name, js_int32(cf_classes[i].id));
    for (size_t i = 0; i < countof(cf_encodings); i++)
        JS_SetPropertyStr(ctx, encodings, cf_encodings[i].name, js_int32(cf_encodings[i].id));
    JS_SetPropertyStr(ctx, loop, "tickInfo", cf_shared_array(ctx, cf.tick_info, 2, JS_TYPED_ARRAY_UINT8));
    JS_SetPropertyStr(ctx, loop, "immediateInfo",
                      cf_shared_array(ctx, cf.immediate_info, sizeof(cf.immediate_info), JS_TYPED_ARRAY_UINT32));
    JS_SetPropertyStr(ctx, loop, "timerInfo", cf_shared_array(ctx, cf.timer_info, sizeof(cf.timer_info), JS_TYPED_ARRAY_INT32));
    JS_SetPropertyStr(ctx, loop, "exitInfo", cf_shared_array(ctx, cf.exit_info, sizeof(cf.exit_info), JS_TYPED_ARRAY_INT32));
    JS_SetPropertyStr(ctx, loop, "keepAlive", cf_shared_array(ctx, &cf.state.keep_alive, 4, JS_TYPED_ARRAY_UINT32));
    cf_add_node_natives(ctx, native, loop);
    cf_add_library_natives(ctx, native);
    JS_SetPropertyStr(ctx, native, "classes", classes);
    JS_SetPropertyStr(ctx, native, "encodings", encodings);
    JS_SetPropertyStr(ctx, native, "loop", loop);
    JS_SetPropertyStr(ctx, native, "absent", js_dup(cf_image.absent));
    return native;
}
