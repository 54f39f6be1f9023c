/* V8's messages for texts that cannot be parsed (regular expressions, JSON) and for values that
   cannot be written as JSON. Next: the patch `range-and-pattern-texts`, whose throw sites call
   these functions. */

/* The engine's messages for an invalid pattern, each with V8's message. */
static const struct { const char *engine, *v8; } cf_regexp_texts[] = {
    { "expecting ')'", "Unterminated group" },
    { "extraneous characters at the end", "Unmatched ')'" },
    { "nothing to repeat", "Nothing to repeat" },
    { "syntax error", "Nothing to repeat" },
    { "duplicate group name", "Duplicate capture group name" },
    { "invalid group name", "Invalid capture group name" },
    { "group name not defined", "Invalid named capture referenced" },
    { "invalid class range", "Range out of order in character class" },
    { "invalid repetition count", "numbers out of order in {} quantifier" },
    { "unknown unicode property name", "Invalid property name" },
    { "unknown unicode property value", "Invalid property name" },
    { "unknown unicode script", "Invalid property name" },
    { "unknown unicode general category", "Invalid property name" },
    { "invalid group", "Invalid group" },
    { "invalid escape sequence in regular expression", "Invalid escape" },
    { "back reference out of range in regular expression", "Invalid escape" },
    { "unexpected end", "Unterminated group" },
    { "expecting ']'", "Unterminated character class" },
    { "unexpected end of regexp", "\\ at end of pattern" },
    { "too many captures", "Too many captures" },
    { "out of stack", "Regular expression too large" },
    { "stack overflow", "Regular expression too large" },
};

static bool cf_ends_in_class(const char *pattern, size_t len)
{
    bool inside = false;
    for (size_t i = 0; i < len; i++) {
        if (pattern[i] == '\\')
            i++;
        else if (pattern[i] == '[')
            inside = true;
        else if (pattern[i] == ']')
            inside = false;
    }
    return inside;
}

static JSValue cf_throw_regexp(JSContext *ctx, JSValueConst pattern, int flags, const char *engine)
{
    static const struct { int flag; char name; } names[] = {
        { LRE_FLAG_INDICES, 'd' }, { LRE_FLAG_GLOBAL, 'g' }, { LRE_FLAG_IGNORECASE, 'i' }, { LRE_FLAG_MULTILINE, 'm' },
        { LRE_FLAG_DOTALL, 's' }, { LRE_FLAG_UNICODE, 'u' }, { LRE_FLAG_UNICODE_SETS, 'v' }, { LRE_FLAG_STICKY, 'y' },
    };
    const char *text = engine;
    size_t len = 0;
    const char *chars = JS_ToCStringLen(ctx, &len, pattern);
    DynBuf out;

    for (size_t i = 0; i < countof(cf_regexp_texts); i++)
        if (!strcmp(cf_regexp_texts[i].engine, engine))
            text = cf_regexp_texts[i].v8;
    if (chars && !strcmp(engine, "unexpected end")) {
        size_t slashes = 0;
        while (slashes < len && chars[len - 1 - slashes] == '\\')
            slashes++;
        if (cf_ends_in_class(chars, len))
            text = "Unterminated character class";
        else if (slashes & 1)
            text = "\\ at end of pattern";
    }
    if (chars && (flags & (LRE_FLAG_UNICODE | LRE_FLAG_UNICODE_SETS)) && !strcmp(text, "Invalid escape") &&
        memmem(chars, len, "\\u", 2))
        text = "Invalid Unicode escape";
    js_dbuf_init(ctx, &out);
    dbuf_printf(&out, "Invalid regular expression: /");
    dbuf_put(&out, (const uint8_t *)(chars ? chars : ""), len);
    dbuf_putc(&out, '/');
    for (size_t i = 0; i < countof(names); i++)
        if (flags & names[i].flag)
            dbuf_putc(&out, names[i].name);
    dbuf_printf(&out, ": %s", text);
    JS_FreeCString(ctx, chars);
    return cf_throw_text(ctx, JS_SYNTAX_ERROR, &out);
}

/* Returns the place `chars` code points after `at`, within [begin, end]. A negative number means
   code points before `at`. */
static const uint8_t *cf_walk_chars(const uint8_t *begin, const uint8_t *end, const uint8_t *at, int chars)
{
    for (; chars < 0 && at > begin; chars++)
        do
            at--;
        while (at > begin && (*at & 0xc0) == 0x80);
    for (; chars > 0 && at < end; chars--)
        do
            at++;
        while (at < end && (*at & 0xc0) == 0x80);
    return at;
}

#define CF_JSON_CONTEXT 10

