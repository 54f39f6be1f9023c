/* Natives that only Node's library needs: the tests of util.types, lazy properties, tasks of the
   loop, and positions in the program's source. The patch `throw-site` records the positions in
   the engine. */

/* Types. */

enum {
    IS_ARGUMENTS_OBJECT, IS_ARRAY_BUFFER, IS_ASYNC_FUNCTION, IS_BIGINT_OBJECT, IS_BOOLEAN_OBJECT, IS_DATA_VIEW,
    IS_DATE, IS_EXTERNAL, IS_GENERATOR_FUNCTION, IS_GENERATOR_OBJECT, IS_MAP, IS_MAP_ITERATOR,
    IS_MODULE_NAMESPACE_OBJECT, IS_NATIVE_ERROR, IS_NUMBER_OBJECT, IS_PROMISE, IS_PROXY, IS_REGEXP, IS_SET,
    IS_SET_ITERATOR, IS_SHARED_ARRAY_BUFFER, IS_STRING_OBJECT, IS_SYMBOL_OBJECT, IS_WEAK_MAP, IS_WEAK_SET,
    IS_ANY_ARRAY_BUFFER, IS_BOXED_PRIMITIVE, IS_COUNT
};

static const char *const cf_type_names[IS_COUNT] = {
    "isArgumentsObject", "isArrayBuffer", "isAsyncFunction", "isBigIntObject", "isBooleanObject", "isDataView",
    "isDate", "isExternal", "isGeneratorFunction", "isGeneratorObject", "isMap", "isMapIterator",
    "isModuleNamespaceObject", "isNativeError", "isNumberObject", "isPromise", "isProxy", "isRegExp", "isSet",
    "isSetIterator", "isSharedArrayBuffer", "isStringObject", "isSymbolObject", "isWeakMap", "isWeakSet",
    "isAnyArrayBuffer", "isBoxedPrimitive",
};

static bool cf_is_type(JSClassID c, int type)
{
    switch (type) {
    case IS_ARGUMENTS_OBJECT: return c == JS_CLASS_ARGUMENTS || c == JS_CLASS_MAPPED_ARGUMENTS;
    case IS_ARRAY_BUFFER: return c == JS_CLASS_ARRAY_BUFFER;
    case IS_ASYNC_FUNCTION: return c == JS_CLASS_ASYNC_FUNCTION || c == JS_CLASS_ASYNC_GENERATOR_FUNCTION;
    case IS_BIGINT_OBJECT: return c == JS_CLASS_BIG_INT;
    case IS_BOOLEAN_OBJECT: return c == JS_CLASS_BOOLEAN;
    case IS_DATA_VIEW: return c == JS_CLASS_DATAVIEW;
    case IS_DATE: return c == JS_CLASS_DATE;
    case IS_EXTERNAL: return false;
    case IS_GENERATOR_FUNCTION: return c == JS_CLASS_GENERATOR_FUNCTION || c == JS_CLASS_ASYNC_GENERATOR_FUNCTION;
    case IS_GENERATOR_OBJECT: return c == JS_CLASS_GENERATOR || c == JS_CLASS_ASYNC_GENERATOR;
    case IS_MAP: return c == JS_CLASS_MAP;
    case IS_MAP_ITERATOR: return c == JS_CLASS_MAP_ITERATOR;
    case IS_MODULE_NAMESPACE_OBJECT: return c == JS_CLASS_MODULE_NS;
    case IS_NATIVE_ERROR: return c == JS_CLASS_ERROR;
    case IS_NUMBER_OBJECT: return c == JS_CLASS_NUMBER;
    case IS_PROMISE: return c == JS_CLASS_PROMISE;
    case IS_PROXY: return c == JS_CLASS_PROXY;
    case IS_REGEXP: return c == JS_CLASS_REGEXP;
    case IS_SET: return c == JS_CLASS_SET;
    case IS_SET_ITERATOR: return c == JS_CLASS_SET_ITERATOR;
    case IS_SHARED_ARRAY_BUFFER: return c == JS_CLASS_SHARED_ARRAY_BUFFER;
    case IS_STRING_OBJECT: return c == JS_CLASS_STRING;
    case IS_SYMBOL_OBJECT: return c == JS_CLASS_SYMBOL;
    case IS_WEAK_MAP: return c == JS_CLASS_WEAKMAP;
    case IS_WEAK_SET: return c == JS_CLASS_WEAKSET;
    case IS_ANY_ARRAY_BUFFER: return c == JS_CLASS_ARRAY_BUFFER || c == JS_CLASS_SHARED_ARRAY_BUFFER;
    case IS_BOXED_PRIMITIVE:
        return c == JS_CLASS_NUMBER || c == JS_CLASS_STRING || c == JS_CLASS_BOOLEAN || c == JS_CLASS_SYMBOL ||
            c == JS_CLASS_BIG_INT;
    default: return false;
    }
}

