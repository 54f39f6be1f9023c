/* A fast console.log. A line of primitive values is passed to the kernel without Node's console,
   Writable and inspect, which cost about thirty times as much. The output must be
   indistinguishable, so Node's console is used after any change that could affect the output.
   Guards list the state that must be unchanged. Checking guards runs no code of the program. */

typedef struct CfGuard {
    JSObject *object;
    JSAtom key;
    /* the property's value, or an accessor's getter; cf_image.absent if the object must not have
       the property */
    JSValue expected;
    uint32_t mask;    /* for an integer: the bits that are compared, 0 for all bits */
} CfGuard;

typedef struct CfLog {
    int fd;
    uint32_t guard_count;
    JSValue slow;
    CfGuard guards[];
} CfLog;

/* Returns whether this process has the environment variable, without making the table of
   process.env. */
static bool cf_env_has(const char *key, size_t len)
{
    const char *p = cf.env_begin;

    if (cf_env) {
        CfEnvEntry *entry = cf_env_find(key, len);
        return entry && !entry->deleted;
    }
    for (uint32_t i = 0; p && i < cf.envc; i++) {
        CfText text;
        p = cf_next_text(p, &text);
        if (text.len > len && text.bytes[len] == '=' && !memcmp(text.bytes, key, len))
            return true;
    }
    return false;
}

/* Returns true if neither FORCE_COLOR nor a terminal can affect the line. Only values other than
   strings are coloured. A program on a terminal has the variable TERM. */
static bool cf_no_forced_color(int argc, JSValueConst *argv)
{
    for (int i = 0; i < argc; i++)
        if (!JS_IsString(argv[i]))
            return !cf_env_has("FORCE_COLOR", 11) && !cf_env_has("TERM", 4);
    return true;
}

static bool cf_guard_holds(const CfGuard *g)
{
    JSProperty *pr;
    JSShapeProperty *prs = find_own_property(&pr, g->object, g->key);

    if (!prs)
        return JS_IsSymbol(g->expected);
    if ((prs->flags & JS_PROP_TMASK) == JS_PROP_GETSET)
        return JS_IsObject(g->expected) && pr->u.getset.getter == JS_VALUE_GET_OBJ(g->expected);
    if ((prs->flags & JS_PROP_TMASK) != JS_PROP_NORMAL)
        return false;
    if (JS_VALUE_GET_TAG(pr->u.value) != JS_VALUE_GET_TAG(g->expected))
        return false;
    switch (JS_VALUE_GET_TAG(g->expected)) {
    case JS_TAG_INT:
        if (g->mask)
            return (JS_VALUE_GET_INT(pr->u.value) & g->mask) == (JS_VALUE_GET_INT(g->expected) & g->mask);
        /* fall through */
    case JS_TAG_BOOL:
        return JS_VALUE_GET_INT(pr->u.value) == JS_VALUE_GET_INT(g->expected);
    case JS_TAG_NULL:
    case JS_TAG_UNDEFINED:
        return true;
    case JS_TAG_OBJECT:
    case JS_TAG_STRING: /* compares pointers and not text, which is enough for constants */
        return JS_VALUE_GET_PTR(pr->u.value) == JS_VALUE_GET_PTR(g->expected);
    default:
        return false;
    }
}

static bool cf_has_percent(const JSString *s)
{
    if (!s->is_wide_char)
        return memchr(str8((JSString *)s), '%', s->len) != NULL;
    for (uint32_t i = 0; i < s->len; i++)
        if (str16((JSString *)s)[i] == '%')
            return true;
    return false;
}

static bool cf_is_plain(JSValueConst v)
{
    switch (JS_VALUE_GET_NORM_TAG(v)) {
    case JS_TAG_INT:
    case JS_TAG_FLOAT64:
    case JS_TAG_BOOL:
    case JS_TAG_NULL:
    case JS_TAG_UNDEFINED:
    case JS_TAG_STRING:
    case JS_TAG_STRING_ROPE:
        return true;
    default:
        return false;
    }
}

