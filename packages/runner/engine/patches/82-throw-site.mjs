export default {
  title: 'where a value was thrown, and where a module awaits',
  why: `V8 reports an uncaught error with the line of its throw statement, which is not where the error was made, and of a value that is no error there is
nothing else. So \`throw\` notes the value, its function and its program counter; the shim turns that into a place only when an error is reported. For
"unsettled top-level await" the same is noted when a module's own function stops at an await.`,
  edits: [
    {
      file: 'quickjs.c',
      find: '    JSValue async_context; /* the current one */\n};',
      replace: `    JSValue async_context; /* the current one */
    /* the last throw statement */
    JSValue throw_value, throw_func;
    uint32_t throw_pc;
    /* the last await of a module's own function */
    JSValue await_func;
    uint32_t await_pc;
};

/* Drops what is noted: it must not keep objects alive across processes. */
static void js_forget_sites(JSRuntime *rt)
{
    JSValue values[3] = { rt->throw_value, rt->throw_func, rt->await_func };
    int i;
    rt->throw_value = rt->throw_func = rt->await_func = JS_UNDEFINED;
    for (i = 0; i < 3; i++)
        JS_FreeValueRT(rt, values[i]);
}`,
    },
    {
      file: 'quickjs.c',
      find: '    rt->async_context = JS_UNDEFINED;\n\n    return rt;',
      replace:
        '    rt->async_context = JS_UNDEFINED;\n    rt->throw_value = rt->throw_func = rt->await_func = JS_UNDEFINED;\n\n    return rt;',
    },
    {
      file: 'quickjs.c',
      find: `        CASE(OP_throw):
            JS_Throw(ctx, *--sp);
            goto exception;`,
      replace: `        CASE(OP_throw):
            {
                JSRuntime *rt1 = ctx->rt;
                JSValue old_value = rt1->throw_value, old_func = rt1->throw_func;
                /* after a finally block the same value is thrown on: it keeps its place */
                bool again = pc - b->byte_code_buf > 5 && pc[-6] == OP_gosub && js_same_value(ctx, old_value, sp[-1]);
                if (!again) {
                    rt1->throw_value = js_dup(sp[-1]);
                    rt1->throw_func = js_dup(sf->cur_func);
                    rt1->throw_pc = pc - b->byte_code_buf - 1;
                    JS_FreeValue(ctx, old_value);
                    JS_FreeValue(ctx, old_func);
                }
            }
            JS_Throw(ctx, *--sp);
            goto exception;`,
    },
    {
      file: 'quickjs.c',
      find: `            /* await */
            JS_FreeValue(ctx, func_ret); /* not used */
`,
      replace: `            /* await */
            JS_FreeValue(ctx, func_ret); /* not used */
            {
                JSStackFrame *sf = &s->func_state.frame;
                JSFunctionBytecode *b = JS_GetFunctionBytecode(sf->cur_func);
                if (b && b->func_name == JS_ATOM__eval_ && sf->cur_pc) {
                    set_value(ctx, &ctx->rt->await_func, js_dup(sf->cur_func));
                    ctx->rt->await_pc = sf->cur_pc - b->byte_code_buf - 1;
                }
            }
`,
    },
  ],
};
