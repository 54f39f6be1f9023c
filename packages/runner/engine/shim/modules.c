/* Modules as the loader uses them: a handle per module, requests whose modules the loader sets,
   instantiation, evaluation. A handle references its module, and no module references a handle.
   The patch `collected-modules` lists the other references to a module. */

static void cf_module_finalizer(JSRuntime *rt, JSValueConst value)
{
    JSModuleDef *m = JS_GetOpaque(value, cf_image.module_class);
    if (m)
        JS_FreeValueRT(rt, JS_MKPTR(JS_TAG_MODULE, m));
}

static void cf_module_mark(JSRuntime *rt, JSValueConst value, JS_MarkFunc *mark)
{
    JSModuleDef *m = JS_GetOpaque(value, cf_image.module_class);
    if (m)
        mark(rt, &m->header);
}

static const JSClassDef cf_module_class_def = {
    "ModuleHandle", .finalizer = cf_module_finalizer, .gc_mark = cf_module_mark,
};

static JSModuleDef *cf_module_of(JSContext *ctx, JSValueConst handle)
{
    JSModuleDef *m = JS_GetOpaque(handle, cf_image.module_class);
    if (!m)
        JS_ThrowTypeError(ctx, "expected a module handle");
    return m;
}

/* Makes the handle of `m` and keeps the caller's reference. If `m` is NULL, returns the pending
   exception. */
static JSValue cf_module_handle(JSContext *ctx, JSModuleDef *m)
{
    JSValue handle;
    if (!m)
        return JS_EXCEPTION;
    handle = JS_NewObjectProtoClass(ctx, JS_NULL, cf_image.module_class);
    if (JS_IsException(handle))
        js_release_module(ctx, m);
    else
        JS_SetOpaqueInternal(handle, m);
    return handle;
}

/* Compiles a module. Returns a new reference, or NULL with a pending SyntaxError. */
static JSModuleDef *cf_compile_module(JSContext *ctx, const char *source, size_t len, const char *url)
{
    JSValue m = JS_EvalInternal(ctx, ctx->global_obj, source, len, url, 1,
                                JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY, -1);
    return JS_IsException(m) ? NULL : JS_VALUE_GET_PTR(m);
}

static int cf_instantiate(JSContext *ctx, JSModuleDef *m)
{
    if (m->status > JS_MODULE_STATUS_LINKED)
        return 0;
    if (js_resolve_module(ctx, m) < 0 || js_create_module_function(ctx, m) < 0 || js_link_module(ctx, m) < 0)
        return -1;
    return 0;
}

NATIVE(cf_native_compile_module)
{
    size_t len;
    JSModuleDef *m = NULL;
    JSContext *realm = cf_option_context(ctx, argv[2]);
    const char *source = realm ? cf_source(ctx, argv[0], &len) : NULL;
    const char *url = source ? JS_ToCString(ctx, argv[1]) : NULL;
    if (url)
        m = cf_compile_module(realm, source, len, url);
    JS_FreeCString(ctx, url);
    JS_FreeCString(ctx, source);
    return cf_module_handle(ctx, m);
}

static int cf_run_synthetic(JSContext *ctx, JSModuleDef *m)
{
    JSValue evaluate = m->private_value, handle, result;

    m->private_value = JS_UNDEFINED;
    js_dup(JS_MKPTR(JS_TAG_MODULE, m));
    handle = cf_module_handle(ctx, m);
    if (JS_IsException(handle)) {
        JS_FreeValue(ctx, evaluate);
        return -1;
    }
    result = JS_Call(ctx, evaluate, JS_UNDEFINED, 1, vc(&handle));
    JS_FreeValue(ctx, evaluate);
    JS_FreeValue(ctx, handle);
    if (JS_IsException(result))
        return -1;
    JS_FreeValue(ctx, result);
    return 0;
}

/* syntheticModule(url, names, evaluate): returns the handle of a module whose exports `evaluate`
   sets */
