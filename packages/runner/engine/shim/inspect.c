/* Reads the internal state of values, as util.inspect, assert and the loaders do through V8's
   API. Only ownNonIndexKeys can run code of the program: the traps of a proxy. */

NATIVE(cf_private_symbol)
{
    JSAtom description = JS_ValueToAtom(ctx, argv[0]);
    if (description == JS_ATOM_NULL)
        return JS_EXCEPTION;
    JSValue symbol = JS_NewSymbolFromAtom(ctx, description, JS_ATOM_TYPE_PRIVATE);
    JS_FreeAtom(ctx, description);
    return symbol;
}

NATIVE(cf_class_id)
{
    return js_int32(JS_IsObject(argv[0]) ? JS_GetClassID(argv[0]) : 0);
}

NATIVE(cf_proxy_details)
{
    JSProxyData *s = JS_GetOpaque(argv[0], JS_CLASS_PROXY);
    if (!s)
        return JS_UNDEFINED;
    JSValue values[2] = { s->is_revoked ? JS_NULL : js_dup(s->target), s->is_revoked ? JS_NULL : js_dup(s->handler) };
    return cf_array(ctx, 2, values);
}

NATIVE(cf_promise_details)
{
    JSPromiseData *s = JS_GetOpaque(argv[0], JS_CLASS_PROMISE);
    if (!s)
        return JS_UNDEFINED;
    JSValue values[2] = { js_int32(s->promise_state), js_dup(s->promise_result) };
    return cf_array(ctx, s->promise_state == JS_PROMISE_PENDING ? 1 : 2, values);
}

static int cf_append(JSContext *ctx, JSValueConst array, uint32_t *count, JSValueConst value)
{
    return JS_DefinePropertyValueUint32(ctx, array, (*count)++, js_dup(value), JS_PROP_C_W_E);
}

/* Returns [entries, isKeyValue] of a map or a set. */
static JSValue cf_entries(JSContext *ctx, JSMapState *s, struct list_head *first, bool keys, bool values, bool key_value)
{
    uint32_t count = 0;
    JSValue entries = JS_NewArray(ctx);

    if (JS_IsException(entries))
        return entries;
    if (s) {
        for (struct list_head *el = first; el != &s->records; el = el->next) {
            JSMapRecord *record = list_entry(el, JSMapRecord, link);
            if (record->empty)
                continue;
            if ((keys && cf_append(ctx, entries, &count, record->key) < 0) ||
                (values && cf_append(ctx, entries, &count, record->value) < 0)) {
                JS_FreeValue(ctx, entries);
                return JS_EXCEPTION;
            }
        }
    }
    JSValue result[2] = { entries, js_bool(key_value) };
    return cf_array(ctx, 2, result);
}

NATIVE(cf_preview_entries)
{
    JSObject *p;
    JSMapState *s;
    JSMapIteratorData *it;
    struct list_head *first;
    bool is_set, kv;

    if (!JS_IsObject(argv[0]))
        return JS_UNDEFINED;
    p = JS_VALUE_GET_OBJ(argv[0]);
    switch (p->class_id) {
    case JS_CLASS_MAP:
    case JS_CLASS_WEAKMAP:
        s = p->u.map_state;
        return cf_entries(ctx, s, s->records.next, true, true, true);
    case JS_CLASS_SET:
    case JS_CLASS_WEAKSET:
        s = p->u.map_state;
        return cf_entries(ctx, s, s->records.next, true, false, false);
    case JS_CLASS_MAP_ITERATOR:
    case JS_CLASS_SET_ITERATOR:
        is_set = p->class_id == JS_CLASS_SET_ITERATOR;
        it = p->u.map_iterator_data;
        kv = it && it->kind == JS_ITERATOR_KIND_KEY_AND_VALUE;
        if (!it || JS_IsUndefined(it->obj))
            return cf_entries(ctx, NULL, NULL, false, false, kv);
        s = JS_VALUE_GET_OBJ(it->obj)->u.map_state;
        first = it->cur_record ? it->cur_record->link.next : s->records.next;
        if (is_set) /* the value of a set's entry is its key; entries() has [key, key] */
            return kv ? cf_entries(ctx, s, first, true, false, true) : cf_entries(ctx, s, first, true, false, false);
        return cf_entries(ctx, s, first, it->kind != JS_ITERATOR_KIND_VALUE, it->kind != JS_ITERATOR_KIND_KEY, kv);
    }
    return JS_UNDEFINED;
}

/* ownNonIndexKeys(object, onlyEnumerable, skipSymbols): returns the keys of V8's
   getOwnNonIndexProperties */
NATIVE(cf_own_non_index_keys)
{
    JSPropertyEnum *keys;
    uint32_t count, kept = 0;
    int flags = JS_GPN_STRING_MASK;
    JSValue array;

    if (!JS_IsObject(argv[0]))
        return JS_ThrowTypeError(ctx, "ownNonIndexKeys: expected an object");
    if (JS_ToBool(ctx, argv[1]))
        flags |= JS_GPN_ENUM_ONLY;
    if (!JS_ToBool(ctx, argv[2]))
        flags |= JS_GPN_SYMBOL_MASK;
    if (JS_GetOwnPropertyNames(ctx, &keys, &count, argv[0], flags) < 0)
        return JS_EXCEPTION;
    array = JS_NewArray(ctx);
    for (uint32_t i = 0; i < count && !JS_IsException(array); i++) {
        uint32_t index;
        if (JS_AtomIsArrayIndex(ctx, &index, keys[i].atom))
            continue;
        if (JS_DefinePropertyValueUint32(ctx, array, kept++, JS_AtomToValue(ctx, keys[i].atom), JS_PROP_C_W_E) < 0) {
            JS_FreeValue(ctx, array);
            array = JS_EXCEPTION;
        }
    }
    JS_FreePropertyEnum(ctx, keys, count);
    return array;
}

NATIVE(cf_constructor_name)
{
    JSObject *p = JS_IsObject(argv[0]) ? JS_VALUE_GET_OBJ(argv[0]) : NULL;

    for (; p; p = p->shape->proto) {
        JSProperty *pr, *name;
        JSShapeProperty *prs;
        if (p->class_id == JS_CLASS_PROXY)
            break;
        prs = find_own_property(&pr, p, JS_ATOM_constructor);
        if (!prs || (prs->flags & JS_PROP_TMASK) != JS_PROP_NORMAL || !JS_IsFunction(ctx, pr->u.value))
            continue;
        prs = find_own_property(&name, JS_VALUE_GET_OBJ(pr->u.value), JS_ATOM_name);
        if (prs && (prs->flags & JS_PROP_TMASK) == JS_PROP_NORMAL && JS_IsString(name->u.value) &&
            !JS_IsEmptyString(name->u.value))
            return js_dup(name->u.value);
    }
    return JS_NewString(ctx, "");
}
