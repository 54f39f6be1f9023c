export default {
  title: 'contexts with a global of their own kind',
  why: `vm.createContext: a realm of the same runtime whose global object asks the program's object first (shim/contexts.c has that object; it is
exotic and has no properties of its own, so the main realm's paths are what they were). Declarations, which look at the global's own properties, look
at the realm's real ones; a name that is nowhere is a ReferenceError also behind an exotic getter; a realm may forbid code from strings. And a realm can
die now: a job or a registry that will run in it holds it.`,
  edits: [
    {
      file: 'quickjs.c',
      find: 'static JSValue JS_EvalObject(JSContext *ctx, JSValueConst this_obj,\n                             JSValueConst val, int flags, int scope_idx);\n',
      replace: `static JSValue JS_EvalObject(JSContext *ctx, JSValueConst this_obj,
                             JSValueConst val, int flags, int scope_idx);
/* shim/contexts.c */
static JSClassID cf_context_global_class;
static JSObject *cf_context_properties(JSObject *global);
static int cf_context_define_var(JSContext *ctx, JSAtom prop, int flags);
static inline bool cf_is_context_global(JSObject *p)
{
    return p->is_exotic && p->class_id == cf_context_global_class;
}
/* the object with the realm's own global properties */
static inline JSObject *cf_global_properties(JSContext *ctx)
{
    JSObject *p = JS_VALUE_GET_OBJ(ctx->global_obj);
    return unlikely(cf_is_context_global(p)) ? cf_context_properties(p) : p;
}
#define CF_NO_CODE_FROM_STRINGS ((void *)1) /* a context's opaque */
`,
    },
    // a name that is nowhere
    {
      file: 'quickjs.c',
      find: `                        obj1 = js_dup(JS_MKPTR(JS_TAG_OBJECT, p));
                        retval = em->get_property(ctx, obj1, prop, this_obj);
                        JS_FreeValue(ctx, obj1);
                        return retval;`,
      replace: `                        obj1 = js_dup(JS_MKPTR(JS_TAG_OBJECT, p));
                        retval = em->get_property(ctx, obj1, prop, this_obj);
                        if (unlikely(throw_ref_error) && JS_IsUndefined(retval)) {
                            int has = JS_HasProperty(ctx, obj1, prop);
                            if (has < 0)
                                retval = JS_EXCEPTION;
                            else if (!has)
                                retval = JS_ThrowReferenceErrorNotDefined(ctx, prop);
                        }
                        JS_FreeValue(ctx, obj1);
                        return retval;`,
    },
    // declarations
    {
      file: 'quickjs.c',
      find: `    JSShapeProperty *prs;

    p = JS_VALUE_GET_OBJ(ctx->global_obj);
    prs = find_own_property1(p, prop);
    /* XXX: should handle JS_PROP_AUTOINIT */`,
      replace: `    JSShapeProperty *prs;

    p = cf_global_properties(ctx);
    prs = find_own_property1(p, prop);
    /* XXX: should handle JS_PROP_AUTOINIT */`,
    },
    {
      file: 'quickjs.c',
      find: `        p = JS_VALUE_GET_OBJ(ctx->global_obj);
        flags = JS_PROP_ENUMERABLE | JS_PROP_WRITABLE |
            (def_flags & JS_PROP_CONFIGURABLE);`,
      replace: `        p = JS_VALUE_GET_OBJ(ctx->global_obj);
        flags = JS_PROP_ENUMERABLE | JS_PROP_WRITABLE |
            (def_flags & JS_PROP_CONFIGURABLE);
        if (unlikely(cf_is_context_global(p)))
            return cf_context_define_var(ctx, prop, flags);`,
    },
    {
      file: 'quickjs.c',
      find: `    p = JS_VALUE_GET_OBJ(ctx->global_obj);
    prs = find_own_property1(p, prop);
    flags = JS_PROP_HAS_VALUE | JS_PROP_THROW;`,
      replace: `    p = cf_global_properties(ctx);
    prs = find_own_property1(p, prop);
    flags = JS_PROP_HAS_VALUE | JS_PROP_THROW;`,
    },
    // V8 lets a function through that strict code assigns to a name nobody has
    {
      file: 'quickjs.c',
      find: '    if (ret == 0 && is_strict_mode(ctx)) {\n        JS_FreeValue(ctx, val);\n        JS_ThrowReferenceErrorNotDefined(ctx, prop);',
      replace: `    if (ret == 0 && is_strict_mode(ctx) && !(cf_is_context_global(p) && JS_IsFunction(ctx, val))) {
        JS_FreeValue(ctx, val);
        JS_ThrowReferenceErrorNotDefined(ctx, prop);`,
    },
    // code from strings
    {
      file: 'quickjs.c',
      find: '    if (!JS_IsString(val))\n        return js_dup(val);\n    str = JS_ToCStringLen(ctx, &len, val);\n',
      replace: `    if (!JS_IsString(val))
        return js_dup(val);
    if (unlikely(ctx->user_opaque == CF_NO_CODE_FROM_STRINGS)) {
        return JS_Throw(ctx, JS_MakeError2(ctx, JS_EVAL_ERROR, /*add_backtrace*/true,
                                           "Code generation from strings disallowed for this context"));
    }
    str = JS_ToCStringLen(ctx, &len, val);
`,
    },
    // jobs hold their realm
    {
      file: 'quickjs.c',
      find: '    e->ctx = ctx;\n    e->job_func',
      replace: '    e->ctx = JS_DupContext(ctx);\n    e->job_func',
    },
    {
      file: 'quickjs.c',
      find: '    JS_FreeValue(ctx, res);\n    js_free(ctx, e);\n    *pctx = ctx;',
      replace: '    JS_FreeValue(ctx, res);\n    js_free(ctx, e);\n    *pctx = ctx;\n    JS_FreeContext(ctx);',
    },
    { file: 'quickjs.c', find: '    frd->ctx = ctx;\n', replace: '    frd->ctx = JS_DupContext(ctx);\n' },
    {
      file: 'quickjs.c',
      find: '        JS_FreeValueRT(rt, frd->cb);\n        js_free_rt(rt, frd);',
      replace: '        JS_FreeValueRT(rt, frd->cb);\n        JS_FreeContext(frd->ctx);\n        js_free_rt(rt, frd);',
    },
    {
      file: 'quickjs.c',
      find: '        JS_MarkValue(rt, frd->cb, mark_func);\n',
      replace: '        JS_MarkValue(rt, frd->cb, mark_func);\n        mark_func(rt, &frd->ctx->header);\n',
    },
  ],
};