NATIVE(cf_synthetic_module)
{
    int64_t count;
    JSModuleDef *m = NULL;
    const char *url;

    if (!JS_IsFunction(ctx, argv[2]))
        return JS_ThrowTypeError(ctx, "syntheticModule: evaluate must be a function");
    if (js_get_length64(ctx, &count, argv[1]))
        return JS_EXCEPTION;
    url = JS_ToCString(ctx, argv[0]);
    if (!url)
        return JS_EXCEPTION;
    m = JS_NewCModule(ctx, url, cf_run_synthetic);
    JS_FreeCString(ctx, url);
    if (!m)
        return JS_EXCEPTION;
    m->private_value = js_dup(argv[2]);
    for (int64_t i = 0; i < count; i++) {
        JSValue value = JS_GetPropertyInt64(ctx, argv[1], i);
        const char *name = JS_ToCString(ctx, value);
        int result = name ? JS_AddModuleExport(ctx, m, name) : -1;
        JS_FreeCString(ctx, name);
        JS_FreeValue(ctx, value);
        if (result < 0) {
            js_release_module(ctx, m);
            return JS_EXCEPTION;
        }
    }
    return cf_module_handle(ctx, m);
}

NATIVE(cf_module_requests)
{
    JSModuleDef *m = cf_module_of(ctx, argv[0]);
    JSValue array;

    if (!m)
        return JS_EXCEPTION;
    array = JS_NewArray(ctx);
    for (int i = 0; i < m->req_module_entries_count && !JS_IsException(array); i++) {
        JSReqModuleEntry *request = &m->req_module_entries[i];
        JSValue values[2] = { JS_AtomToString(ctx, request->module_name), js_dup(request->attributes) };
        if (JS_DefinePropertyValueUint32(ctx, array, i, cf_array(ctx, 2, values), JS_PROP_C_W_E) < 0) {
            JS_FreeValue(ctx, array);
            return JS_EXCEPTION;
        }
    }
    return array;
}

/* linkModule(handle, handles): sets the modules of the requests, one handle per request in order */
NATIVE(cf_link_module)
{
    JSModuleDef *m = cf_module_of(ctx, argv[0]);
    int64_t count;

    if (!m || js_get_length64(ctx, &count, argv[1]))
        return JS_EXCEPTION;
    if (count != m->req_module_entries_count)
        return JS_ThrowTypeError(ctx, "linkModule: expected %d modules, received %d", m->req_module_entries_count, (int)count);
    if (m->resolved)
        return JS_ThrowTypeError(ctx, "linkModule: the module is already instantiated");
    for (int i = 0; i < count; i++) {
        JSValue handle = JS_GetPropertyInt64(ctx, argv[1], i);
        JSModuleDef *target = JS_IsException(handle) ? NULL : cf_module_of(ctx, handle);
        if (target) {
            JSModuleDef **slot = &m->req_module_entries[i].module;
            js_dup(JS_MKPTR(JS_TAG_MODULE, target));
            if (*slot)
                js_release_module(ctx, *slot);
            *slot = target;
        }
        JS_FreeValue(ctx, handle);
        if (!target)
            return JS_EXCEPTION;
    }
    return JS_UNDEFINED;
}

NATIVE(cf_instantiate_module)
{
    JSModuleDef *m = cf_module_of(ctx, argv[0]);
    if (!m || cf_instantiate(ctx, m) < 0)
        return JS_EXCEPTION;
    return JS_UNDEFINED;
}

static JSValue cf_evaluate(JSContext *ctx, JSModuleDef *m)
{
    if (m->status < JS_MODULE_STATUS_LINKED)
        return JS_ThrowTypeError(ctx, "the module is not instantiated");
    if (m->status == JS_MODULE_STATUS_EVALUATING)
        return JS_ThrowTypeError(ctx, "the module is being evaluated");
    return js_evaluate_module(ctx, m);
}

NATIVE(cf_evaluate_module)
{
    JSModuleDef *m = cf_module_of(ctx, argv[0]);
    return m ? cf_evaluate(ctx, m) : JS_EXCEPTION;
}

