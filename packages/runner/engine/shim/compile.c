/* Compiles text: function bodies with parameters (Node's builtins and CommonJS) and scripts. The
   bootstrap decides whether functions keep their source text. modules.c compiles ES modules. */

/* Returns the source as NUL-terminated UTF-8. Throws a TypeError if the value is no string. */
static const char *cf_source(JSContext *ctx, JSValueConst value, size_t *len)
{
    if (!JS_IsString(value)) {
        JS_ThrowTypeError(ctx, "the source must be a string");
        return NULL;
    }
    return JS_ToCStringLen(ctx, len, value);
}

static int cf_int_option(JSContext *ctx, JSValueConst options, const char *name, int *out)
{
    *out = 0;
    if (!JS_IsObject(options))
        return 0;
    JSValue value = JS_GetPropertyStr(ctx, options, name);
    return JS_IsUndefined(value) ? 0 : JS_ToInt32Free(ctx, out, value);
}

static int cf_line_option(JSContext *ctx, JSValueConst options, int *line)
{
    return cf_int_option(ctx, options, "line", line);
}

static bool cf_bool_option(JSContext *ctx, JSValueConst options, const char *name)
{
    if (!JS_IsObject(options))
        return false;
    return JS_ToBoolFree(ctx, JS_GetPropertyStr(ctx, options, name)) > 0;
}

/* Compiles `text` as a script and does not run the script. `line` is the line of the first
   character. */
static JSValue cf_compile(JSContext *ctx, const char *text, size_t len, const char *filename, int line)
{
    return JS_EvalInternal(ctx, ctx->global_obj, text, len, filename, line,
                           JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_COMPILE_ONLY, -1);
}

/* Appends "(function (a,b) {\n" + source + "\n})". The first line of the result has a smaller
   line number than the source's first line, so that positions in the source are right. */
static int cf_wrap_function(JSContext *ctx, DynBuf *out, JSValueConst params, int scopes, const char *source, size_t len)
{
    int64_t count = 0;

    dbuf_putstr(out, "(function (");
    /* With scopes, the result is a function that returns the compiled function from inside
       nested `with` statements. The last scope is the innermost scope. */
    if (scopes) {
        dbuf_putstr(out, ") { ");
        for (int i = 0; i < scopes; i++)
            dbuf_printf(out, "with (arguments[%d] ?? {}) ", i);
        dbuf_putstr(out, "return function (");
    }
    if (!JS_IsUndefined(params) && js_get_length64(ctx, &count, params))
        return -1;
    for (int64_t i = 0; i < count; i++) {
        JSValue name = JS_GetPropertyInt64(ctx, params, i);
        const char *text = JS_ToCString(ctx, name);
        JS_FreeValue(ctx, name);
        if (!text)
            return -1;
        if (i)
            dbuf_putc(out, ',');
        dbuf_putstr(out, text);
        JS_FreeCString(ctx, text);
    }
    dbuf_putstr(out, ") {\n");
    if (len > 1 && source[0] == '#' && source[1] == '!')
        dbuf_putstr(out, "//");
    dbuf_put(out, (const uint8_t *)source, len);
    dbuf_putstr(out, scopes ? "\n}})" : "\n})");
    dbuf_putc(out, 0);
    if (dbuf_error(out)) {
        JS_ThrowOutOfMemory(ctx);
        return -1;
    }
    return 0;
}

/* Returns whether the wrapped text is one function that ends where the text ends. A source with an
   extra brace could close the wrapper. */
static bool cf_is_one_function(JSValueConst program, size_t text_len)
{
    JSFunctionBytecode *b = JS_VALUE_GET_PTR(program);
    if (b->cpool_count != 1 || JS_VALUE_GET_TAG(b->cpool[0]) != JS_TAG_FUNCTION_BYTECODE)
        return false;
    b = JS_VALUE_GET_PTR(b->cpool[0]);
    return !b->source || (size_t)b->source_len == text_len - 2;
}

