// Edits of quickjs.c.
const quick = (find, replace, count = 1) => ({ file: 'quickjs.c', find, replace, count });

export default {
  title: 'what a WeakRef gives lives to the end of the job',
  why: `A program that has made a WeakRef, or got its target from deref, may count on the target until its job ends. The engine counts references and frees at
once what only a WeakRef knows: \`new WeakRef({}).deref()\` would be undefined. So both note the target, and the shim drops the notes when the queue of jobs
has run empty. A target of the image needs no note.`,
  edits: [
    quick(
      '    JSValue async_context; /* the current one */\n',
      `    JSValue async_context; /* the current one */
    JSValue *kept_alive; /* targets of WeakRefs, until the jobs are done */
    int kept_count, kept_size;
`,
    ),
    quick(
      'static JSValue js_weakref_constructor(JSContext *ctx, JSValueConst new_target,\n',
      `static void js_keep_alive(JSRuntime *rt, JSValueConst target)
{
    void *p = JS_VALUE_GET_PTR(target);
    if (JS_IS_FROZEN(p) || (rt->kept_count && JS_VALUE_GET_PTR(rt->kept_alive[rt->kept_count - 1]) == p))
        return;
    if (rt->kept_count == rt->kept_size) {
        int size = rt->kept_size ? rt->kept_size * 2 : 16;
        JSValue *grown = js_realloc_rt(rt, rt->kept_alive, size * sizeof(grown[0]));
        if (!grown)
            return;
        rt->kept_alive = grown;
        rt->kept_size = size;
    }
    rt->kept_alive[rt->kept_count++] = js_dup(target);
}

static void js_clear_kept_alive(JSRuntime *rt)
{
    JSValue *kept = rt->kept_alive;
    int i, count = rt->kept_count;
    rt->kept_alive = NULL;
    rt->kept_count = rt->kept_size = 0;
    for (i = 0; i < count; i++)
        JS_FreeValueRT(rt, kept[i]);
    js_free_rt(rt, kept);
}

static JSValue js_weakref_constructor(JSContext *ctx, JSValueConst new_target,
`,
    ),
    quick(
      '    insert_weakref_record(arg, wr);\n\n    JS_SetOpaqueInternal(obj, wrd);\n',
      '    insert_weakref_record(arg, wr);\n    js_keep_alive(ctx->rt, arg);\n\n    JS_SetOpaqueInternal(obj, wrd);\n',
    ),
    quick(
      '        return JS_UNDEFINED;\n    return js_dup(wrd->target);\n',
      '        return JS_UNDEFINED;\n    js_keep_alive(ctx->rt, wrd->target);\n    return js_dup(wrd->target);\n',
    ),
  ],
};