static JSValue cf_type_test(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv, int type)
{
    if (JS_VALUE_GET_TAG(argv[0]) != JS_TAG_OBJECT)
        return JS_FALSE;
    return js_bool(cf_is_type(JS_VALUE_GET_OBJ(argv[0])->class_id, type));
}

static JSValue cf_new_types(JSContext *ctx)
{
    JSValue types = JS_NewObjectProto(ctx, JS_NULL);
    for (int i = 0; i < IS_COUNT; i++)
        JS_SetPropertyStr(ctx, types, cf_type_names[i],
                          JS_NewCFunctionMagic(ctx, cf_type_test, cf_type_names[i], 1, JS_CFUNC_generic_magic, i));
    return types;
}

/* Lazy properties. */

/* defineLazyProperty(object, key, make, enumerable = true): defines a property whose value is
   the result of `make`, which is called at the first access */
NATIVE(cf_define_lazy_property)
{
    bool enumerable = argc < 4 || JS_IsUndefined(argv[3]) || JS_ToBool(ctx, argv[3]);
    int flags = JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE | (enumerable ? JS_PROP_ENUMERABLE : 0);
    JSAtom key;
    int result;

    if (!JS_IsObject(argv[0]) || !JS_IsFunction(ctx, argv[2]))
        return JS_ThrowTypeError(ctx, "defineLazyProperty: expected (object, key, function)");
    key = JS_ValueToAtom(ctx, argv[1]);
    if (key == JS_ATOM_NULL)
        return JS_EXCEPTION;
    result = JS_DeleteProperty(ctx, argv[0], key, JS_PROP_THROW);
    if (result >= 0)
        result = JS_DefineAutoInitProperty(ctx, argv[0], key, JS_AUTOINIT_ID_CALL,
                                           JS_VALUE_GET_OBJ(js_dup(argv[2])), flags);
    JS_FreeAtom(ctx, key);
    return result < 0 ? JS_EXCEPTION : JS_UNDEFINED;
}

/* Tasks of the loop. */

typedef struct CfTask {
    struct CfTask *next;
    JSValue function, async_context;
} CfTask;

static CfTask *cf_tasks_first, **cf_tasks_last = &cf_tasks_first;

/* enqueueTask(fn): runs `fn` once in the next round of the loop */
NATIVE(cf_enqueue_task)
{
    CfTask *task;

    if (!JS_IsFunction(ctx, argv[0]))
        return JS_ThrowTypeError(ctx, "enqueueTask: expected a function");
    task = js_malloc(ctx, sizeof(*task));
    if (!task)
        return JS_EXCEPTION;
    *task = (CfTask){ .function = js_dup(argv[0]), .async_context = js_dup(ctx->rt->async_context) };
    *cf_tasks_last = task;
    cf_tasks_last = &task->next;
    cf.state.keep_alive++;
    return JS_UNDEFINED;
}

static void cf_drop_task(JSContext *ctx, CfTask *task)
{
    JS_FreeValue(ctx, task->function);
    JS_FreeValue(ctx, task->async_context);
    js_free(ctx, task);
}

/* Runs the waiting tasks. A task that is added meanwhile waits for the next round. Returns
   whether a task ran. */
static bool cf_run_tasks(JSContext *ctx)
{
    CfTask *task = cf_tasks_first;
    bool any = task != NULL;

    cf_tasks_first = NULL;
    cf_tasks_last = &cf_tasks_first;
    while (task) {
        CfTask *next = task->next;
        cf.state.keep_alive--;
        if (!cf.stop) {
            set_value(ctx, &ctx->rt->async_context, js_dup(task->async_context));
            JSValue result = JS_Call(ctx, task->function, JS_UNDEFINED, 0, NULL);
            set_value(ctx, &ctx->rt->async_context, JS_UNDEFINED);
            if (JS_IsException(result))
                cf_report_exception(ctx, false);
            JS_FreeValue(ctx, result);
            cf_drain(ctx);
        }
        cf_drop_task(ctx, task);
        task = next;
    }
    return any;
}

/* Positions. */

static JSValue cf_place(JSContext *ctx, JSValueConst func, uint32_t pc)
{
    JSFunctionBytecode *b = JS_IsObject(func) ? JS_GetFunctionBytecode(func) : NULL;
    int line, col;

    if (!b)
        return JS_UNDEFINED;
    line = find_line_num(ctx, b, pc, &col);
    JSValue values[3] = { JS_AtomToString(ctx, b->filename), js_int32(line), js_int32(col) };
    return cf_array(ctx, 3, values);
}

/* throwLocation(error): returns [file, line, column] of the `throw` statement that last threw this
   value, or undefined */
NATIVE(cf_throw_location)
{
    JSRuntime *rt = ctx->rt;
    if (!js_same_value(ctx, rt->throw_value, argv[0]))
        return JS_UNDEFINED;
    return cf_place(ctx, rt->throw_func, rt->throw_pc);
}

/* awaitLocation(): returns [file, line, column] of the top-level await at which a module last
   stopped, or undefined */
