// Edits of quickjs.c.
const quick = (find, replace, count = 1) => ({ file: 'quickjs.c', find, replace, count });

export default {
  title: 'receivers and awaiting callers in stacks, and columns in UTF-16 units',
  why: `A frame of V8 names its receiver ("at Foo.bar", "at Array.map (<anonymous>)"), and below the frames that are on the stack it shows who awaits them ("at
async main", "at async Promise.all (index 0)"). So a frame remembers \`this\` (one store for each call), and a captured trace goes on from the function
or reaction that the job queue called, along promises with one reaction. Columns count what a program counts: UTF-16 units, not bytes.`,
  edits: [
    // this
    quick(
      '    bool is_constructor; /* true if invoked as a constructor (new) */\n',
      '    bool is_constructor; /* true if invoked as a constructor (new) */\n    JSValueConst this_val; /* the caller holds it */\n',
    ),
    quick(
      '    sf->is_constructor = (flags & JS_CALL_FLAG_CONSTRUCTOR) != 0;\n    sf->cur_func = unsafe_unconst(func_obj);\n    sf->arg_count = argc;\n    ret = s->func(ctx, this_val,',
      '    sf->is_constructor = (flags & JS_CALL_FLAG_CONSTRUCTOR) != 0;\n    sf->this_val = this_val;\n    sf->cur_func = unsafe_unconst(func_obj);\n    sf->arg_count = argc;\n    ret = s->func(ctx, this_val,',
      2,
    ),
    quick(
      '    sf->is_constructor = (flags & JS_CALL_FLAG_CONSTRUCTOR) != 0;\n    sf->cur_func = unsafe_unconst(func_obj);\n    sf->arg_count = argc;\n    arg_buf = argv;',
      '    sf->is_constructor = (flags & JS_CALL_FLAG_CONSTRUCTOR) != 0;\n    sf->this_val = this_obj;\n    sf->cur_func = unsafe_unconst(func_obj);\n    sf->arg_count = argc;\n    arg_buf = argv;',
    ),
    quick(
      '    sf->is_constructor = (flags & JS_CALL_FLAG_CONSTRUCTOR) != 0;\n    arg_buf = (JSValue *)argv;',
      '    sf->is_constructor = (flags & JS_CALL_FLAG_CONSTRUCTOR) != 0;\n    sf->this_val = this_obj;\n    arg_buf = (JSValue *)argv;',
    ),
    quick(
      '    s->this_val = js_dup(this_obj);\n    s->argc = argc;\n',
      '    s->this_val = js_dup(this_obj);\n    sf->this_val = s->this_val;\n    s->argc = argc;\n',
    ),
    // the captured trace
    quick(
      '    bool is_async;         /* a caller that awaits, not one that is on the stack */\n',
      `    bool is_async;         /* a caller that awaits, not one that is on the stack */
    const char *combinator; /* "all": func is undefined, and Promise.all awaits its element pc */
    JSValue receiver;
`,
    ),
    quick(
      '        JS_FreeValueRT(rt, st->frames[i].func);\n',
      '        JS_FreeValueRT(rt, st->frames[i].func);\n        JS_FreeValueRT(rt, st->frames[i].receiver);\n',
    ),
    quick(
      '        for (i = 0; i < st->count; i++)\n            JS_MarkValue(rt, st->frames[i].func, mark_func);\n',
      '        for (i = 0; i < st->count; i++) {\n            JS_MarkValue(rt, st->frames[i].func, mark_func);\n            JS_MarkValue(rt, st->frames[i].receiver, mark_func);\n        }\n',
    ),
    quick(
      '/* if filename != NULL, an additional level is added with the filename\n   and line number information (used for parse error). */\nstatic void build_backtrace(',
      `typedef struct JSAwaiter {
    JSValueConst func, receiver;
    uint32_t pc;
    const char *combinator;
} JSAwaiter;

#define JS_AWAITERS_MAX 32

static int js_collect_awaiters(JSContext *ctx, const JSStackFrame *bottom, JSAwaiter *awaiters, int max);

/* if filename != NULL, an additional level is added with the filename
   and line number information (used for parse error). */
static void build_backtrace(`,
    ),
    quick(
      '    int limit, count, skip;\n\n    if (JS_VALUE_GET_TAG(error_val) != JS_TAG_OBJECT || rt->in_build_stack_trace)',
      '    int limit, count, skip, awaiter_count = 0;\n    JSAwaiter awaiters[JS_AWAITERS_MAX];\n    JSStackFrame *bottom = NULL;\n\n    if (JS_VALUE_GET_TAG(error_val) != JS_TAG_OBJECT || rt->in_build_stack_trace)',
    ),
    quick(
      '    for (sf = sf_start; sf != NULL && count < limit + skip; sf = sf->prev_frame)\n        count +=',
      '    for (sf = sf_start; sf != NULL && count < limit + skip; bottom = sf, sf = sf->prev_frame)\n        count +=',
    ),
    quick(
      '    st = js_malloc_rt(rt, sizeof(*st) + count * sizeof(st->frames[0]));\n',
      `    if (bottom && !sf && count - skip < limit) {
        awaiter_count = js_collect_awaiters(ctx, bottom, awaiters, min_int(limit - count + skip, JS_AWAITERS_MAX));
        count += awaiter_count;
    }
    st = js_malloc_rt(rt, sizeof(*st) + count * sizeof(st->frames[0]));
`,
    ),
    quick(
      '        f->func = JS_UNDEFINED;\n        f->filename = JS_NewAtom(ctx, filename);',
      '        f->func = JS_UNDEFINED;\n        f->receiver = JS_UNDEFINED;\n        f->filename = JS_NewAtom(ctx, filename);',
    ),
    quick(
      '        f->is_constructor = sf->is_constructor;\n        b = JS_GetFunctionBytecode(sf->cur_func);',
      '        f->is_constructor = sf->is_constructor;\n        f->receiver = js_dup(sf->this_val);\n        b = JS_GetFunctionBytecode(sf->cur_func);',
    ),
    quick(
      `    JS_DeleteProperty(ctx, error_val, JS_ATOM_stack, 0);
    if (find_own_property1(p, JS_ATOM_stack) || !p->extensible) {`,
      `    for (int i = 0; i < awaiter_count; i++) {
        f = &st->frames[st->count++];
        memset(f, 0, sizeof(*f));
        f->func = js_dup(awaiters[i].func);
        f->receiver = js_dup(awaiters[i].receiver);
        f->filename = JS_ATOM_NULL;
        f->pc = awaiters[i].pc;
        f->combinator = awaiters[i].combinator;
        f->is_async = true;
    }

    JS_DeleteProperty(ctx, error_val, JS_ATOM_stack, 0);
    if (find_own_property1(p, JS_ATOM_stack) || !p->extensible) {`,
    ),
    // who awaits
    quick(
      '    JSValue async_context; /* the current one */\n',
      '    JSValue async_context; /* the current one */\n    JSValueConst job_promise; /* what the running reaction settles, or undefined */\n',
    ),
    quick(
      '    rt->async_context = JS_UNDEFINED;\n',
      '    rt->async_context = JS_UNDEFINED;\n    rt->job_promise = JS_UNDEFINED;\n',
    ),
    quick(
      '    res = promise_reaction_job1(ctx, argc, argv);\n',
      `    {
        JSValueConst outer = ctx->rt->job_promise;
        ctx->rt->job_promise = promise;
        res = promise_reaction_job1(ctx, argc, argv);
        ctx->rt->job_promise = outer;
    }
`,
    ),
    quick(
      'static JSValue js_promise_all(JSContext *ctx, JSValueConst this_val,\n                              int argc, JSValueConst *argv, int magic)\n{',
      `static int js_collect_awaiters(JSContext *ctx, const JSStackFrame *bottom, JSAwaiter *awaiters, int max)
{
    JSFunctionBytecode *b = JS_GetFunctionBytecode(bottom->cur_func);
    JSValueConst promise = ctx->rt->job_promise;
    int count = 0, steps;

    if (b && b->func_kind == JS_FUNC_ASYNC && bottom->cur_gc_obj)
        promise = js_reaction_promise(((JSAsyncFunctionData *)bottom->cur_gc_obj)->resolving_funcs[0]);
    for (steps = 0; count < max && steps < 100; steps++) {
        JSPromiseData *s = JS_IsObject(promise) ? JS_GetOpaque(promise, JS_CLASS_PROMISE) : NULL;
        JSPromiseReactionData *rd;
        JSObject *p;

        if (!s || s->promise_state != JS_PROMISE_PENDING || list_empty(&s->promise_reactions[0]) ||
            s->promise_reactions[0].next->next != &s->promise_reactions[0])
            break;
        rd = list_entry(s->promise_reactions[0].next, JSPromiseReactionData, link);
        promise = js_reaction_promise(rd->resolving_funcs[0]);
        if (JS_VALUE_GET_TAG(rd->handler) != JS_TAG_OBJECT)
            continue;
        p = JS_VALUE_GET_OBJ(rd->handler);
        if (p->class_id == JS_CLASS_ASYNC_FUNCTION_RESOLVE) {
            JSAsyncFunctionData *d = p->u.async_function_data;
            if (!d || !d->is_active)
                break;
            b = JS_GetFunctionBytecode(d->func_state.frame.cur_func);
            promise = js_reaction_promise(d->resolving_funcs[0]);
            if (!b || js_is_host_file(ctx->rt, b->filename))
                continue;
            awaiters[count++] = (JSAwaiter){ d->func_state.frame.cur_func, d->func_state.this_val,
                                             d->func_state.frame.cur_pc - b->byte_code_buf - 1, NULL };
        } else if (p->class_id == JS_CLASS_PROMISE_RESOLVE_FUNCTION) {
            promise = js_reaction_promise(rd->handler);
        } else if (p->class_id == JS_CLASS_C_FUNCTION_DATA) {
            static const char *const names[] = { "all", "allSettled", "any" };
            JSCFunctionDataRecord *record = JS_GetOpaque(rd->handler, JS_CLASS_C_FUNCTION_DATA);
            if (record && record->func == js_promise_all_resolve_element && (record->magic & 3) < 3) {
                awaiters[count++] = (JSAwaiter){ JS_UNDEFINED, JS_UNDEFINED, JS_VALUE_GET_INT(record->data[1]), names[record->magic & 3] };
                promise = js_reaction_promise(record->data[3]);
            }
        }
    }
    return count;
}

static JSValue js_promise_all(JSContext *ctx, JSValueConst this_val,
                              int argc, JSValueConst *argv, int magic)
{`,
    ),
    // what V8 does within the caller
    quick(
      '        p->u.cfunc.c_function.generic == js_reflect_apply ||\n',
      '        p->u.cfunc.c_function.generic == js_reflect_apply ||\n        p->u.cfunc.c_function.generic == js_reflect_construct ||\n        p->u.cfunc.c_function.generic == js_regexp_Symbol_replace ||\n',
    ),
    quick(
      'static JSValue js_reflect_apply(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv);\n\nstatic bool js_is_host_file',
      `static JSValue js_reflect_apply(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv);
static JSValue js_reflect_construct(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv);
static JSValue js_regexp_Symbol_replace(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv);

static bool js_is_host_file`,
    ),
    // columns
    quick(
      '    const uint8_t *mark; // first token character, invariant: eol < mark\n',
      `    const uint8_t *mark; // first token character, invariant: eol < mark
    /* up to column_at, the line at column_line has column_extra more bytes than UTF-16 units */
    const uint8_t *column_line, *column_at;
    int column_extra;
`,
    ),
    quick(
      'int JS_PRINTF_FORMAT_ATTR(2, 3) js_parse_error(JSParseState *s,',
      `/* 1-based; tokens come in order, or a little way back, so each byte is looked at about once */
static int js_column(JSParseState *s, const uint8_t *line_start, const uint8_t *at)
{
    const uint8_t *p;
    if (at < line_start)
        return 1;
    if (s->column_line != line_start) {
        s->column_line = s->column_at = line_start;
        s->column_extra = 0;
    }
    for (p = s->column_at; p < at; p++)
        s->column_extra += ((*p & 0xc0) == 0x80) - (*p >= 0xf0);
    while (p > at) {
        p--;
        s->column_extra -= ((*p & 0xc0) == 0x80) - (*p >= 0xf0);
    }
    s->column_at = at;
    return (int)(at - line_start) - s->column_extra + 1;
}

int JS_PRINTF_FORMAT_ATTR(2, 3) js_parse_error(JSParseState *s,`,
    ),
    quick(
      '        err_col_num = (int)(s->token.ptr - s->token.line_start) + 1;',
      '        err_col_num = js_column(s, s->token.line_start, s->token.ptr);',
    ),
    quick(
      '    s->token.col_num = (int)(s->token.ptr - s->token.line_start) + 1;',
      '    s->token.col_num = js_column(s, s->token.line_start, s->token.ptr);',
    ),
    quick('                (int)(s->token.ptr - s->line_start) + 1;', '                s->token.col_num;'),
  ],
};
