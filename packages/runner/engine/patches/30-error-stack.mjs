export default {
  title: 'err.stack as in V8: own, lazy, with a header',
  why: `Node's library (util.inspect, assert, every internal error) and half of npm depend on V8's stacks: an own property whose text begins with
"Name: message", formatted when it is first read, after Error.prepareStackTrace as it is then. So capturing an error only notes functions
and program counters, which also makes throwing cheap; the text is made by \`cf_format_stack\` in the shim. The engine's own accessors on
Error and Error.prototype go.`,
  edits: [
    // the lazy property: a fifth kind of auto-init, which owns a captured trace
    {
      file: 'quickjs.c',
      find: '    JS_AUTOINIT_ID_BYTECODE,\n} JSAutoInitIDEnum;',
      replace: `    JS_AUTOINIT_ID_BYTECODE,
    JS_AUTOINIT_ID_STACK,
} JSAutoInitIDEnum;

/* the low bits of a context's address that hold the id (blocks are aligned to 8) */
#define JS_AUTOINIT_ID_MASK 7`,
    },
    {
      file: 'quickjs.c',
      find: '(pr->u.init.realm_and_id & ~3)',
      replace: '(pr->u.init.realm_and_id & ~(uintptr_t)JS_AUTOINIT_ID_MASK)',
    },
    {
      file: 'quickjs.c',
      find: 'return pr->u.init.realm_and_id & 3;',
      replace: 'return pr->u.init.realm_and_id & JS_AUTOINIT_ID_MASK;',
    },
    {
      file: 'quickjs.c',
      find: 'assert((pr->u.init.realm_and_id & 3) == 0);',
      replace: 'assert((pr->u.init.realm_and_id & JS_AUTOINIT_ID_MASK) == 0);',
    },
    {
      file: 'quickjs.c',
      find: `static void js_autoinit_free(JSRuntime *rt, JSProperty *pr)
{
`,
      replace: `/* a stack as it was when the error was captured */
typedef struct JSStackTraceFrame {
    JSValue func;          /* JS_UNDEFINED: the place of a syntax error */
    JSAtom filename;       /* only for such a place */
    uint32_t pc;           /* UINT32_MAX: none (C function, or position unknown) */
    int line_num, col_num; /* only for such a place */
    bool is_constructor;
    bool is_async;         /* a caller that awaits, not one that is on the stack */
} JSStackTraceFrame;

typedef struct JSStackTrace {
    int count;
    JSStackTraceFrame frames[];
} JSStackTrace;

static void js_free_stack_trace(JSRuntime *rt, JSStackTrace *st)
{
    int i;
    for (i = 0; i < st->count; i++) {
        JS_FreeValueRT(rt, st->frames[i].func);
        JS_FreeAtomRT(rt, st->frames[i].filename);
    }
    js_free_rt(rt, st);
}

/* in the shim: the value of err.stack; takes the trace's contents */
static JSValue cf_format_stack(JSContext *ctx, JSValueConst error, JSStackTrace *st);

static void js_autoinit_free(JSRuntime *rt, JSProperty *pr)
{
    if (js_autoinit_get_id(pr) == JS_AUTOINIT_ID_STACK)
        js_free_stack_trace(rt, pr->u.init.opaque);
`,
    },
    {
      file: 'quickjs.c',
      find: '    mark_func(rt, &js_autoinit_get_realm(pr)->header);\n',
      replace: `    mark_func(rt, &js_autoinit_get_realm(pr)->header);
    if (js_autoinit_get_id(pr) == JS_AUTOINIT_ID_STACK) {
        JSStackTrace *st = pr->u.init.opaque;
        int i;
        for (i = 0; i < st->count; i++)
            JS_MarkValue(rt, st->frames[i].func, mark_func);
    }
`,
    },
    {
      file: 'quickjs.c',
      find: `    realm = js_autoinit_get_realm(pr);
    func = js_autoinit_func_table[js_autoinit_get_id(pr)];
`,
      replace: `    realm = js_autoinit_get_realm(pr);
    if (js_autoinit_get_id(pr) == JS_AUTOINIT_ID_STACK) {
        /* formatting may run user code, so the property is made a plain one first */
        JSStackTrace *st = pr->u.init.opaque;
        JSValue obj = js_dup(JS_MKPTR(JS_TAG_OBJECT, p));
        prs->flags &= ~JS_PROP_TMASK;
        pr->u.value = JS_UNDEFINED;
        val = cf_format_stack(realm, obj, st);
        js_free_stack_trace(ctx->rt, st);
        JS_FreeContext(realm);
        if (!JS_IsException(val)) {
            prs = find_own_property(&pr, p, prop);
            if (prs && (prs->flags & JS_PROP_TMASK) == JS_PROP_NORMAL)
                set_value(ctx, &pr->u.value, val);
            else
                JS_FreeValue(ctx, val);
        }
        JS_FreeValue(ctx, obj);
        return JS_IsException(val) ? -1 : 0;
    }
    func = js_autoinit_func_table[js_autoinit_get_id(pr)];
`,
    },
    // capturing
    {
      file: 'quickjs.c',
      find: /\/\* Note: it is important that no exception is returned by this function \*\/\nstatic bool can_store_error_stack\([\s\S]*?\n\}\n/g,
      replace: `/* Note: it is important that no exception is returned by this function */
static bool can_store_error_stack(JSValueConst obj)
{
    JSObject *p;
    if (JS_VALUE_GET_TAG(obj) != JS_TAG_OBJECT)
        return false;
    p = JS_VALUE_GET_OBJ(obj);
    return p->class_id == JS_CLASS_ERROR && p->extensible &&
        !p->is_uncatchable_error && !find_own_property1(p, JS_ATOM_stack);
}
`,
    },
    {
      file: 'quickjs.c',
      find: /\/\* if filename != NULL, an additional level is added with the filename\n[\s\S]*?\nstatic void build_backtrace\([\s\S]*?\n\}\n/g,
      replace: `static int JS_DefineAutoInitProperty(JSContext *ctx, JSValueConst this_obj,
                                     JSAtom prop, JSAutoInitIDEnum id,
                                     void *opaque, int flags);

/* made by the shim; new predefined atoms would shift those in the engine's precompiled builtins */
static JSAtom js_atom_stack_trace_limit, js_atom_prepare_stack_trace;

/* Error.stackTraceLimit as it is now, without running any code; < 0: no stack at all */
static int js_stack_trace_limit(JSContext *ctx)
{
    JSProperty *pr;
    JSShapeProperty *prs;
    double d;

    if (!JS_IsObject(ctx->error_ctor) || js_atom_stack_trace_limit == JS_ATOM_NULL)
        return 10;
    prs = find_own_property(&pr, JS_VALUE_GET_OBJ(ctx->error_ctor), js_atom_stack_trace_limit);
    if (!prs || (prs->flags & JS_PROP_TMASK) != JS_PROP_NORMAL)
        return -1;
    if (JS_VALUE_GET_TAG(pr->u.value) == JS_TAG_INT)
        d = JS_VALUE_GET_INT(pr->u.value);
    else if (JS_TAG_IS_FLOAT64(JS_VALUE_GET_TAG(pr->u.value)))
        d = JS_VALUE_GET_FLOAT64(pr->u.value);
    else
        return -1;
    if (!(d > 0))
        return 0;
    return d < JS_STACK_TRACE_MAX ? (int)d : JS_STACK_TRACE_MAX;
}

/* if filename != NULL, an additional level is added with the filename
   and line number information (used for parse error). */
static void build_backtrace(JSContext *ctx, JSValueConst error_val,
                            JSValueConst filter_func, const char *filename,
                            int line_num, int col_num, int backtrace_flags)
{
    JSRuntime *rt = ctx->rt;
    JSStackFrame *sf, *sf_start;
    JSStackTrace *st;
    JSStackTraceFrame *f;
    JSObject *p;
    bool has_filter_func = backtrace_flags & JS_BACKTRACE_FLAG_FILTER_FUNC;
    int limit, count, skip;

    if (JS_VALUE_GET_TAG(error_val) != JS_TAG_OBJECT || rt->in_build_stack_trace)
        return;
    p = JS_VALUE_GET_OBJ(error_val);
    if (!has_filter_func && !can_store_error_stack(error_val) && !can_add_backtrace(error_val))
        return;
    limit = js_stack_trace_limit(ctx);
    if (limit < 0)
        return;

    sf_start = rt->current_stack_frame;
    if (filename && (backtrace_flags & JS_BACKTRACE_FLAG_SINGLE_LEVEL))
        sf_start = NULL;
    skip = (backtrace_flags & JS_BACKTRACE_FLAG_SKIP_FIRST_LEVEL) != 0;
    if (has_filter_func && JS_IsFunction(ctx, filter_func)) {
        /* everything above the filter function is left out too; when it is
           not on the stack nothing remains, as in V8 */
        for (sf = sf_start; sf != NULL; sf = sf->prev_frame)
            if (js_same_value(ctx, sf->cur_func, filter_func))
                break;
        sf_start = sf;
    }

    count = filename != NULL;
    for (sf = sf_start; sf != NULL && count < limit + skip; sf = sf->prev_frame)
        count++;
    st = js_malloc_rt(rt, sizeof(*st) + count * sizeof(st->frames[0]));
    if (!st)
        return;
    st->count = 0;
    if (filename && limit > 0) {
        f = &st->frames[st->count++];
        memset(f, 0, sizeof(*f));
        f->func = JS_UNDEFINED;
        f->filename = JS_NewAtom(ctx, filename);
        f->line_num = line_num;
        f->col_num = col_num;
    }
    for (sf = sf_start; sf != NULL && st->count < limit; sf = sf->prev_frame) {
        JSFunctionBytecode *b;
        if (skip) {
            skip = 0;
            continue;
        }
        f = &st->frames[st->count++];
        memset(f, 0, sizeof(*f));
        f->func = js_dup(sf->cur_func);
        f->filename = JS_ATOM_NULL;
        f->pc = UINT32_MAX;
        f->is_constructor = sf->is_constructor;
        b = JS_GetFunctionBytecode(sf->cur_func);
        if (b) {
            if (sf->cur_pc)
                f->pc = sf->cur_pc - b->byte_code_buf - 1;
            /* stop at JS_EVAL_FLAG_BACKTRACE_BARRIER */
            if (b->backtrace_barrier)
                break;
        }
    }

    JS_DeleteProperty(ctx, error_val, JS_ATOM_stack, 0);
    if (find_own_property1(p, JS_ATOM_stack) || !p->extensible) {
        js_free_stack_trace(rt, st);
        return;
    }
    /* no code may run in the middle of this: a trace is made where errors are made */
    rt->in_build_stack_trace = true;
    if (JS_DefineAutoInitProperty(ctx, error_val, JS_ATOM_stack, JS_AUTOINIT_ID_STACK, st,
                                  JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE) < 0)
        js_free_stack_trace(rt, st);
    rt->in_build_stack_trace = false;
}
`,
    },
    {
      file: 'quickjs.c',
      find: '#define JS_BACKTRACE_FLAG_SKIP_FIRST_LEVEL (1 << 0)\n',
      replace: '#define JS_STACK_TRACE_MAX 1000\n#define JS_BACKTRACE_FLAG_SKIP_FIRST_LEVEL (1 << 0)\n',
    },
    {
      file: 'quickjs.c',
      find: `    if (needs_backtrace(rt->current_exception)
    || JS_IsUndefined(ctx->error_back_trace)) {
        sf->cur_pc = pc;`,
      replace: `    if (needs_backtrace(rt->current_exception)) {
        sf->cur_pc = pc;`,
    },
    {
      file: 'quickjs.c',
      find: '                    JS_FreeValueRT(rt, ctx->error_back_trace);\n                    ctx->error_back_trace = JS_UNDEFINED;\n                    pc =',
      replace: '                    pc =',
    },
    // accessors that are now plain data properties or gone
    { file: 'quickjs.c', find: '    JS_CGETSET_DEF("stack", js_error_get_stack, js_error_set_stack ),\n', replace: '' },
    {
      file: 'quickjs.c',
      find: `    JS_CGETSET_DEF("stackTraceLimit", js_error_get_stackTraceLimit, js_error_set_stackTraceLimit ),
    JS_CGETSET_DEF("prepareStackTrace", js_error_get_prepareStackTrace, js_error_set_prepareStackTrace ),
`,
      replace: '    JS_PROP_INT32_DEF("stackTraceLimit", 10, JS_PROP_C_W_E ),\n',
    },
    { file: 'quickjs.c', find: /static JSValue js_error_get_stack\([\s\S]*?\n\}\n/g, replace: '' },
    { file: 'quickjs.c', find: /static JSValue js_error_set_stack\([\s\S]*?\n\}\n/g, replace: '' },
    {
      file: 'quickjs.c',
      find: /static JSValue js_error_get_stackTraceLimit\([\s\S]*?static JSValue js_error_set_prepareStackTrace\([\s\S]*?\n\}\n/g,
      replace: '',
    },
  ],
};
