export default {
  title: 'modules are collected',
  why: `The engine keeps every module until the context dies. A resident runner evaluates any number of them, so a module becomes an
ordinary object of the collector: counted, marked, freed with the last reference. Modules that import it, its handle, its pending evaluation
and functions of it that use import.meta or import() hold it.`,
  edits: [
    {
      file: 'quickjs.c',
      find: '    JS_GC_OBJ_TYPE_JS_CONTEXT,\n} JSGCObjectTypeEnum;',
      replace: '    JS_GC_OBJ_TYPE_JS_CONTEXT,\n    JS_GC_OBJ_TYPE_MODULE,\n} JSGCObjectTypeEnum;',
    },
    {
      file: 'quickjs.c',
      find: 'struct JSModuleDef {\n    JSAtom module_name;\n    struct list_head link;\n',
      replace: 'struct JSModuleDef {\n    JSGCObjectHeader header; /* must come first */\n    JSAtom module_name;\n',
    },
    // creation: the one reference belongs to the caller
    {
      file: 'quickjs.c',
      find: '    list_add_tail(&m->link, &ctx->loaded_modules);\n    return m;\n}\n',
      replace: '    add_gc_object(ctx->rt, &m->header, JS_GC_OBJ_TYPE_MODULE);\n    return m;\n}\n',
    },
    {
      file: 'quickjs.c',
      find: 'static JSValue JS_NewModuleValue(JSContext *ctx, JSModuleDef *m)\n{',
      replace: `static void js_release_module(JSContext *ctx, JSModuleDef *m)
{
    JS_FreeValue(ctx, JS_MKPTR(JS_TAG_MODULE, m));
}

static JSValue JS_NewModuleValue(JSContext *ctx, JSModuleDef *m)
{`,
    },
    {
      file: 'quickjs.c',
      find: 'static void js_free_module_def(JSContext *ctx, JSModuleDef *m);\n',
      replace:
        'static void js_free_module_def(JSRuntime *rt, JSModuleDef *m);\nstatic void js_release_module(JSContext *ctx, JSModuleDef *m);\n',
    },
    // marking
    {
      file: 'quickjs.c',
      find: `        JSReqModuleEntry *rme = &m->req_module_entries[i];
        JS_MarkValue(rt, rme->attributes, mark_func);
    }

    for(i = 0; i < m->export_entries_count; i++) {`,
      replace: `        JSReqModuleEntry *rme = &m->req_module_entries[i];
        JS_MarkValue(rt, rme->attributes, mark_func);
        if (rme->module)
            mark_func(rt, &rme->module->header);
    }

    for(i = 0; i < m->async_parent_modules_count; i++)
        mark_func(rt, &m->async_parent_modules[i]->header);

    for(i = 0; i < m->export_entries_count; i++) {`,
    },
    {
      file: 'quickjs.c',
      find: `    case JS_GC_OBJ_TYPE_JS_CONTEXT:
        {
            JSContext *ctx = (JSContext *)gp;
            JS_MarkContext(rt, ctx, mark_func);
        }
        break;
`,
      replace: `    case JS_GC_OBJ_TYPE_JS_CONTEXT:
        {
            JSContext *ctx = (JSContext *)gp;
            JS_MarkContext(rt, ctx, mark_func);
        }
        break;
    case JS_GC_OBJ_TYPE_MODULE:
        js_mark_module_def(rt, (JSModuleDef *)gp, mark_func);
        break;
`,
    },
    {
      file: 'quickjs.c',
      find: `    if (JS_VALUE_HAS_REF_COUNT(val)) {
        switch(JS_VALUE_GET_TAG(val)) {
        case JS_TAG_OBJECT:
        case JS_TAG_FUNCTION_BYTECODE:
            mark_func(rt, JS_VALUE_GET_PTR(val));`,
      replace: `    if (JS_VALUE_HAS_REF_COUNT(val)) {
        switch(JS_VALUE_GET_TAG(val)) {
        case JS_TAG_OBJECT:
        case JS_TAG_FUNCTION_BYTECODE:
        case JS_TAG_MODULE:
            mark_func(rt, JS_VALUE_GET_PTR(val));`,
    },
    {
      file: 'quickjs.c',
      find: `    /* modules are not seen by the GC, so we directly mark the objects
       referenced by each module */
    list_for_each(el, &ctx->loaded_modules) {
        JSModuleDef *m = list_entry(el, JSModuleDef, link);
        js_mark_module_def(rt, m, mark_func);
    }

`,
      replace: '',
    },
    {
      file: 'quickjs.c',
      find: `                           JS_MarkFunc *mark_func)
{
    int i;
    struct list_head *el;

    JS_MarkValue(rt, ctx->global_obj, mark_func);`,
      replace: `                           JS_MarkFunc *mark_func)
{
    int i;

    JS_MarkValue(rt, ctx->global_obj, mark_func);`,
    },
    // freeing
    {
      file: 'quickjs.c',
      find: `        free_function_bytecode(rt, (JSFunctionBytecode *)gp);
        break;
    default:
        abort();`,
      replace: `        free_function_bytecode(rt, (JSFunctionBytecode *)gp);
        break;
    case JS_GC_OBJ_TYPE_MODULE:
        js_free_module_def(rt, (JSModuleDef *)gp);
        break;
    default:
        abort();`,
    },
    {
      file: 'quickjs.c',
      find: `    case JS_TAG_OBJECT:
    case JS_TAG_FUNCTION_BYTECODE:
        {
            JSGCObjectHeader *p = JS_VALUE_GET_PTR(v);
            if (rt->gc_phase`,
      replace: `    case JS_TAG_OBJECT:
    case JS_TAG_FUNCTION_BYTECODE:
    case JS_TAG_MODULE:
        {
            JSGCObjectHeader *p = JS_VALUE_GET_PTR(v);
            if (rt->gc_phase`,
    },
    {
      file: 'quickjs.c',
      find: '    case JS_TAG_MODULE:\n        abort(); /* never freed here */\n        break;\n',
      replace: '',
    },
    {
      file: 'quickjs.c',
      find: `        case JS_GC_OBJ_TYPE_JS_OBJECT:
        case JS_GC_OBJ_TYPE_FUNCTION_BYTECODE:
#ifdef ENABLE_DUMPS // JS_DUMP_GC_FREE`,
      replace: `        case JS_GC_OBJ_TYPE_JS_OBJECT:
        case JS_GC_OBJ_TYPE_FUNCTION_BYTECODE:
        case JS_GC_OBJ_TYPE_MODULE:
#ifdef ENABLE_DUMPS // JS_DUMP_GC_FREE`,
    },
    {
      file: 'quickjs.c',
      find: `               JS_GC_TYPE(p) == JS_GC_OBJ_TYPE_FUNCTION_BYTECODE);
        js_free_rt(rt, p);`,
      replace: `               JS_GC_TYPE(p) == JS_GC_OBJ_TYPE_FUNCTION_BYTECODE ||
               JS_GC_TYPE(p) == JS_GC_OBJ_TYPE_MODULE);
        js_free_rt(rt, p);`,
    },
    {
      file: 'quickjs.c',
      find: /static void js_free_module_def\(JSContext \*ctx, JSModuleDef \*m\)\n\{[\s\S]*?\n\}\n/g,
      replace: `static void js_free_module_def(JSRuntime *rt, JSModuleDef *m)
{
    int i;

    JS_FreeAtomRT(rt, m->module_name);

    for(i = 0; i < m->req_module_entries_count; i++) {
        JSReqModuleEntry *rme = &m->req_module_entries[i];
        JS_FreeAtomRT(rt, rme->module_name);
        JS_FreeValueRT(rt, rme->attributes);
        if (rme->module)
            JS_FreeValueRT(rt, JS_MKPTR(JS_TAG_MODULE, rme->module));
    }
    js_free_rt(rt, m->req_module_entries);

    for(i = 0; i < m->export_entries_count; i++) {
        JSExportEntry *me = &m->export_entries[i];
        if (me->export_type == JS_EXPORT_TYPE_LOCAL)
            free_var_ref(rt, me->u.local.var_ref);
        JS_FreeAtomRT(rt, me->export_name);
        JS_FreeAtomRT(rt, me->local_name);
    }
    js_free_rt(rt, m->export_entries);

    js_free_rt(rt, m->star_export_entries);

    for(i = 0; i < m->import_entries_count; i++) {
        JSImportEntry *mi = &m->import_entries[i];
        JS_FreeAtomRT(rt, mi->import_name);
    }
    js_free_rt(rt, m->import_entries);
    for(i = 0; i < m->async_parent_modules_count; i++)
        JS_FreeValueRT(rt, JS_MKPTR(JS_TAG_MODULE, m->async_parent_modules[i]));
    js_free_rt(rt, m->async_parent_modules);

    JS_FreeValueRT(rt, m->module_ns);
    JS_FreeValueRT(rt, m->func_obj);
    JS_FreeValueRT(rt, m->eval_exception);
    JS_FreeValueRT(rt, m->meta_obj);
    JS_FreeValueRT(rt, m->promise);
    JS_FreeValueRT(rt, m->resolving_funcs[0]);
    JS_FreeValueRT(rt, m->resolving_funcs[1]);
    JS_FreeValueRT(rt, m->private_value);
    JS_FreeValueRT(rt, m->attributes);
    remove_gc_object(&m->header);
    if (rt->gc_phase == JS_GC_PHASE_REMOVE_CYCLES && JS_REF_COUNT(m) != 0) {
        list_add_tail(&m->header.link, &rt->gc_zero_ref_count_list);
    } else {
        js_free_rt(rt, m);
    }
}
`,
    },
    // the list of all modules is gone, and with it what walked it
    {
      file: 'quickjs.c',
      find: /\/\* XXX: would be more efficient with separate module lists \*\/\nstatic void js_free_modules\([\s\S]*?\n\}\n/g,
      replace: '',
    },
    { file: 'quickjs.c', find: '    js_free_modules(ctx, JS_FREE_MODULE_ALL);\n', replace: '' },
    {
      file: 'quickjs.c',
      find: '            js_free_modules(ctx, JS_FREE_MODULE_NOT_RESOLVED);\n            return -1;\n',
      replace: '            return -1;\n',
    },
    {
      file: 'quickjs.c',
      find: /\n        list_for_each\(el1, &ctx->loaded_modules\) \{[\s\S]*?\n        \}\n/g,
      replace: '\n        (void)el1;\n',
    },
    {
      file: 'quickjs.c',
      find: /static JSModuleDef \*js_find_loaded_module\(JSContext \*ctx, JSAtom name,[\s\S]*?\nstatic JSModuleDef \*js_find_loaded_module_by_name[\s\S]*?\n\}\n/g,
      replace: '',
    },
    // a strong reference to whoever waits for an asynchronous dependency
    {
      file: 'quickjs.c',
      find: 'm1->async_parent_modules[m1->async_parent_modules_count++] = m;',
      replace: 'm1->async_parent_modules[m1->async_parent_modules_count++] = m;\n            js_dup(JS_MKPTR(JS_TAG_MODULE, m));',
    },
    // compiling
    {
      file: 'quickjs.c',
      find: '        if (js_resolve_module(ctx, m) < 0)\n            goto fail1;\n        fun_obj = JS_NewModuleValue(ctx, m);',
      replace: '        fun_obj = JS_MKPTR(JS_TAG_MODULE, m);',
    },
    {
      file: 'quickjs.c',
      find: '    /* XXX: should free all the unresolved dependencies */\n    if (m)\n        js_free_module_def(ctx, m);\n',
      replace: '    if (m)\n        js_release_module(ctx, m);\n',
    },
    {
      file: 'quickjs.c',
      find: `        /* the module refcount should be >= 2 */
        JS_FreeValue(ctx, fun_obj);
        if (js_create_module_function(ctx, m) < 0)
            goto fail;
        if (js_link_module(ctx, m) < 0)
            goto fail;
        ret_val = js_evaluate_module(ctx, m);
        if (JS_IsException(ret_val)) {
        fail:
            return JS_EXCEPTION;
        }`,
      replace: `        ret_val = JS_EXCEPTION;
        if (js_resolve_module(ctx, m) >= 0 &&
            js_create_module_function(ctx, m) >= 0 &&
            js_link_module(ctx, m) >= 0)
            ret_val = js_evaluate_module(ctx, m);
        JS_FreeValue(ctx, fun_obj);`,
    },
    // reading compiled modules back is not used; the path must only stay correct
    {
      file: 'quickjs.c',
      find: '    obj = js_dup(JS_MKPTR(JS_TAG_MODULE, m));\n',
      replace: '    obj = JS_MKPTR(JS_TAG_MODULE, m);\n',
    },
    { file: 'quickjs.c', find: '        goto fail;\n    obj = JS_NewModuleValue(ctx, m);\n', replace: '        goto fail;\n' },
    {
      file: 'quickjs.c',
      find: ' fail:\n    if (m) {\n        js_free_module_def(ctx, m);\n    }\n',
      replace: ' fail:\n    if (m)\n        js_release_module(ctx, m);\n',
    },
  ],
};