/* Throws V8's error for a JSON text with an unexpected character at `at`. */
static int cf_throw_json(JSParseState *s, const uint8_t *at)
{
    static const char *const words[] = { "true", "false", "null" };
    static const char *const special[] = { "undefined", "NaN", "Infinity", "[object Object]" };
    const uint8_t *begin = s->buf_start, *end = s->buf_end, *from, *to;
    DynBuf out;

    for (size_t i = 0; i < countof(words); i++) {
        if (at < end && *at == (uint8_t)words[i][0]) {
            for (const char *w = words[i]; *w && at < end && *at == (uint8_t)*w; w++)
                at++;
            break;
        }
    }
    js_dbuf_init(s->ctx, &out);
    if (at >= end) {
        dbuf_putstr(&out, "Unexpected end of JSON input");
        cf_throw_text(s->ctx, JS_SYNTAX_ERROR, &out);
        return -1;
    }
    for (size_t i = 0; i < countof(special); i++) {
        if (strlen(special[i]) == (size_t)(end - begin) && !memcmp(begin, special[i], end - begin)) {
            dbuf_printf(&out, "\"%s\" is not valid JSON", special[i]);
            cf_throw_text(s->ctx, JS_SYNTAX_ERROR, &out);
            return -1;
        }
    }
    from = cf_walk_chars(begin, end, at, -CF_JSON_CONTEXT);
    to = cf_walk_chars(begin, end, at, CF_JSON_CONTEXT);
    if (cf_walk_chars(begin, end, begin, 2 * CF_JSON_CONTEXT) == end) {
        from = begin;
        to = end;
    } else if (cf_walk_chars(begin, end, from, CF_JSON_CONTEXT) != at) {
        from = begin;
    }
    dbuf_printf(&out, "Unexpected token '%.*s', %s\"", (int)(cf_walk_chars(begin, end, at, 1) - at), (const char *)at,
                from > begin ? "..." : "");
    dbuf_put(&out, from, to - from);
    dbuf_printf(&out, "\"%s is not valid JSON", to < end ? "..." : "");
    cf_throw_text(s->ctx, JS_SYNTAX_ERROR, &out);
    return -1;
}

/* Appends "property 'a'" or "index 0": the property of `holder` that has `value`. */
static void cf_put_way(JSContext *ctx, DynBuf *out, JSObject *holder, JSObject *value)
{
    if (holder->fast_array) {
        for (uint32_t i = 0; holder->class_id == JS_CLASS_ARRAY && i < holder->u.array.count; i++) {
            JSValue element = holder->u.array.u.values[i];
            if (JS_VALUE_GET_TAG(element) == JS_TAG_OBJECT && JS_VALUE_GET_OBJ(element) == value) {
                dbuf_printf(out, "index %u", i);
                return;
            }
        }
    }
    for (uint32_t i = 0; holder->class_id != JS_CLASS_PROXY && i < holder->shape->prop_count; i++) {
        JSShapeProperty *prs = &get_shape_prop(holder->shape)[i];
        JSValue found = holder->prop[i].u.value;
        if (prs->atom == JS_ATOM_NULL || (prs->flags & JS_PROP_TMASK) != JS_PROP_NORMAL ||
            JS_VALUE_GET_TAG(found) != JS_TAG_OBJECT || JS_VALUE_GET_OBJ(found) != value)
            continue;
        const char *name = JS_AtomToCString(ctx, prs->atom);
        dbuf_printf(out, "property '%s'", name ? name : "");
        JS_FreeCString(ctx, name);
        return;
    }
    dbuf_putstr(out, "property '...'");
}

static void cf_put_named_object(JSContext *ctx, DynBuf *out, JSObject *p)
{
    JSValueConst object = JS_MKPTR(JS_TAG_OBJECT, p);
    JSValue name = cf_constructor_name(ctx, JS_UNDEFINED, 1, &object);
    dbuf_putstr(out, "object with constructor '");
    cf_put_value(ctx, out, name);
    dbuf_putc(out, '\'');
    JS_FreeValue(ctx, name);
}

#define CF_CIRCLE_SHOWN 4

/* Throws V8's error for a circular structure. `stack` is an array of the objects that are being
   written. The last object refers to `p`, which is one of the objects. */
static JSValue cf_throw_circular(JSContext *ctx, JSValueConst stack, JSObject *p)
{
    JSObject *array = JS_VALUE_GET_OBJ(stack);
    uint32_t count = array->u.array.count, first = 0;
    DynBuf out;

    while (first < count && JS_VALUE_GET_OBJ(array->u.array.u.values[first]) != p)
        first++;
    js_dbuf_init(ctx, &out);
    dbuf_putstr(&out, "Converting circular structure to JSON\n    --> starting at ");
    cf_put_named_object(ctx, &out, p);
    for (uint32_t i = first + 1; i < count; i++) {
        JSObject *from = JS_VALUE_GET_OBJ(array->u.array.u.values[i - 1]), *to = JS_VALUE_GET_OBJ(array->u.array.u.values[i]);
        if (i - first > CF_CIRCLE_SHOWN - 1 && i + 1 < count) {
            if (i - first == CF_CIRCLE_SHOWN)
                dbuf_putstr(&out, "\n    |     ...");
            continue;
        }
        dbuf_putstr(&out, "\n    |     ");
        cf_put_way(ctx, &out, from, to);
        dbuf_putstr(&out, " -> ");
        cf_put_named_object(ctx, &out, to);
    }
    dbuf_putstr(&out, "\n    --- ");
    if (count)
        cf_put_way(ctx, &out, JS_VALUE_GET_OBJ(array->u.array.u.values[count - 1]), p);
    dbuf_putstr(&out, " closes the circle");
    return cf_throw_text(ctx, JS_TYPE_ERROR, &out);
}
