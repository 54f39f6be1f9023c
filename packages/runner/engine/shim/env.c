/* process.env: one exotic object, equal in every process. The first access makes a table whose
   entries point into the start block. Only a write allocates a name and a value. */

typedef struct CfEnvEntry {
    CfText key;       /* points into the start block, or to an allocation if `owned` */
    CfText value;
    bool deleted, owned;
} CfEnvEntry;

/* NULL until this process first reads the table. */
static CfEnvEntry *cf_env;
static uint32_t cf_env_count, cf_env_capacity;

static void cf_zone_reset(void);

static void cf_env_reset(void)
{
    cf_zone_reset();
    for (uint32_t i = 0; i < cf_env_count; i++)
        if (cf_env[i].owned) {
            free((void *)cf_env[i].key.bytes);
            free((void *)cf_env[i].value.bytes);
        }
    free(cf_env);
    cf_env = NULL;
    cf_env_count = cf_env_capacity = 0;
}

static int cf_env_load(JSContext *ctx)
{
    const char *p = cf.env_begin;

    if (cf_env || !p)
        return 0;
    cf_env_capacity = cf.envc + 8;
    cf_env = calloc(cf_env_capacity, sizeof(*cf_env));
    if (!cf_env) {
        JS_ThrowOutOfMemory(ctx);
        return -1;
    }
    for (uint32_t i = 0; i < cf.envc; i++) {
        CfText text;
        p = cf_next_text(p, &text);
        const char *equals = memchr(text.bytes, '=', text.len);
        if (!equals)
            continue;
        uint32_t key_len = equals - text.bytes;
        cf_env[cf_env_count++] = (CfEnvEntry){
            .key = { text.bytes, key_len }, .value = { equals + 1, text.len - key_len - 1 },
        };
    }
    return 0;
}

/* Finds an entry by name, deleted entries included. */
static CfEnvEntry *cf_env_find(const char *key, size_t len)
{
    /* If the table has a name twice, the last entry is used, as in Node, which reads execve's
       table. */
    for (uint32_t i = cf_env_count; i-- > 0;)
        if (cf_env[i].key.len == len && !memcmp(cf_env[i].key.bytes, key, len))
            return &cf_env[i];
    return NULL;
}

static bool cf_is_symbol(JSContext *ctx, JSAtom atom)
{
    return JS_AtomGetKind(ctx, atom) != JS_ATOM_KIND_STRING;
}

/* Sets `*out` to the live entry of a property key. Returns 1 if the entry exists, 0 if not, and
   -1 on exception. Symbols are never entries. */
static int cf_env_lookup(JSContext *ctx, JSAtom atom, CfEnvEntry **out)
{
    size_t len;
    const char *key;

    *out = NULL;
    if (cf_env_load(ctx))
        return -1;
    if (cf_is_symbol(ctx, atom))
        return 0;
    key = JS_AtomToCStringLen(ctx, &len, atom);
    if (!key)
        return -1;
    *out = cf_env_find(key, len);
    if (*out && (*out)->deleted)
        *out = NULL;
    JS_FreeCString(ctx, key);
    return *out != NULL;
}

static char *cf_env_copy(const char *bytes, size_t len)
{
    char *copy = malloc(len + 1);
    if (copy) {
        memcpy(copy, bytes, len);
        copy[len] = 0;
    }
    return copy;
}

static int cf_env_store(JSContext *ctx, JSAtom atom, JSValueConst value)
{
    size_t key_len, value_len;
    const char *key = NULL, *text = NULL;
    char *key_copy = NULL, *value_copy = NULL;
    CfEnvEntry *entry;
    int result = -1;

    if (cf_env_load(ctx))
        return -1;
    key = JS_AtomToCStringLen(ctx, &key_len, atom);
    text = key ? JS_ToCStringLen(ctx, &value_len, value) : NULL;
    if (!text)
        goto done;
    if (!key_len) { /* an empty name is ignored without an error, as in Node */
        result = 1;
        goto done;
    }
    key_copy = cf_env_copy(key, key_len);
    value_copy = key_copy ? cf_env_copy(text, value_len) : NULL;
    if (!value_copy)
        goto no_memory;
    entry = cf_env_find(key, key_len);
    if (!entry) {
        if (cf_env_count == cf_env_capacity) {
            uint32_t capacity = cf_env_capacity * 2 + 8;
            CfEnvEntry *larger = realloc(cf_env, capacity * sizeof(*larger));
            if (!larger)
                goto no_memory;
            cf_env = larger;
            cf_env_capacity = capacity;
        }
        entry = &cf_env[cf_env_count++];
    } else if (entry->owned) {
        free((void *)entry->key.bytes);
        free((void *)entry->value.bytes);
    }
    *entry = (CfEnvEntry){ .key = { key_copy, key_len }, .value = { value_copy, value_len }, .owned = true };
    cf_zone_reset();
    result = 1;
    goto done;
no_memory:
    free(key_copy);
    free(value_copy);
    JS_ThrowOutOfMemory(ctx);
done:
    JS_FreeCString(ctx, key);
    JS_FreeCString(ctx, text);
    return result;
}