/* The modules that a traversal of a graph has visited: an open hash table of their addresses.
   The time of a traversal is therefore linear in the number of imports. */
typedef struct CfModuleSet {
    JSModuleDef **slots, **order;
    uint32_t count, capacity; /* a power of two, at most half full */
} CfModuleSet;

static bool cf_module_set_grow(CfModuleSet *set)
{
    uint32_t capacity = set->capacity ? set->capacity * 2 : 64;
    JSModuleDef **slots = calloc(capacity, sizeof(*slots));
    JSModuleDef **order = slots ? realloc(set->order, capacity / 2 * sizeof(*order)) : NULL;

    if (!order) {
        free(slots);
        return false;
    }
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t at = ((uintptr_t)order[i] >> 4) * 2654435761u;
        while (slots[at & (capacity - 1)])
            at++;
        slots[at & (capacity - 1)] = order[i];
    }
    free(set->slots);
    *set = (CfModuleSet){ slots, order, set->count, capacity };
    return true;
}

/* Adds a module to the set. Returns false if memory is exhausted. */
static bool cf_module_set_add(CfModuleSet *set, JSModuleDef *m)
{
    if (set->count * 2 >= set->capacity && !cf_module_set_grow(set))
        return false;
    uint32_t at = ((uintptr_t)m >> 4) * 2654435761u;
    for (; set->slots[at & (set->capacity - 1)]; at++)
        if (set->slots[at & (set->capacity - 1)] == m)
            return true;
    set->slots[at & (set->capacity - 1)] = m;
    set->order[set->count++] = m;
    return true;
}

/* Returns whether `root` or a module of its graph has top-level await. If memory is exhausted,
   returns true, so that the caller refuses a synchronous evaluation. */
static bool cf_is_graph_async(JSModuleDef *root)
{
    CfModuleSet set = { 0 };
    bool is_async = !cf_module_set_add(&set, root);

    for (uint32_t i = 0; i < set.count && !is_async; i++) {
        JSModuleDef *m = set.order[i];
        is_async = m->has_tla;
        for (int j = 0; j < m->req_module_entries_count && !is_async; j++)
            if (m->req_module_entries[j].module)
                is_async = !cf_module_set_add(&set, m->req_module_entries[j].module);
    }
    free(set.slots);
    free(set.order);
    return is_async;
}

/* evaluateModuleSync(handle): returns the namespace, or throws the module's error */
NATIVE(cf_evaluate_module_sync)
{
    JSModuleDef *m = cf_module_of(ctx, argv[0]);
    JSValue promise, result;

    if (!m)
        return JS_EXCEPTION;
    if (cf_is_graph_async(m))
        return JS_ThrowTypeError(ctx, "the module graph has top-level await");
    promise = cf_evaluate(ctx, m);
    if (JS_IsException(promise))
        return promise;
    switch (JS_PromiseState(ctx, promise)) {
    case JS_PROMISE_FULFILLED:
        result = JS_GetModuleNamespace(ctx, m);
        break;
    case JS_PROMISE_REJECTED:
        js_promise_set_handled(ctx, promise);
        result = JS_Throw(ctx, JS_PromiseResult(ctx, promise));
        break;
    default:
        result = JS_ThrowTypeError(ctx, "the module is still being evaluated");
    }
    JS_FreeValue(ctx, promise);
    return result;
}

NATIVE(cf_module_namespace)
{
    JSModuleDef *m = cf_module_of(ctx, argv[0]);
    if (!m)
        return JS_EXCEPTION;
    if (m->status < JS_MODULE_STATUS_LINKED)
        return JS_ThrowTypeError(ctx, "the module is not instantiated");
    return JS_GetModuleNamespace(ctx, m);
}

NATIVE(cf_module_status)
{
    static const uint8_t node_status[] = { 0, 1, 2, 3, 3, 4 };
    JSModuleDef *m = cf_module_of(ctx, argv[0]);
    if (!m)
        return JS_EXCEPTION;
    return js_int32(m->eval_has_exception ? 5 : node_status[m->status]);
}

