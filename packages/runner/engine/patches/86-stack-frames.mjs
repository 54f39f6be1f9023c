export default {
  title: 'which frames a stack shows',
  why: `V8 leaves out what is no frame of a program: functions of C++ (here: files named coldframe:, and natives that they call), tail calls through call, apply and
Reflect.apply, and, for an error made by a subclass, its constructors. Node counts on it: its own errors are classes, and its library calls through
\`uncurryThis\`. Without this ten frames would be five.`,
  edits: [
    {
      file: 'quickjs.c',
      find: `/* Error.stackTraceLimit as it is now, without running any code; < 0: no stack at all */
`,
      replace: `static JSValue js_function_apply(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv, int magic);
static JSValue js_function_call(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv);
static JSValue js_reflect_apply(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv);

static bool js_is_host_file(JSRuntime *rt, JSAtom filename)
{
    static const char prefix[] = "coldframe:";
    JSAtomStruct *p;
    if (filename == JS_ATOM_NULL || __JS_AtomIsTaggedInt(filename))
        return false;
    p = rt->atom_array[filename];
    return !p->is_wide_char && p->len >= sizeof(prefix) - 1 && !memcmp(str8(p), prefix, sizeof(prefix) - 1);
}

static bool js_is_host_frame(JSRuntime *rt, const JSStackFrame *sf)
{
    JSFunctionBytecode *b = sf ? JS_GetFunctionBytecode(sf->cur_func) : NULL;
    return b && js_is_host_file(rt, b->filename);
}

static bool js_is_hidden_frame(JSRuntime *rt, const JSStackFrame *sf)
{
    JSObject *p;
    if (js_is_host_frame(rt, sf))
        return true;
    if (JS_VALUE_GET_TAG(sf->cur_func) != JS_TAG_OBJECT)
        return false;
    p = JS_VALUE_GET_OBJ(sf->cur_func);
    if (p->class_id == JS_CLASS_C_FUNCTION_DATA)
        return js_is_host_frame(rt, sf->prev_frame);
    if (p->class_id != JS_CLASS_C_FUNCTION)
        return false;
    return p->u.cfunc.c_function.generic == js_function_call ||
        p->u.cfunc.c_function.generic == js_reflect_apply ||
        p->u.cfunc.c_function.generic_magic == js_function_apply ||
        js_is_host_frame(rt, sf->prev_frame);
}

/* Error.stackTraceLimit as it is now, without running any code; < 0: no stack at all */
`,
    },
    {
      file: 'quickjs.c',
      find: `    for (sf = sf_start; sf != NULL && count < limit + skip; sf = sf->prev_frame)
        count++;
`,
      replace: `    for (sf = sf_start; sf != NULL && count < limit + skip; sf = sf->prev_frame)
        count += (skip && sf == sf_start) || !js_is_hidden_frame(rt, sf);
`,
    },
    {
      file: 'quickjs.c',
      find: `        if (skip) {
            skip = 0;
            continue;
        }
        f = &st->frames[st->count++];
`,
      replace: `        if (skip) {
            skip = 0;
            continue;
        }
        if (js_is_hidden_frame(rt, sf))
            continue;
        f = &st->frames[st->count++];
`,
    },
    {
      file: 'quickjs.c',
      find: `    /* skip the Error() function in the backtrace */
    build_backtrace(ctx, obj, JS_UNDEFINED, NULL, 0, 0, JS_BACKTRACE_FLAG_SKIP_FIRST_LEVEL);
    return obj;
 exception:`,
      replace: `    return obj;
 exception:`,
    },
    {
      // first, because V8's errors have their own property \`stack\` before \`message\`
      file: 'quickjs.c',
      find: `    obj = JS_NewObjectProtoClass(ctx, proto, JS_CLASS_ERROR);
    JS_FreeValue(ctx, proto);
    if (JS_IsException(obj))
        return obj;
    switch (magic) {`,
      replace: `    obj = JS_NewObjectProtoClass(ctx, proto, JS_CLASS_ERROR);
    JS_FreeValue(ctx, proto);
    if (JS_IsException(obj))
        return obj;
    /* skip the Error() function in the backtrace, and a subclass with everything below it */
    if (is_subclass)
        build_backtrace(ctx, obj, new_target, NULL, 0, 0, JS_BACKTRACE_FLAG_FILTER_FUNC | JS_BACKTRACE_FLAG_SKIP_FIRST_LEVEL);
    else
        build_backtrace(ctx, obj, JS_UNDEFINED, NULL, 0, 0, JS_BACKTRACE_FLAG_SKIP_FIRST_LEVEL);
    switch (magic) {`,
    },
    {
      file: 'quickjs.c',
      find: `    JSValueConst message;
    int present, opts;

    if (JS_IsUndefined(new_target))
        new_target = JS_GetActiveFunction(ctx);
    proto = `,
      replace: `    JSValueConst message;
    int present, opts;
    bool is_subclass = false;

    if (JS_IsUndefined(new_target))
        new_target = JS_GetActiveFunction(ctx);
    else
        is_subclass = !js_same_value(ctx, new_target, JS_GetActiveFunction(ctx));
    proto = `,
    },
  ],
};