static int cf_env_get_own(JSContext *ctx, JSPropertyDescriptor *desc, JSValueConst obj, JSAtom atom)
{
    CfEnvEntry *entry;
    int found = cf_env_lookup(ctx, atom, &entry);
    if (found > 0 && desc) {
        desc->flags = JS_PROP_C_W_E;
        desc->getter = JS_UNDEFINED;
        desc->setter = JS_UNDEFINED;
        desc->value = cf_text_value(ctx, entry->value);
        if (JS_IsException(desc->value))
            return -1;
    }
    return found;
}

static int cf_env_get_names(JSContext *ctx, JSPropertyEnum **out, uint32_t *out_count, JSValueConst obj)
{
    uint32_t count = 0;
    JSPropertyEnum *names;

    if (cf_env_load(ctx))
        return -1;
    names = js_mallocz(ctx, (cf_env_count + 1) * sizeof(*names));
    if (!names)
        return -1;
    for (uint32_t i = 0; i < cf_env_count; i++) {
        CfText key = cf_env[i].key;
        if (cf_env[i].deleted || cf_env_find(key.bytes, key.len) != &cf_env[i])
            continue;
        names[count].is_enumerable = true;
        names[count].atom = JS_NewAtomLen(ctx, key.bytes, key.len);
        if (names[count].atom == JS_ATOM_NULL) {
            JS_FreePropertyEnum(ctx, names, count);
            return -1;
        }
        count++;
    }
    *out = names;
    *out_count = count;
    return 0;
}

static int cf_env_delete(JSContext *ctx, JSValueConst obj, JSAtom atom)
{
    CfEnvEntry *entry;
    if (cf_env_lookup(ctx, atom, &entry) < 0)
        return -1;
    cf_zone_reset();
    /* the table may have a name twice */
    while (entry) {
        entry->deleted = true;
        CfText key = entry->key;
        entry = NULL;
        for (uint32_t i = 0; i < cf_env_count; i++)
            if (!cf_env[i].deleted && cf_env[i].key.len == key.len && !memcmp(cf_env[i].key.bytes, key.bytes, key.len))
                entry = &cf_env[i];
    }
    return 1;
}

static int cf_env_check_value(JSContext *ctx, JSAtom atom, JSValueConst value)
{
    if (cf_is_symbol(ctx, atom) || JS_IsSymbol(value)) {
        JS_ThrowTypeError(ctx, "Cannot convert a Symbol value to a string");
        return -1;
    }
    return 0;
}

static int cf_env_define(JSContext *ctx, JSValueConst obj, JSAtom atom, JSValueConst value,
                         JSValueConst getter, JSValueConst setter, int flags)
{
    const int wanted = JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE | JS_PROP_ENUMERABLE;
    const char *what = NULL;

    if (flags & (JS_PROP_HAS_GET | JS_PROP_HAS_SET))
        what = "'process.env' does not accept an accessor(getter/setter) descriptor";
    else if (!(flags & JS_PROP_HAS_VALUE) ||
             ((flags & (JS_PROP_HAS_CONFIGURABLE | JS_PROP_HAS_WRITABLE | JS_PROP_HAS_ENUMERABLE)) && (flags & wanted) != wanted))
        what = "'process.env' only accepts a configurable, writable, and enumerable data descriptor";
    if (what) {
        JS_ThrowTypeError(ctx, "%s", what);
        JS_DefinePropertyValueStr(ctx, ctx->rt->current_exception, "code",
                                  JS_NewString(ctx, "ERR_INVALID_OBJECT_DEFINE_PROPERTY"), JS_PROP_C_W_E);
        return -1;
    }
    if (cf_env_check_value(ctx, atom, value))
        return -1;
    return cf_env_store(ctx, atom, value);
}

static int cf_env_set(JSContext *ctx, JSValueConst obj, JSAtom atom, JSValueConst value, JSValueConst receiver, int flags)
{
    if (cf_env_check_value(ctx, atom, value))
        return -1;
    return cf_env_store(ctx, atom, value);
}

static JSClassExoticMethods cf_env_methods = {
    .get_own_property = cf_env_get_own,
    .get_own_property_names = cf_env_get_names,
    .delete_property = cf_env_delete,
    .define_own_property = cf_env_define,
    .set_property = cf_env_set,
};

static const JSClassDef cf_env_class_def = { "Object", .exotic = &cf_env_methods };

NATIVE(cf_native_env)
{
    return js_dup(cf_image.env);
}
