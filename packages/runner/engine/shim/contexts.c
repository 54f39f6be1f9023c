/* Realms for node:vm. A context is a realm of the same runtime. A contextified realm has a
   global object (class ContextGlobal) without properties of its own. That object searches the
   program's object (the sandbox) first and then `real`, the global object that the realm was
   made with. Each operation does what V8 does with the interceptors of node_contextify.cc,
   including the unexpected behaviour: an assignment changes the sandbox and `real`.

   References: handle → realm → ContextGlobal → sandbox and real; the sandbox references the
   handle by a private symbol. The collector follows all these references, so a context is freed
   with the last of its values. The patch `contexts` changes the engine for realms. Next:
   bootstrap/vm/contexts.js. */

typedef struct CfContextGlobal {
    JSValue sandbox, real;
} CfContextGlobal;

static JSClassID cf_context_handle_class;

static CfContextGlobal *cf_context_global(JSValueConst obj)
{
    return JS_GetOpaque(obj, cf_context_global_class);
}

static JSObject *cf_context_properties(JSObject *global)
{
    return JS_VALUE_GET_OBJ(cf_context_global(JS_MKPTR(JS_TAG_OBJECT, global))->real);
}

/* Finds the first property `prop` on the prototype chain. Returns 1 and sets the
   property's flags, 0 if no object has the property, or -1 on exception. */
static int cf_chain_flags(JSContext *ctx, JSValueConst obj, JSAtom prop, int *flags)
{
    JSValue at = js_dup(obj);
    int found = 0;

    while (JS_IsObject(at)) {
        found = JS_GetOwnPropertyFlagsInternal(ctx, flags, JS_VALUE_GET_OBJ(at), prop);
        if (found)
            break;
        JSValue next = JS_GetPrototype(ctx, at);
        JS_FreeValue(ctx, at);
        at = next;
        if (JS_IsException(at))
            return -1;
    }
    JS_FreeValue(ctx, at);
    return found;
}

static bool cf_is_read_only(int found, int flags)
{
    return found > 0 && !(flags & (JS_PROP_WRITABLE | JS_PROP_GETSET));
}

static JSValue cf_context_get(JSContext *ctx, JSValueConst obj, JSAtom prop, JSValueConst receiver)
{
    CfContextGlobal *g = cf_context_global(obj);
    JSValue value = JS_GetProperty(ctx, g->sandbox, prop);

    if (JS_IsUndefined(value)) {
        int has = JS_HasProperty(ctx, g->sandbox, prop);
        if (has)
            return has < 0 ? JS_EXCEPTION : JS_UNDEFINED;
        has = JS_GetOwnPropertyInternal(ctx, NULL, JS_VALUE_GET_OBJ(g->real), prop);
        if (has < 0)
            return JS_EXCEPTION;
        if (has)
            return JS_GetPropertyInternal(ctx, g->real, prop, obj, false);
        JSObject *proto = JS_VALUE_GET_OBJ(obj)->shape->proto;
        return proto ? JS_GetPropertyInternal(ctx, JS_MKPTR(JS_TAG_OBJECT, proto), prop, obj, false) : JS_UNDEFINED;
    }
    if (JS_IsObject(value) && JS_VALUE_GET_PTR(value) == JS_VALUE_GET_PTR(g->sandbox)) {
        JS_FreeValue(ctx, value);
        value = js_dup(obj);
    }
    return value;
}

/* Implements `in`: a property that the sandbox inherits is absent for `in`, although a program
   can read the property. */
static int cf_context_has(JSContext *ctx, JSValueConst obj, JSAtom prop)
{
    CfContextGlobal *g = cf_context_global(obj);
    int has = JS_GetOwnPropertyInternal(ctx, NULL, JS_VALUE_GET_OBJ(g->sandbox), prop);
    if (!has)
        has = JS_GetOwnPropertyInternal(ctx, NULL, JS_VALUE_GET_OBJ(g->real), prop);
    if (!has && JS_VALUE_GET_OBJ(obj)->shape->proto)
        has = JS_HasProperty(ctx, JS_MKPTR(JS_TAG_OBJECT, JS_VALUE_GET_OBJ(obj)->shape->proto), prop);
    return has;
}