NATIVE(cf_await_location)
{
    return cf_place(ctx, ctx->rt->await_func, ctx->rt->await_pc);
}

/* The text of the running evaluation, for error reports. The text is kept until the next
   evaluation. */
static CfText cf_eval_source;
static char cf_eval_url[300];

static void cf_note_eval(JSContext *ctx, char *text, size_t len, const char *url)
{
    js_free(ctx, (char *)cf_eval_source.bytes);
    cf_eval_source = (CfText){ text, len };
    snprintf(cf_eval_url, sizeof(cf_eval_url), "%s", url);
}

static CfText *cf_source_named(const char *url, size_t len)
{
    if (cf_eval_source.bytes && !strcmp(url, cf_eval_url))
        return &cf_eval_source;
    return len == cf.url.len && !memcmp(url, cf.url.bytes, len) ? &cf.source : NULL;
}

/* sourceOf(url): returns the text of the running program or evaluation with this URL, or
   undefined */
NATIVE(cf_source_of)
{
    size_t len;
    const char *url = JS_ToCStringLen(ctx, &len, argv[0]);
    CfText *source;

    if (!url)
        return JS_EXCEPTION;
    source = cf_source_named(url, len);
    JS_FreeCString(ctx, url);
    return source ? cf_text_value(ctx, *source) : JS_UNDEFINED;
}

/* Returns the text of line `number` of a source. */
static CfText cf_line_of(CfText source, int number)
{
    const char *at = source.bytes, *end = at + source.len, *stop;
    while (--number > 0 && at < end) {
        at = memchr(at, '\n', end - at);
        at = at ? at + 1 : end;
    }
    stop = at < end ? memchr(at, '\n', end - at) : NULL;
    return (CfText){ at, (stop ? stop : end) - at };
}

/* Prints Node's warning about a program whose top-level await can never settle: the position, the
   line and a caret. */
static void cf_warn_unsettled(JSContext *ctx)
{
    JSFunctionBytecode *b = JS_IsObject(ctx->rt->await_func) ? JS_GetFunctionBytecode(ctx->rt->await_func) : NULL;
    const char *url = b ? JS_AtomToCString(ctx, b->filename) : NULL;
    DynBuf out;

    js_dbuf_init(ctx, &out);
    dbuf_putstr(&out, "Warning: Detected unsettled top-level await at ");
    if (url) {
        int col, number = find_line_num(ctx, b, ctx->rt->await_pc, &col);
        CfText *source = cf_source_named(url, strlen(url));
        dbuf_printf(&out, "%s:%d\n", url, number);
        if (source) {
            CfText line = cf_line_of(*source, number);
            dbuf_put(&out, (const uint8_t *)line.bytes, line.len);
            dbuf_putc(&out, '\n');
        }
        for (int i = 1; i < col; i++)
            dbuf_putc(&out, ' ');
        dbuf_putstr(&out, "^\n\n\n");
    } else {
        dbuf_put(&out, (const uint8_t *)cf.url.bytes, cf.url.len);
    }
    dbuf_putc(&out, '\n');
    cf_write_all(2, out.buf, out.size);
    dbuf_free(&out);
    JS_FreeCString(ctx, url);
}

/* Registration, and the state that a start resets. */

static const struct {
    const char *name;
    JSCFunction *function;
    int length;
} cf_node_natives[] = {
    { "defineLazyProperty", cf_define_lazy_property, 4 }, { "enqueueTask", cf_enqueue_task, 1 },
    { "throwLocation", cf_throw_location, 1 }, { "awaitLocation", cf_await_location, 0 }, { "sourceOf", cf_source_of, 1 },
};

static double cf_milestones[8];

/* natives.c */
static JSValue cf_shared_array(JSContext *ctx, void *memory, size_t bytes, JSTypedArrayEnum type);

static void cf_add_node_natives(JSContext *ctx, JSValueConst native, JSValueConst loop)
{
    for (size_t i = 0; i < countof(cf_node_natives); i++)
        JS_SetPropertyStr(ctx, native, cf_node_natives[i].name,
                          JS_NewCFunction(ctx, cf_node_natives[i].function, cf_node_natives[i].name, cf_node_natives[i].length));
    JS_SetPropertyStr(ctx, native, "types", cf_new_types(ctx));
    JS_SetPropertyStr(ctx, loop, "milestones",
                      cf_shared_array(ctx, cf_milestones, sizeof(cf_milestones), JS_TYPED_ARRAY_FLOAT64));
}

static void cf_start_node(JSContext *ctx)
{
    cf_milestones[0] = cf.time_origin_wall_ms * 1e3;
    for (size_t i = 1; i < countof(cf_milestones); i++)
        cf_milestones[i] = cf.time_origin_ns;
    js_forget_sites(ctx->rt);
    cf_note_eval(ctx, NULL, 0, "");
    while (cf_tasks_first) {
        CfTask *task = cf_tasks_first;
        cf_tasks_first = task->next;
        cf_drop_task(ctx, task);
    }
    cf_tasks_last = &cf_tasks_first;
}