NATIVE(cf_module_error)
{
    JSModuleDef *m = cf_module_of(ctx, argv[0]);
    return m ? js_dup(m->eval_exception) : JS_EXCEPTION;
}

NATIVE(cf_module_url)
{
    JSModuleDef *m = cf_module_of(ctx, argv[0]);
    return m ? JS_AtomToString(ctx, m->module_name) : JS_EXCEPTION;
}

/* setSyntheticExport(handle, name, value): sets an export of a synthetic module */
NATIVE(cf_set_synthetic_export)
{
    JSModuleDef *m = cf_module_of(ctx, argv[0]);
    JSExportEntry *entry;
    JSAtom name;

    if (!m)
        return JS_EXCEPTION;
    name = JS_ValueToAtom(ctx, argv[1]);
    if (name == JS_ATOM_NULL)
        return JS_EXCEPTION;
    entry = m->init_func ? find_export_entry(ctx, m, name) : NULL;
    if (!entry || !entry->u.local.var_ref) {
        JS_ThrowReferenceError(ctx, entry ? "the module is not instantiated" : "Export '%s' is not defined in module",
                               JS_AtomGetStr(ctx, (char[ATOM_GET_STR_BUF_SIZE]){ 0 }, ATOM_GET_STR_BUF_SIZE, name));
        JS_FreeAtom(ctx, name);
        return JS_EXCEPTION;
    }
    JS_FreeAtom(ctx, name);
    set_value(ctx, entry->u.local.var_ref->pvalue, js_dup(argv[2]));
    return JS_UNDEFINED;
}

NATIVE(cf_has_top_level_await)
{
    JSModuleDef *m = cf_module_of(ctx, argv[0]);
    return m ? js_bool(m->has_tla) : JS_EXCEPTION;
}

NATIVE(cf_native_is_graph_async)
{
    JSModuleDef *m = cf_module_of(ctx, argv[0]);
    return m ? js_bool(cf_is_graph_async(m)) : JS_EXCEPTION;
}

NATIVE(cf_set_import_callback)
{
    set_value(ctx, &cf_image.import_callback, js_dup(argv[0]));
    return JS_UNDEFINED;
}

NATIVE(cf_set_import_meta_callback)
{
    set_value(ctx, &cf_image.import_meta_callback, js_dup(argv[0]));
    return JS_UNDEFINED;
}

static JSValue cf_import(JSContext *ctx, JSValueConst specifier, JSValueConst attributes, JSValueConst referrer)
{
    JSValueConst args[3] = { specifier, attributes, referrer };
    if (!JS_IsFunction(ctx, cf_image.import_callback))
        return JS_ThrowTypeError(ctx, "import() is not available");
    return JS_Call(ctx, cf_image.import_callback, JS_UNDEFINED, 3, args);
}

static int cf_init_import_meta(JSContext *ctx, JSModuleDef *m, JSValueConst meta)
{
    JSValue url = JS_AtomToString(ctx, m->module_name), handle, result;

    if (JS_IsException(url) || JS_DefinePropertyValueStr(ctx, meta, "url", js_dup(url), JS_PROP_C_W_E) < 0) {
        JS_FreeValue(ctx, url);
        return -1;
    }
    if (!JS_IsFunction(ctx, cf_image.import_meta_callback)) {
        JS_FreeValue(ctx, url);
        return 0;
    }
    js_dup(JS_MKPTR(JS_TAG_MODULE, m));
    handle = cf_module_handle(ctx, m);
    JSValueConst args[3] = { meta, handle, url };
    result = JS_IsException(handle) ? handle : JS_Call(ctx, cf_image.import_meta_callback, JS_UNDEFINED, 3, args);
    JS_FreeValue(ctx, handle);
    JS_FreeValue(ctx, url);
    JS_FreeValue(ctx, result);
    return JS_IsException(result) ? -1 : 0;
}