/* Returns whether the name `prop` is defined in the context of `global`, or -1 on exception. */
static int cf_context_knows(JSContext *ctx, JSObject *global, JSAtom prop)
{
    JSValueConst obj = JS_MKPTR(JS_TAG_OBJECT, global);
    int has = JS_HasProperty(ctx, cf_context_global(obj)->sandbox, prop);
    return has ? has : cf_context_has(ctx, obj, prop);
}

static int cf_context_set(JSContext *ctx, JSValueConst obj, JSAtom prop, JSValueConst value, JSValueConst receiver, int flags)
{
    CfContextGlobal *g = cf_context_global(obj);
    int on_global, on_sandbox, global_flags = 0, sandbox_flags = 0;
    JSValue target;

    /* The receiver is another object, because of a prototype chain or of Reflect.set. Sets an
       ordinary property of the receiver. */
    if (!JS_IsObject(receiver) || JS_VALUE_GET_PTR(receiver) != JS_VALUE_GET_PTR(obj))
        return JS_SetPropertyInternal2(ctx, g->real, prop, js_dup(value), receiver, flags);

    on_global = cf_chain_flags(ctx, g->real, prop, &global_flags);
    on_sandbox = on_global < 0 ? -1 : cf_chain_flags(ctx, g->sandbox, prop, &sandbox_flags);
    if (on_sandbox < 0)
        return -1;
    if (cf_is_read_only(on_sandbox, sandbox_flags) && !cf_is_read_only(on_global, global_flags)) {
        int own = JS_GetOwnPropertyInternal(ctx, NULL, JS_VALUE_GET_OBJ(g->sandbox), prop);
        if (own > 0 && ((flags & JS_PROP_THROW) || ((flags & JS_PROP_THROW_STRICT) && is_strict_mode(ctx)))) {
            JS_ThrowTypeErrorAtom(ctx, "Cannot redefine property: %s", prop);
            return -1;
        }
        if (own)
            return own < 0 ? -1 : false;
    }
    if (!cf_is_read_only(on_global, global_flags) && !cf_is_read_only(on_sandbox, sandbox_flags) &&
        (on_global || on_sandbox || !cf_is_symbol(ctx, prop))) {
        if (JS_SetPropertyInternal(ctx, g->sandbox, prop, js_dup(value), 0) < 0)
            return -1;
        if (on_sandbox) {
            int own_flags = 0;
            int own = JS_GetOwnPropertyFlagsInternal(ctx, &own_flags, JS_VALUE_GET_OBJ(g->sandbox), prop);
            if (own < 0)
                return -1;
            if (own && (own_flags & JS_PROP_GETSET))
                return true; /* the property's setter has run */
        }
    }
    target = js_dup(g->real);
    on_global = JS_SetPropertyInternal(ctx, target, prop, js_dup(value), flags & ~JS_PROP_NO_ADD);
    JS_FreeValue(ctx, target);
    return on_global;
}

static int cf_context_get_own(JSContext *ctx, JSPropertyDescriptor *desc, JSValueConst obj, JSAtom prop)
{
    CfContextGlobal *g = cf_context_global(obj);
    int found = JS_GetOwnPropertyInternal(ctx, desc, JS_VALUE_GET_OBJ(g->sandbox), prop);
    return found ? found : JS_GetOwnPropertyInternal(ctx, desc, JS_VALUE_GET_OBJ(g->real), prop);
}

