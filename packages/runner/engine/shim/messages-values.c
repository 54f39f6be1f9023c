/* Describes values in messages without running any code of the program. Next: messages.c. */

static void cf_put_value(JSContext *ctx, DynBuf *out, JSValueConst value)
{
    const char *text = JS_ToCString(ctx, value);
    if (text)
        dbuf_putstr(out, text);
    else
        JS_FreeValue(ctx, JS_GetException(ctx));
    JS_FreeCString(ctx, text);
}

static void cf_put_function(JSContext *ctx, DynBuf *out, JSValueConst function)
{
    JSFunctionBytecode *b = JS_GetFunctionBytecode(function);
    const char *name;
    if (b && b->source && b->source_len) {
        dbuf_put(out, (const uint8_t *)b->source, b->source_len);
        return;
    }
    name = get_func_name(ctx, function);
    dbuf_printf(out, "function %s() { [native code] }", name ? name : "");
    JS_FreeCString(ctx, name);
}

/* Returns the value of an own data property, or of a data property inherited through ordinary
   objects. Returns undefined for other properties. */
static JSValueConst cf_plain_property(JSObject *p, JSAtom name)
{
    for (; p && p->class_id != JS_CLASS_PROXY; p = p->shape->proto) {
        JSProperty *pr;
        JSShapeProperty *prs = find_own_property(&pr, p, name);
        if (prs)
            return (prs->flags & JS_PROP_TMASK) == JS_PROP_NORMAL ? pr->u.value : JS_UNDEFINED;
    }
    return JS_UNDEFINED;
}

static void cf_put_object(JSContext *ctx, DynBuf *out, JSValueConst object)
{
    JSObject *p = JS_VALUE_GET_OBJ(object);
    JSValueConst to_string = cf_plain_property(p, JS_ATOM_toString), tag;
    JSValue name;

    if (JS_IsFunction(ctx, object)) {
        cf_put_function(ctx, out, object);
        return;
    }
    if (p->class_id == JS_CLASS_ERROR) {
        JSValueConst kind = cf_plain_property(p, JS_ATOM_name), message = cf_plain_property(p, JS_ATOM_message);
        bool has_message = JS_IsString(message) && !JS_IsEmptyString(message);
        if (JS_IsString(kind))
            cf_put_value(ctx, out, kind);
        else
            dbuf_putstr(out, "Error");
        if (has_message) {
            dbuf_putstr(out, ": ");
            cf_put_value(ctx, out, message);
        }
        return;
    }
    if (p->class_id == JS_CLASS_PROXY) {
        dbuf_putstr(out, "#<Object>");
        return;
    }
    if (JS_VALUE_GET_TAG(to_string) == JS_TAG_OBJECT && JS_VALUE_GET_OBJ(to_string)->class_id == JS_CLASS_C_FUNCTION &&
        JS_VALUE_GET_OBJ(to_string)->u.cfunc.c_function.generic == js_object_toString) {
        name = cf_constructor_name(ctx, JS_UNDEFINED, 1, &object);
        if (JS_IsString(name) && !JS_IsEmptyString(name)) {
            dbuf_putstr(out, "#<");
            cf_put_value(ctx, out, name);
            dbuf_putc(out, '>');
            JS_FreeValue(ctx, name);
            return;
        }
        JS_FreeValue(ctx, name);
    }
    tag = cf_plain_property(p, JS_ATOM_Symbol_toStringTag);
    dbuf_putstr(out, "[object ");
    if (JS_IsString(tag))
        cf_put_value(ctx, out, tag);
    else
        dbuf_putstr(out, p->class_id == JS_CLASS_ARRAY ? "Array" : p->class_id == JS_CLASS_DATE ? "Date" :
                         p->class_id == JS_CLASS_REGEXP ? "RegExp" : "Object");
    dbuf_putc(out, ']');
}

/* Appends the text that V8's NoSideEffectsToString returns. */
static void cf_put_plainly(JSContext *ctx, DynBuf *out, JSValueConst value)
{
    if (JS_IsSymbol(value)) {
        JSAtomStruct *p = JS_VALUE_GET_PTR(value);
        JSAtom atom = js_get_atom_index(ctx->rt, p);
        const char *text = JS_AtomToCString(ctx, atom);
        dbuf_printf(out, "Symbol(%s)", text ? text : "");
        JS_FreeCString(ctx, text);
    } else if (JS_IsObject(value)) {
        cf_put_object(ctx, out, value);
    } else {
        cf_put_value(ctx, out, value);
    }
}
