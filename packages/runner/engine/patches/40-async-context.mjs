export default {
  title: 'the async context slot',
  why: `AsyncLocalStorage in Node 24 needs one value that V8 calls ContinuationPreservedEmbedderData: whatever it was when a callback was
registered must be current while that callback runs. A promise reaction takes it when \`then\` or \`await\` registers it, any other job when it is
queued; running a job sets it and puts the old one back.`,
  edits: [
    {
      file: 'quickjs.c',
      find: '    JSJobFunc *job_func;\n    int argc;\n    JSValue argv[];\n} JSJobEntry;',
      replace: '    JSJobFunc *job_func;\n    JSValue async_context;\n    int argc;\n    JSValue argv[];\n} JSJobEntry;',
    },
    {
      file: 'quickjs.c',
      find: '    JSRuntimeFinalizerState *finalizers;\n};',
      replace: '    JSRuntimeFinalizerState *finalizers;\n    JSValue async_context; /* the current one */\n};',
    },
    {
      file: 'quickjs.c',
      find: '    rt->current_exception = JS_UNINITIALIZED;\n\n    return rt;',
      replace: '    rt->current_exception = JS_UNINITIALIZED;\n    rt->async_context = JS_UNDEFINED;\n\n    return rt;',
    },
    {
      file: 'quickjs.c',
      find: '    e->job_func = job_func;\n    e->argc = argc;\n',
      replace: '    e->job_func = job_func;\n    e->async_context = js_dup(rt->async_context);\n    e->argc = argc;\n',
    },
    {
      file: 'quickjs.c',
      find: '    res = e->job_func(e->ctx, e->argc, vc(e->argv));\n',
      replace: `    {
        JSValue outer = rt->async_context;
        rt->async_context = e->async_context;
        res = e->job_func(e->ctx, e->argc, vc(e->argv));
        /* the job may have replaced it */
        JS_FreeValueRT(rt, rt->async_context);
        rt->async_context = outer;
    }
`,
    },
    {
      file: 'quickjs.c',
      find: `        for(i = 0; i < e->argc; i++)
            JS_FreeValueRT(rt, e->argv[i]);
`,
      replace: `        for(i = 0; i < e->argc; i++)
            JS_FreeValueRT(rt, e->argv[i]);
        JS_FreeValueRT(rt, e->async_context);
`,
    },
    // promise reactions
    {
      file: 'quickjs.c',
      find: '    JSValue resolving_funcs[2];\n    JSValue handler;\n} JSPromiseReactionData;',
      replace: '    JSValue resolving_funcs[2];\n    JSValue handler;\n    JSValue async_context;\n} JSPromiseReactionData;',
    },
    {
      file: 'quickjs.c',
      find: '    JS_FreeValueRT(rt, rd->handler);\n    js_free_rt(rt, rd);',
      replace: '    JS_FreeValueRT(rt, rd->handler);\n    JS_FreeValueRT(rt, rd->async_context);\n    js_free_rt(rt, rd);',
    },
    {
      file: 'quickjs.c',
      find: '            JS_MarkValue(rt, rd->handler, mark_func);\n',
      replace:
        '            JS_MarkValue(rt, rd->handler, mark_func);\n            JS_MarkValue(rt, rd->async_context, mark_func);\n',
    },
    {
      file: 'quickjs.c',
      find: '        rd->handler = js_dup(handler);\n        rd_array[i] = rd;\n',
      replace:
        '        rd->handler = js_dup(handler);\n        rd->async_context = js_dup(ctx->rt->async_context);\n        rd_array[i] = rd;\n',
    },
    {
      file: 'quickjs.c',
      find: '        args[4] = value;\n        JS_EnqueueJob(ctx, promise_reaction_job, 5, args);\n',
      replace: `        args[4] = value;
        {
            JSValue outer = ctx->rt->async_context;
            ctx->rt->async_context = rd->async_context;
            JS_EnqueueJob(ctx, promise_reaction_job, 5, args);
            ctx->rt->async_context = outer;
        }
`,
    },
  ],
};