static int cf_context_define(JSContext *ctx, JSValueConst obj, JSAtom prop, JSValueConst value, JSValueConst getter,
                             JSValueConst setter, int flags)
{
    CfContextGlobal *g = cf_context_global(obj);
    int own_flags = 0, on_sandbox = 0;
    int found = cf_chain_flags(ctx, g->real, prop, &own_flags);

    if (found < 0)
        return -1;
    if (!cf_is_read_only(found, own_flags) || (own_flags & JS_PROP_CONFIGURABLE)) {
        int sandbox_flags = flags & (JS_PROP_HAS_ENUMERABLE | JS_PROP_ENUMERABLE |
                                     JS_PROP_HAS_CONFIGURABLE | JS_PROP_CONFIGURABLE);
        /* V8's interceptor always passes both accessors, or a value */
        if (flags & (JS_PROP_HAS_GET | JS_PROP_HAS_SET))
            sandbox_flags |= JS_PROP_HAS_GET | JS_PROP_HAS_SET;
        else
            sandbox_flags |= JS_PROP_HAS_VALUE | (flags & (JS_PROP_HAS_WRITABLE | JS_PROP_WRITABLE));
        sandbox_flags |= flags & (JS_PROP_THROW | JS_PROP_THROW_STRICT);
        on_sandbox = JS_DefineProperty(ctx, g->sandbox, prop, value, getter, setter, sandbox_flags);
        if (on_sandbox <= 0)
            return on_sandbox;
    }
    return JS_DefineProperty(ctx, g->real, prop, value, getter, setter, flags);
}

static int cf_context_delete(JSContext *ctx, JSValueConst obj, JSAtom prop)
{
    CfContextGlobal *g = cf_context_global(obj);
    int deleted = JS_DeleteProperty(ctx, g->sandbox, prop, 0);
    return deleted > 0 ? JS_DeleteProperty(ctx, g->real, prop, 0) : deleted;
}

static int cf_context_names(JSContext *ctx, JSPropertyEnum **out, uint32_t *out_count, JSValueConst obj)
{
    CfContextGlobal *g = cf_context_global(obj);
    const int all = JS_GPN_STRING_MASK | JS_GPN_SYMBOL_MASK | JS_GPN_SET_ENUM;
    JSPropertyEnum *real, *own, *names;
    uint32_t real_count, own_count, count = 0;

    if (JS_GetOwnPropertyNamesInternal(ctx, &own, &own_count, JS_VALUE_GET_OBJ(g->sandbox), all))
        return -1;
    if (JS_GetOwnPropertyNamesInternal(ctx, &real, &real_count, JS_VALUE_GET_OBJ(g->real), all)) {
        JS_FreePropertyEnum(ctx, own, own_count);
        return -1;
    }
    names = js_mallocz(ctx, (own_count + real_count + 1) * sizeof(*names));
    /* The realm's own names, then names that only the sandbox has: if the sandbox replaces a
       builtin, the name is listed as the sandbox's. */
    for (uint32_t i = 0; names && i < real_count; i++)
        if (real[i].is_enumerable || !find_own_property1(JS_VALUE_GET_OBJ(g->sandbox), real[i].atom))
            names[count++] = (JSPropertyEnum){ .atom = JS_DupAtom(ctx, real[i].atom) };
    for (uint32_t i = 0; names && i < own_count; i++) {
        JSShapeProperty *prs = find_own_property1(JS_VALUE_GET_OBJ(g->real), own[i].atom);
        if (!prs || !(prs->flags & JS_PROP_ENUMERABLE))
            names[count++] = (JSPropertyEnum){ .atom = JS_DupAtom(ctx, own[i].atom) };
    }
    JS_FreePropertyEnum(ctx, real, real_count);
    JS_FreePropertyEnum(ctx, own, own_count);
    *out = names;
    *out_count = count;
    return names ? 0 : -1;
}

/* Declares a `var` of a script. Until the first assignment only the realm's own object has the
   variable. */
static int cf_context_define_var(JSContext *ctx, JSAtom prop, int flags)
{
    JSValueConst obj = ctx->global_obj;
    int found = cf_context_get_own(ctx, NULL, obj, prop);
    if (found)
        return found < 0 ? -1 : 0;
    return JS_DefineProperty(ctx, cf_context_global(obj)->real, prop, JS_UNDEFINED, JS_UNDEFINED, JS_UNDEFINED,
                             flags | JS_PROP_HAS_VALUE | JS_PROP_HAS_CONFIGURABLE | JS_PROP_HAS_WRITABLE |
                             JS_PROP_HAS_ENUMERABLE) < 0 ? -1 : 0;
}

/* Assigns a function declaration on the sandbox and defines the function in the realm. Returns 0
   on success. The engine would define the function on the global object, which represents the
   sandbox and the realm's object. */