/* Appends a value. Returns -1 on exception. */
static int cf_log_value(JSContext *ctx, DynBuf *out, JSValueConst v)
{
    JSValue string;
    if (JS_VALUE_GET_NORM_TAG(v) == JS_TAG_FLOAT64 && JS_VALUE_GET_FLOAT64(v) == 0 && signbit(JS_VALUE_GET_FLOAT64(v)))
        return dbuf_putstr(out, "-0");
    string = cf_flat_string(ctx, v);
    if (JS_IsException(string))
        return -1;
    JSString *s = JS_VALUE_GET_STRING(string);
    size_t n = cf_utf8_length(s);
    int failed = dbuf_claim(out, n);
    if (!failed && n) { /* an empty buffer has no memory */
        if (!s->is_wide_char && n == s->len)
            memcpy(out->buf + out->size, str8(s), n);
        else
            cf_write_utf8(s, out->buf + out->size, n, NULL);
        out->size += n;
    }
    JS_FreeValue(ctx, string);
    if (failed)
        JS_ThrowOutOfMemory(ctx);
    return failed;
}

/* A text below this length is assembled on the stack, with its line break. */
#define CF_LOG_INLINE 480

static JSValue cf_log_line(JSContext *ctx, int fd, int argc, JSValueConst *argv)
{
    DynBuf out;
    JSValue result = JS_EXCEPTION;

    if (argc == 1 && JS_VALUE_GET_TAG(argv[0]) == JS_TAG_STRING) {
        JSString *s = JS_VALUE_GET_STRING(argv[0]);
        if (!s->is_wide_char && s->len < CF_LOG_INLINE && codec_ascii_prefix(str8(s), s->len) == s->len) {
            char line[CF_LOG_INLINE + 1];
            memcpy(line, str8(s), s->len);
            line[s->len] = '\n';
            cf_write_all(fd, line, s->len + 1);
            return JS_UNDEFINED;
        }
    }
    js_dbuf_init(ctx, &out);
    for (int i = 0; i < argc; i++) {
        if (i && dbuf_putc(&out, ' '))
            goto done;
        if (cf_log_value(ctx, &out, argv[i]))
            goto done;
    }
    if (dbuf_putc(&out, '\n')) {
        JS_ThrowOutOfMemory(ctx);
        goto done;
    }
    cf_write_all(fd, out.buf, out.size);
    result = JS_UNDEFINED;
done:
    dbuf_free(&out);
    return result;
}

static JSValue cf_log_call(JSContext *ctx, JSValueConst func, JSValueConst this_val, int argc, JSValueConst *argv, int flags)
{
    CfLog *log = JS_GetOpaque(func, cf_image.log_class);

    for (int i = 0; i < argc; i++)
        if (!cf_is_plain(argv[i]))
            goto slow;
    for (uint32_t i = 0; i < log->guard_count; i++)
        if (!cf_guard_holds(&log->guards[i]))
            goto slow;
    if (!cf_no_forced_color(argc, argv))
        goto slow;
    if (argc > 1 && JS_IsString(argv[0])) {
        JSValue first = cf_flat_string(ctx, argv[0]);
        if (JS_IsException(first))
            return first;
        bool percent = cf_has_percent(JS_VALUE_GET_STRING(first));
        JS_FreeValue(ctx, first);
        if (percent)
            goto slow;
    }
    return cf_log_line(ctx, log->fd, argc, argv);
slow:
    return JS_Call(ctx, log->slow, this_val, argc, argv);
}

static void cf_log_finalizer(JSRuntime *rt, JSValueConst value)
{
    CfLog *log = JS_GetOpaque(value, cf_image.log_class);
    if (!log)
        return;
    JS_FreeValueRT(rt, log->slow);
    for (uint32_t i = 0; i < log->guard_count; i++) {
        JS_FreeValueRT(rt, JS_MKPTR(JS_TAG_OBJECT, log->guards[i].object));
        JS_FreeAtomRT(rt, log->guards[i].key);
        JS_FreeValueRT(rt, log->guards[i].expected);
    }
    js_free_rt(rt, log);
}

