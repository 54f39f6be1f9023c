/* "object.method is not a function": the engine knows only that something is no function. The place of the call is known, and the program's
   source while it runs, so the name is read there, as V8 prints it from its syntax tree. */

static bool cf_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '#' || (c & 0x80);
}

/* Where the bracket that closes at `at` opens; NULL when it does not. */
static const char *cf_opening(const char *begin, const char *at)
{
    int depth = 0;
    for (; at >= begin; at--) {
        if (*at == ')' || *at == ']')
            depth++;
        else if ((*at == '(' || *at == '[') && --depth == 0)
            return at;
        else if (*at == '\n' || *at == '"' || *at == '\'' || *at == '`')
            return NULL;
    }
    return NULL;
}

/* Writes the expression that ends before `end` into `out`, backwards from its end: words, dots, brackets, calls as (...). */
static bool cf_put_callee(DynBuf *out, const char *begin, const char *end)
{
    const char *at = end;

    if (at > begin && at[-1] == ')') {
        const char *open = cf_opening(begin, at - 1);
        if (!open || open == begin || !cf_put_callee(out, begin, open))
            return false;
        return !dbuf_putstr(out, "(...)");
    }
    if (at > begin && at[-1] == ']') {
        const char *open = cf_opening(begin, at - 1);
        if (!open || !cf_put_callee(out, begin, open))
            return false;
        return !dbuf_put(out, (const uint8_t *)open, end - open);
    }
    while (at > begin && cf_is_word(at[-1]))
        at--;
    if (at == end)
        return false;
    const char *dot = at;
    if (dot > begin && dot[-1] == '.') {
        dot--;
        if (dot > begin && dot[-1] == '?')
            dot--;
        if (!cf_put_callee(out, begin, dot)) {
            out->size = 0;
            dbuf_putstr(out, "(intermediate value)");
        }
    }
    return !dbuf_put(out, (const uint8_t *)dot, end - dot);
}

/* The text of what is called at a place of a source, or false. */
static bool cf_callee_text(DynBuf *out, CfText source, int line, int col, bool constructor)
{
    CfText text = cf_line_of(source, line);
    const char *at = text.bytes + col - 1, *stop = text.bytes + text.len, *end;

    if (col < 1 || at >= stop)
        return false;
    if (constructor && stop - at > 4 && !memcmp(at, "new", 3)) {
        at += 3;
        while (at < stop && *at == ' ')
            at++;
        for (end = at; end < stop && (cf_is_word(*end) || *end == '.'); end++)
            ;
        return end > at && !dbuf_put(out, (const uint8_t *)at, end - at);
    }
    for (end = at; end < stop && cf_is_word(*end); end++)
        ;
    return cf_put_callee(out, text.bytes, end);
}

static JSValue cf_throw_not_callable(JSContext *ctx, bool constructor)
{
    const char *what = constructor ? "constructor" : "function";
    JSStackFrame *sf = ctx->rt->current_stack_frame;
    JSFunctionBytecode *b = sf ? JS_GetFunctionBytecode(sf->cur_func) : NULL;
    JSValue result;
    DynBuf out;

    if (!b || !sf->cur_pc)
        return JS_ThrowTypeError(ctx, "%s is not a %s", "value", what);
    js_dbuf_init(ctx, &out);
    const char *url = JS_AtomToCString(ctx, b->filename);
    CfText *source = url ? cf_source_named(url, strlen(url)) : NULL;
    int col, line = find_line_num(ctx, b, sf->cur_pc - b->byte_code_buf - 1, &col);
    if (!source || !cf_callee_text(&out, *source, line, col, constructor) || out.size > 200) {
        out.size = 0;
        dbuf_putstr(&out, "(intermediate value)");
    }
    result = JS_ThrowTypeError(ctx, "%.*s is not a %s", (int)out.size, out.buf ? (char *)out.buf : "", what);
    JS_FreeCString(ctx, url);
    dbuf_free(&out);
    return result;
}

static JSValue cf_throw_not_integer(JSContext *ctx, double value)
{
    JSValue text = JS_ToString(ctx, js_number(value));
    const char *chars = JS_ToCString(ctx, text);
    JSValue result = !chars ? JS_EXCEPTION
        : JS_ThrowRangeError(ctx, "The number %s cannot be converted to a BigInt because it is not an integer", chars);
    JS_FreeCString(ctx, chars);
    JS_FreeValue(ctx, text);
    return result;
}

static JSValue cf_throw_not_iterable(JSContext *ctx, JSValueConst value)
{
    const char *chars;
    JSValue result;

    if (JS_IsFunction(ctx, value))
        return JS_ThrowTypeError(ctx, "function is not iterable");
    if (JS_IsObject(value) || JS_IsSymbol(value))
        return JS_ThrowTypeError(ctx, "object is not iterable (cannot read property Symbol(Symbol.iterator))");
    chars = JS_ToCString(ctx, value);
    result = chars ? JS_ThrowTypeError(ctx, "%.100s is not iterable", chars) : JS_EXCEPTION;
    JS_FreeCString(ctx, chars);
    return result;
}
