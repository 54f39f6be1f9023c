export default {
  title: 'modules are linked by the embedder',
  why: `Node's loader decides what a specifier means, loads asynchronously and links a finished graph. So the engine must not ask for
modules while it compiles: compiling gives a module with a list of requests, the shim fills them in, and an open request at instantiation
is an error. import() goes to one hook, import.meta asks another one when it is first used, and both find their module
through the function that contains them, not by file name.`,
  edits: [
    // a request that nobody filled in is an error
    {
      file: 'quickjs.c',
      find: /\/\* return NULL in case of exception \(e\.g\. module could not be loaded\) \*\/\n[^\n]*\nstatic JSModuleDef \*js_host_resolve_imported_module\([\s\S]*?\n\}\n\nstatic JSModuleDef \*js_host_resolve_imported_module_atom\([\s\S]*?\n\}\n/g,
      replace: `static JSModuleDef *js_unlinked_request(JSContext *ctx, JSAtom module_name)
{
    JS_ThrowTypeErrorAtom(ctx, "request for '%s' is not yet fulfilled", module_name);
    return NULL;
}
`,
    },
    {
      file: 'quickjs.c',
      find: `        m1 = js_host_resolve_imported_module_atom(ctx, m->module_name,
                                                  rme->module_name,
                                                  rme->attributes);
        if (!m1)
            return -1;
        rme->module = m1;
`,
      replace: `        m1 = rme->module;
        if (!m1) {
            m->resolved = false;
            js_unlinked_request(ctx, rme->module_name);
            return -1;
        }
`,
    },
    {
      file: 'quickjs.c',
      find: `            *pm = js_host_resolve_imported_module_atom(s->ctx, m->module_name,
                                                       rme->module_name,
                                                       rme->attributes);
`,
      replace: `            *pm = js_unlinked_request(s->ctx, rme->module_name);
`,
    },
    // which module a function belongs to
    {
      file: 'quickjs.c',
      find: '    uint8_t *pc2line_buf;\n    char *source;\n} JSFunctionBytecode;',
      replace: `    uint8_t *pc2line_buf;
    char *source;
    /* counted; NULL unless the function uses import.meta or import() and
       belongs to a module */
    struct JSModuleDef *module;
} JSFunctionBytecode;`,
    },
    {
      file: 'quickjs.c',
      find: '    bool is_eval : 1; /* true if eval code */\n',
      replace:
        '    bool is_eval : 1; /* true if eval code */\n    bool uses_module : 1; /* contains import.meta or import() */\n',
    },
    {
      file: 'quickjs.c',
      find: '            emit_u8(s, OP_SPECIAL_OBJECT_IMPORT_META);\n',
      replace: '            emit_u8(s, OP_SPECIAL_OBJECT_IMPORT_META);\n            s->cur_func->uses_module = true;\n',
    },
    {
      file: 'quickjs.c',
      find: '            emit_op(s, OP_import);\n',
      replace: '            emit_op(s, OP_import);\n            s->cur_func->uses_module = true;\n',
    },
    {
      file: 'quickjs.c',
      find: '    b->backtrace_barrier = fd->backtrace_barrier;\n    b->realm = JS_DupContext(ctx);\n\n    add_gc_object(',
      replace: `    b->backtrace_barrier = fd->backtrace_barrier;
    b->realm = JS_DupContext(ctx);
    if (fd->uses_module) {
        JSFunctionDef *outer = fd;
        while (outer && !outer->module)
            outer = outer->parent;
        if (outer) {
            b->module = outer->module;
            js_dup(JS_MKPTR(JS_TAG_MODULE, b->module));
        }
    }

    add_gc_object(`,
    },
    {
      file: 'quickjs.c',
      find: `                JS_MarkValue(rt, b->cpool[i], mark_func);
            }
            if (b->realm)`,
      replace: `                JS_MarkValue(rt, b->cpool[i], mark_func);
            }
            if (b->module)
                mark_func(rt, (JSGCObjectHeader *)b->module);
            if (b->realm)`,
    },
    {
      file: 'quickjs.c',
      find: '    if (b->realm)\n        JS_FreeContext(b->realm);\n\n    JS_FreeAtomRT(rt, b->func_name);',
      replace: `    if (b->module)
        JS_FreeValueRT(rt, JS_MKPTR(JS_TAG_MODULE, b->module));
    if (b->realm)
        JS_FreeContext(b->realm);

    JS_FreeAtomRT(rt, b->func_name);`,
    },
    {
      file: 'quickjs.c',
      find: 'JSAtom JS_GetModuleName(JSContext *ctx, JSModuleDef *m)\n',
      replace: `static JSModuleDef *js_current_module(JSContext *ctx)
{
    JSStackFrame *sf = ctx->rt->current_stack_frame;
    JSFunctionBytecode *b = sf ? JS_GetFunctionBytecode(sf->cur_func) : NULL;
    return b ? b->module : NULL;
}

JSAtom JS_GetModuleName(JSContext *ctx, JSModuleDef *m)
`,
    },
    // import.meta
    {
      file: 'quickjs.c',
      find: `        obj = JS_NewObjectProto(ctx, JS_NULL);
        if (JS_IsException(obj))
            return JS_EXCEPTION;
        m->meta_obj = obj;
    }
    return js_dup(obj);
}
`,
      replace: `        obj = JS_NewObjectProto(ctx, JS_NULL);
        if (JS_IsException(obj))
            return JS_EXCEPTION;
        m->meta_obj = obj;
        if (cf_init_import_meta(ctx, m, obj) < 0)
            return JS_EXCEPTION;
    }
    return js_dup(obj);
}
`,
    },
    {
      file: 'quickjs.c',
      find: 'JSValue JS_GetImportMeta(JSContext *ctx, JSModuleDef *m)\n{',
      replace: `/* in the shim: fills a new import.meta object; < 0 on exception */
static int cf_init_import_meta(JSContext *ctx, JSModuleDef *m, JSValueConst meta);
/* in the shim: the value (or promise) an import() expression stands for */
static JSValue cf_import(JSContext *ctx, JSValueConst specifier, JSValueConst attributes, JSValueConst referrer);

JSValue JS_GetImportMeta(JSContext *ctx, JSModuleDef *m)
{`,
    },
    {
      file: 'quickjs.c',
      find: /static JSValue js_import_meta\(JSContext \*ctx\)\n\{[\s\S]*?\n\}\n/g,
      replace: `static JSValue js_import_meta(JSContext *ctx)
{
    JSModuleDef *m = js_current_module(ctx);
    if (!m)
        return JS_ThrowSyntaxError(ctx, "Cannot use 'import.meta' outside a module");
    return JS_GetImportMeta(ctx, m);
}
`,
    },
    // import()
    {
      file: 'quickjs.c',
      find: /static JSValue js_load_module_rejected\([\s\S]*?\nstatic JSValue js_dynamic_import_job\([\s\S]*?\n\}\n/g,
      replace: `static JSValue js_dynamic_import_job(JSContext *ctx,
                                     int argc, JSValueConst *argv)
{
    JSValueConst *resolving_funcs = argv;
    JSValue res, ret;
    int is_reject;

    res = cf_import(ctx, argv[3], argv[4], argv[2]);
    is_reject = JS_IsException(res);
    if (is_reject) {
        if (JS_IsUncatchableError(ctx->rt->current_exception))
            return JS_EXCEPTION;
        res = JS_GetException(ctx);
    }
    ret = JS_Call(ctx, resolving_funcs[is_reject], JS_UNDEFINED, 1, vc(&res));
    JS_FreeValue(ctx, res);
    return ret;
}
`,
    },
  ],
};