/* compileFunction(source, filename, params, options): returns a function whose body is `source` */
NATIVE(cf_compile_function)
{
    size_t len;
    int line, scopes = 0;
    DynBuf text;
    JSContext *realm = cf_option_context(ctx, argv[3]);
    JSValue result = JS_EXCEPTION;
    const char *source = NULL, *filename = NULL;

    if (!realm)
        return JS_EXCEPTION;
    js_dbuf_init(ctx, &text);
    if (cf_line_option(ctx, argv[3], &line) || cf_int_option(ctx, argv[3], "scopes", &scopes))
        goto done;
    source = cf_source(ctx, argv[0], &len);
    filename = source ? JS_ToCString(ctx, argv[1]) : NULL;
    if (!filename || cf_wrap_function(ctx, &text, argv[2], scopes, source, len))
        goto done;
    result = cf_compile(realm, (char *)text.buf, text.size - 1, filename, line);
    if (JS_IsException(result))
        goto done;
    if (!cf_is_one_function(result, text.size - 1)) {
        JS_FreeValue(ctx, result);
        result = JS_ThrowSyntaxError(realm, "Unexpected token '}'");
        goto done;
    }
    result = JS_EvalFunction(realm, result);
done:
    dbuf_free(&text);
    JS_FreeCString(ctx, filename);
    JS_FreeCString(ctx, source);
    return result;
}

static JSValue cf_compile_script_value(JSContext *ctx, JSValueConst *argv)
{
    size_t len;
    int line;
    JSValue result = JS_EXCEPTION;

    JSContext *realm = cf_option_context(ctx, argv[2]);
    if (!realm || cf_line_option(ctx, argv[2], &line))
        return result;
    const char *source = cf_source(ctx, argv[0], &len);
    const char *filename = source ? JS_ToCString(ctx, argv[1]) : NULL;
    if (filename)
        result = cf_compile(realm, source, len, filename, line + 1);
    JS_FreeCString(ctx, filename);
    JS_FreeCString(ctx, source);
    return result;
}

/* evalScript(source, filename, options): runs a script. Returns the script's completion value.
   With the option `compileOnly`, only compiles the script and returns undefined. */
NATIVE(cf_eval_script)
{
    bool compile_only = cf_bool_option(ctx, argv[2], "compileOnly");
    JSValue program = cf_compile_script_value(ctx, argv);
    if (JS_IsException(program))
        return program;
    if (compile_only) {
        JS_FreeValue(ctx, program);
        return JS_UNDEFINED;
    }
    return JS_EvalFunction(ctx, program);
}

static JSValue cf_run_script(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv, int magic, JSValueConst *data)
{
    JSFunctionBytecode *b = JS_VALUE_GET_PTR(data[0]);
    return JS_EvalFunction(b->realm, js_dup(data[0]));
}

/* compileScript(source, filename, options): returns a function that runs the script */
NATIVE(cf_compile_script)
{
    JSValue program = cf_compile_script_value(ctx, argv);
    if (JS_IsException(program))
        return program;
    JSValue fn = JS_NewCFunctionData(ctx, cf_run_script, 0, 0, 1, vc(&program));
    JS_FreeValue(ctx, program);
    return fn;
}

NATIVE(cf_set_strip)
{
    js_strip_source = JS_ToBool(ctx, argv[0]) > 0;
    return JS_UNDEFINED;
}

static JSValue cf_call_uncurried(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv, int magic,
                                 JSValueConst *data)
{
    return JS_Call(ctx, data[0], argc > 0 ? argv[0] : JS_UNDEFINED, argc > 0 ? argc - 1 : 0, argv + 1);
}

NATIVE(cf_uncurry_this)
{
    if (!JS_IsFunction(ctx, argv[0]))
        return JS_ThrowTypeError(ctx, "uncurryThis: expected a function");
    return JS_NewCFunctionData(ctx, cf_call_uncurried, 0, 0, 1, argv);
}

NATIVE(cf_is_constructor)
{
    return js_bool(JS_IsConstructor(ctx, argv[0]));
}