static int cf_context_set_function(JSContext *ctx, JSAtom prop, JSValueConst func)
{
    CfContextGlobal *g = cf_context_global(ctx->global_obj);
    if (JS_SetPropertyInternal(ctx, g->sandbox, prop, js_dup(func), 0) < 0)
        return -1;
    return JS_DefineProperty(ctx, g->real, prop, func, JS_UNDEFINED, JS_UNDEFINED,
                             JS_PROP_HAS_VALUE | JS_PROP_HAS_WRITABLE | JS_PROP_WRITABLE |
                             JS_PROP_HAS_ENUMERABLE | JS_PROP_ENUMERABLE) < 0 ? -1 : 0;
}

static JSClassExoticMethods cf_context_methods = {
    .get_own_property = cf_context_get_own,
    .get_own_property_names = cf_context_names,
    .delete_property = cf_context_delete,
    .define_own_property = cf_context_define,
    .has_property = cf_context_has,
    .get_property = cf_context_get,
    .set_property = cf_context_set,
};

static void cf_context_global_finalizer(JSRuntime *rt, JSValueConst value)
{
    CfContextGlobal *g = cf_context_global(value);
    if (!g)
        return;
    JS_FreeValueRT(rt, g->sandbox);
    JS_FreeValueRT(rt, g->real);
    js_free_rt(rt, g);
}

static void cf_context_global_mark(JSRuntime *rt, JSValueConst value, JS_MarkFunc *mark)
{
    CfContextGlobal *g = cf_context_global(value);
    if (g) {
        JS_MarkValue(rt, g->sandbox, mark);
        JS_MarkValue(rt, g->real, mark);
    }
}

static const JSClassDef cf_context_global_class_def = {
    "Object", .finalizer = cf_context_global_finalizer, .gc_mark = cf_context_global_mark, .exotic = &cf_context_methods,
};

static void cf_context_handle_finalizer(JSRuntime *rt, JSValueConst value)
{
    JSContext *realm = JS_GetOpaque(value, cf_context_handle_class);
    if (realm)
        JS_FreeContext(realm);
}

static void cf_context_handle_mark(JSRuntime *rt, JSValueConst value, JS_MarkFunc *mark)
{
    JSContext *realm = JS_GetOpaque(value, cf_context_handle_class);
    if (realm)
        mark(rt, &realm->header);
}

static const JSClassDef cf_context_handle_class_def = {
    "ContextHandle", .finalizer = cf_context_handle_finalizer, .gc_mark = cf_context_handle_mark,
};

/* Replaces the realm's global object by an object that looks up names in `sandbox` first. */
static int cf_contextify(JSContext *realm, JSValueConst sandbox)
{
    CfContextGlobal *g = js_malloc(realm, sizeof(*g));
    JSValue global, proto;

    if (!g)
        return -1;
    /* V8 has an object between the global object and Object.prototype */
    proto = JS_NewObject(realm);
    global = JS_IsException(proto) ? proto : JS_NewObjectProtoClass(realm, proto, cf_context_global_class);
    JS_FreeValue(realm, proto);
    if (JS_IsException(global)) {
        js_free(realm, g);
        return -1;
    }
    *g = (CfContextGlobal){ js_dup(sandbox), realm->global_obj };
    JS_SetOpaqueInternal(global, g);
    realm->global_obj = global;
    return JS_DefinePropertyValue(realm, g->real, JS_ATOM_globalThis, js_dup(global), JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE);
}

/* makeContext(sandbox or undefined, codeFromStrings, prepare): returns [handle, global].
   `prepare(handle, global)` receives the realm's own global object, before the sandbox is in
   use. */