static void cf_log_mark(JSRuntime *rt, JSValueConst value, JS_MarkFunc *mark)
{
    CfLog *log = JS_GetOpaque(value, cf_image.log_class);
    if (!log)
        return;
    JS_MarkValue(rt, log->slow, mark);
    for (uint32_t i = 0; i < log->guard_count; i++) {
        mark(rt, &log->guards[i].object->header);
        JS_MarkValue(rt, log->guards[i].expected, mark);
    }
}

static const JSClassDef cf_log_class_def = {
    "Function", .finalizer = cf_log_finalizer, .gc_mark = cf_log_mark, .call = cf_log_call,
};

static int cf_read_guard(JSContext *ctx, CfGuard *g, JSValueConst triple)
{
    JSValue object = JS_GetPropertyUint32(ctx, triple, 0), key;

    if (!JS_IsObject(object) || JS_GetClassID(object) == JS_CLASS_PROXY) {
        JS_FreeValue(ctx, object);
        JS_ThrowTypeError(ctx, "makeLog: a guard needs an object");
        return -1;
    }
    g->object = JS_VALUE_GET_OBJ(object);
    key = JS_GetPropertyUint32(ctx, triple, 1);
    g->key = JS_ValueToAtom(ctx, key);
    JS_FreeValue(ctx, key);
    g->expected = JS_GetPropertyUint32(ctx, triple, 2);
    JSValue mask = JS_GetPropertyUint32(ctx, triple, 3);
    if (JS_VALUE_GET_TAG(mask) == JS_TAG_INT)
        g->mask = JS_VALUE_GET_INT(mask);
    JS_FreeValue(ctx, mask);
    return g->key == JS_ATOM_NULL || JS_IsException(g->expected) ? -1 : 0;
}

/* makeLog(fd, slow, guards): returns a function for console.log (NATIVES.md, "Descriptors") */
NATIVE(cf_make_log)
{
    int fd;
    int64_t count;
    CfLog *log;
    JSValue fn;

    if (JS_ToInt32(ctx, &fd, argv[0]) || js_get_length64(ctx, &count, argv[2]))
        return JS_EXCEPTION;
    if (!JS_IsFunction(ctx, argv[1]) || count > 64)
        return JS_ThrowTypeError(ctx, "makeLog: expected (fd, function, guards)");
    fn = JS_NewObjectProtoClass(ctx, ctx->function_proto, cf_image.log_class);
    if (JS_IsException(fn))
        return fn;
    log = js_mallocz(ctx, sizeof(*log) + count * sizeof(log->guards[0]));
    if (!log) {
        JS_FreeValue(ctx, fn);
        return JS_EXCEPTION;
    }
    log->fd = fd;
    log->slow = js_dup(argv[1]);
    JS_SetOpaqueInternal(fn, log);
    for (int64_t i = 0; i < count; i++) {
        JSValue triple = JS_GetPropertyInt64(ctx, argv[2], i);
        CfGuard *g = &log->guards[i];
        *g = (CfGuard){ .expected = JS_UNDEFINED };
        int failed = cf_read_guard(ctx, g, triple);
        JS_FreeValue(ctx, triple);
        if (g->object)
            log->guard_count++;
        if (failed) {
            JS_FreeValue(ctx, fn);
            return JS_EXCEPTION;
        }
    }
    JS_DefinePropertyValueStr(ctx, fn, "name", JS_NewString(ctx, "log"), JS_PROP_CONFIGURABLE);
    JS_DefinePropertyValueStr(ctx, fn, "length", js_int32(0), JS_PROP_CONFIGURABLE);
    return fn;
}
