// Edits of quickjs.c.
const quick = (find, replace, count = 1) => ({ file: 'quickjs.c', find, replace, count });

export default {
  title: "promise hooks at V8's points",
  why: `async_hooks needs a call for every promise that is made or settled and around every reaction. The engine has a hook, but calls it only around jobs of
thenables and when a promise is fulfilled. Here, as in V8: before and after every reaction, with the promise that the reaction settles; for an await, which
settles none, with one that is made for the hook alone; and when a promise is fulfilled or rejected. Settling one again is told to
the tracker of rejections. Nothing is made and nothing is called while no hook is set.`,
  edits: [
    quick(
      'static JSValue promise_reaction_job(JSContext *ctx, int argc,\n                                    JSValueConst *argv)\n{',
      `/* in the shim */
static void cf_promise_settled_again(JSContext *ctx, JSValueConst promise, JSValueConst value, bool is_reject);

static inline void js_call_promise_hook(JSContext *ctx, JSPromiseHookType type, JSValueConst promise)
{
    JSRuntime *rt = ctx->rt;
    if (unlikely(rt->promise_hook != NULL) && !JS_IsUndefined(promise))
        rt->promise_hook(ctx, type, promise, JS_UNDEFINED, rt->promise_hook_opaque);
}

/* the promise that a reaction settles, from its first resolving function; for an await that promise itself */
static JSValueConst js_reaction_promise(JSValueConst resolve)
{
    if (JS_VALUE_GET_TAG(resolve) == JS_TAG_OBJECT) {
        JSObject *p = JS_VALUE_GET_OBJ(resolve);
        if (p->class_id == JS_CLASS_PROMISE)
            return resolve;
        if (p->class_id == JS_CLASS_PROMISE_RESOLVE_FUNCTION && p->u.promise_function_data)
            return p->u.promise_function_data->promise;
    }
    return JS_UNDEFINED;
}

static JSValue promise_reaction_job1(JSContext *ctx, int argc, JSValueConst *argv);

static JSValue promise_reaction_job(JSContext *ctx, int argc, JSValueConst *argv)
{
    JSValue res;
    JSValueConst promise = js_reaction_promise(argv[0]);

    js_call_promise_hook(ctx, JS_PROMISE_HOOK_BEFORE, promise);
    res = promise_reaction_job1(ctx, argc, argv);
    if (JS_IsException(res))
        return res;
    /* as if an await's promise were settled by what the handler returned */
    if (!JS_IsUndefined(promise) && JS_VALUE_GET_PTR(promise) == JS_VALUE_GET_PTR(argv[0]))
        js_call_promise_hook(ctx, JS_PROMISE_HOOK_RESOLVE, promise);
    js_call_promise_hook(ctx, JS_PROMISE_HOOK_AFTER, promise);
    return res;
}

static JSValue promise_reaction_job1(JSContext *ctx, int argc,
                                     JSValueConst *argv)
{`,
    ),
    quick(
      '    func = argv[is_reject];\n    /* as an extension',
      '    func = argv[is_reject];\n    if (JS_VALUE_GET_TAG(argv[0]) == JS_TAG_OBJECT && JS_VALUE_GET_OBJ(argv[0])->class_id == JS_CLASS_PROMISE)\n        func = JS_UNDEFINED;\n    /* as an extension',
    ),
    quick(
      `    if (s->promise_state == JS_PROMISE_FULFILLED) {
        JSRuntime *rt = ctx->rt;
        if (rt->promise_hook) {
            rt->promise_hook(ctx, JS_PROMISE_HOOK_RESOLVE, promise,
                             JS_UNDEFINED, rt->promise_hook_opaque);
        }
    }

`,
      '    js_call_promise_hook(ctx, JS_PROMISE_HOOK_RESOLVE, promise);\n\n',
    ),
    quick(
      `    if (!s || s->presolved->already_resolved)
        return JS_UNDEFINED;
    s->presolved->already_resolved = true;
    is_reject = p->class_id - JS_CLASS_PROMISE_RESOLVE_FUNCTION;
    if (argc > 0)
        resolution = argv[0];
    else
        resolution = JS_UNDEFINED;
`,
      `    if (!s)
        return JS_UNDEFINED;
    is_reject = p->class_id - JS_CLASS_PROMISE_RESOLVE_FUNCTION;
    if (argc > 0)
        resolution = argv[0];
    else
        resolution = JS_UNDEFINED;
    if (s->presolved->already_resolved) {
        if (ctx->rt->host_promise_rejection_tracker)
            cf_promise_settled_again(ctx, s->promise, resolution, is_reject);
        return JS_UNDEFINED;
    }
    s->presolved->already_resolved = true;
`,
    ),
    quick(
      `    rd_array[0] = NULL;
    rd_array[1] = NULL;
    for(i = 0; i < 2; i++) {
        JSValueConst handler;
        rd = js_mallocz(ctx, sizeof(*rd));`,
      `    JSValue awaiting[2] = { JS_UNDEFINED, JS_UNDEFINED };
    if (unlikely(ctx->rt->promise_hook != NULL) && JS_IsUndefined(cap_resolving_funcs[0])) {
        JSValue funcs[2];
        JSValueLink link = { ctx->rt->parent_promise, promise };
        ctx->rt->parent_promise = &link;
        awaiting[0] = js_promise_new(ctx, JS_UNDEFINED, funcs);
        ctx->rt->parent_promise = link.next;
        if (JS_IsException(awaiting[0]))
            return -1;
        JS_FreeValue(ctx, funcs[0]);
        JS_FreeValue(ctx, funcs[1]);
        cap_resolving_funcs = vc(awaiting);
    }
    rd_array[0] = NULL;
    rd_array[1] = NULL;
    for(i = 0; i < 2; i++) {
        JSValueConst handler;
        rd = js_mallocz(ctx, sizeof(*rd));`,
    ),
    quick(
      `            if (i == 1)
                promise_reaction_data_free(ctx->rt, rd_array[0]);
            return -1;
        }
        for(j = 0; j < 2; j++)
            rd->resolving_funcs[j] = js_dup(cap_resolving_funcs[j]);`,
      `            if (i == 1)
                promise_reaction_data_free(ctx->rt, rd_array[0]);
            JS_FreeValue(ctx, awaiting[0]);
            return -1;
        }
        for(j = 0; j < 2; j++)
            rd->resolving_funcs[j] = js_dup(cap_resolving_funcs[j]);`,
    ),
    quick(
      '        rd->async_context = js_dup(ctx->rt->async_context);\n        rd_array[i] = rd;\n    }\n',
      '        rd->async_context = js_dup(ctx->rt->async_context);\n        rd_array[i] = rd;\n    }\n    JS_FreeValue(ctx, awaiting[0]);\n',
    ),
    // the promise made for an awaited value has the function's own promise as its cause
    quick(
      `            promise = js_promise_resolve(ctx, ctx->promise_ctor,
                                         1, vc(&value), 0);
            JS_FreeValue(ctx, value);
            if (JS_IsException(promise))
                goto fail;`,
      `            if (unlikely(ctx->rt->promise_hook != NULL)) {
                JSValueLink link = { ctx->rt->parent_promise, js_reaction_promise(s->resolving_funcs[0]) };
                ctx->rt->parent_promise = &link;
                promise = js_promise_resolve(ctx, ctx->promise_ctor, 1, vc(&value), 0);
                ctx->rt->parent_promise = link.next;
            } else {
                promise = js_promise_resolve(ctx, ctx->promise_ctor,
                                             1, vc(&value), 0);
            }
            JS_FreeValue(ctx, value);
            if (JS_IsException(promise))
                goto fail;`,
    ),
    quick(
      'static bool js_async_function_resume(JSContext *ctx, JSAsyncFunctionData *s)\n{\n    bool is_success',
      'static JSValueConst js_reaction_promise(JSValueConst resolve);\n\nstatic bool js_async_function_resume(JSContext *ctx, JSAsyncFunctionData *s)\n{\n    bool is_success',
    ),
    quick(
      'static __exception int perform_promise_then(JSContext *ctx,\n                                            JSValueConst promise,\n                                            JSValueConst *resolve_reject,\n                                            JSValueConst *cap_resolving_funcs)\n{',
      'static JSValue js_promise_new(JSContext *ctx, JSValueConst new_target, JSValue *resolving_funcs);\n\nstatic __exception int perform_promise_then(JSContext *ctx,\n                                            JSValueConst promise,\n                                            JSValueConst *resolve_reject,\n                                            JSValueConst *cap_resolving_funcs)\n{',
    ),
  ],
};