NATIVE(cf_make_context)
{
    JSContext *realm = JS_NewContext(ctx->rt);
    JSValue handle;

    if (!realm)
        return JS_ThrowOutOfMemory(ctx);
    cf_seed(realm); /* the engine would seed from the time of day, which clones share */
    handle = JS_NewObjectProtoClass(ctx, JS_NULL, cf_context_handle_class);
    if (JS_IsException(handle)) {
        JS_FreeContext(realm);
        return handle;
    }
    JS_SetOpaqueInternal(handle, realm);
    if (!JS_ToBool(ctx, argv[1]))
        JS_SetContextOpaque(realm, CF_NO_CODE_FROM_STRINGS);
    JSValueConst args[2] = { handle, realm->global_obj };
    JSValue prepared = JS_Call(ctx, argv[2], JS_UNDEFINED, 2, args);
    if (JS_IsException(prepared)) {
        JS_FreeValue(ctx, handle);
        return prepared;
    }
    JS_FreeValue(ctx, prepared);
    if (JS_IsObject(argv[0]) && cf_contextify(realm, argv[0]) < 0) {
        JS_FreeValue(ctx, handle);
        return JS_EXCEPTION;
    }
    JSValue values[2] = { handle, js_dup(realm->global_obj) };
    return cf_array(ctx, 2, values);
}

/* Returns the realm that `options.context` names, or the caller's realm. Returns NULL with an
   exception if the handle is invalid. The realm lives as long as the handle, which the caller
   references. */
static JSContext *cf_option_context(JSContext *ctx, JSValueConst options)
{
    JSContext *realm;
    JSValue handle;

    if (!JS_IsObject(options))
        return ctx;
    handle = JS_GetPropertyStr(ctx, options, "context");
    if (JS_IsUndefined(handle))
        return ctx;
    realm = JS_GetOpaque(handle, cf_context_handle_class);
    JS_FreeValue(ctx, handle);
    if (!realm && !JS_HasException(ctx))
        JS_ThrowTypeError(ctx, "options.context must be a context's handle");
    return realm;
}

static JSValue cf_no_job(JSContext *ctx, int argc, JSValueConst *argv)
{
    return JS_UNDEFINED;
}

/* Runs the jobs of `realm` until no job is left or the program must stop. With `drop` the jobs
   are removed without running. */
static void cf_run_realm_jobs(JSContext *ctx, JSContext *realm, bool drop)
{
    JSRuntime *rt = ctx->rt;
    struct list_head *el, *next;
    bool any;

    do {
        any = false;
        list_for_each_safe(el, next, &rt->job_list) {
            JSJobEntry *e = list_entry(el, JSJobEntry, link);
            JSContext *ran;
            if (e->ctx != realm)
                continue;
            list_del(&e->link);
            list_add(&e->link, &rt->job_list);
            if (drop)
                e->job_func = cf_no_job;
            if (JS_ExecutePendingJob(rt, &ran) < 0)
                cf_report_exception(ctx, false);
            any = true;
            break;
        }
    } while (any && (drop || !cf.stop));
}

/* runLimited(fn, timeoutMs, handle): calls fn, then runs the microtasks of the handle's realm if
   a handle is given. Returns the result of fn, or `absent` on a timeout. A negative timeout
   means no timeout. */
NATIVE(cf_run_limited)
{
    double timeout, outer = cf.deadline_ns, deadline = 0;
    JSContext *realm = JS_GetOpaque(argv[2], cf_context_handle_class);
    JSValue result;

    if (JS_ToFloat64(ctx, &timeout, argv[1]))
        return JS_EXCEPTION;
    if (timeout >= 0) {
        deadline = (double)host_clock(CF_CLOCK_MONOTONIC) + timeout * 1e6;
        if (!outer || deadline < outer)
            cf.deadline_ns = deadline;
    }
    result = JS_Call(ctx, argv[0], JS_UNDEFINED, 0, NULL);
    if (realm && !cf.stop && !JS_IsException(result))
        cf_run_realm_jobs(ctx, realm, false);
    cf.deadline_ns = outer;
    if (cf.stop != CF_STOP_TIMEOUT)
        return cf.stop ? (JS_FreeValue(ctx, result), cf_stop(ctx, cf.stop)) : result;
    if (!deadline || (double)host_clock(CF_CLOCK_MONOTONIC) < deadline) {
        JS_FreeValue(ctx, result);
        return cf_stop(ctx, CF_STOP_TIMEOUT); /* the time limit of an outer call has passed */
    }
    cf.stop = CF_RUNNING;
    JS_FreeValue(ctx, result);
    JS_FreeValue(ctx, JS_GetException(ctx));
    if (realm)
        cf_run_realm_jobs(ctx, realm, true);
    return js_dup(cf_image.absent);
}
