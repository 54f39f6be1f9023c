/* The bytes of a JavaScript value, and strings as flat arrays. A view is read after every other
   argument has been converted: conversions may run user code, which may detach or shrink the
   buffer. */

static int cf_view(JSContext *ctx, JSValueConst value, uint8_t **bytes, size_t *len)
{
    JSObject *p;
    JSArrayBuffer *abuf;

    if (JS_VALUE_GET_TAG(value) != JS_TAG_OBJECT)
        goto wrong;
    p = JS_VALUE_GET_OBJ(value);
    if (p->class_id == JS_CLASS_ARRAY_BUFFER || p->class_id == JS_CLASS_SHARED_ARRAY_BUFFER) {
        abuf = p->u.array_buffer;
        *bytes = abuf->data;
        *len = abuf->detached ? 0 : abuf->byte_length;
    } else if (is_typed_array(p->class_id)) {
        if (typed_array_is_oob(p)) {
            *len = 0;
        } else {
            *bytes = p->u.array.u.uint8_ptr;
            *len = (size_t)p->u.array.count << typed_array_size_log2(p->class_id);
        }
    } else if (p->class_id == JS_CLASS_DATAVIEW) {
        JSTypedArray *ta = p->u.typed_array;
        abuf = ta->buffer->u.array_buffer;
        *len = 0;
        if (!abuf->detached && ta->offset <= abuf->byte_length) {
            size_t rest = abuf->byte_length - ta->offset;
            *bytes = abuf->data + ta->offset;
            *len = ta->track_rab || ta->length > rest ? rest : ta->length;
        }
    } else {
        goto wrong;
    }
    if (*len == 0)
        *bytes = (uint8_t *)"";
    return 0;
wrong:
    JS_ThrowTypeError(ctx, "expected an ArrayBuffer or a view of one");
    return -1;
}

/* Returns the value as a string without ropes, which the caller frees. */
static JSValue cf_flat_string(JSContext *ctx, JSValueConst value)
{
    JSValue s = JS_ToString(ctx, value);
    if (JS_VALUE_GET_TAG(s) == JS_TAG_STRING_ROPE) {
        JSValue flat = js_linearize_string_rope(ctx, s);
        JS_FreeValue(ctx, s);
        return flat;
    }
    return s;
}

static inline uint32_t cf_char_at(const JSString *s, uint32_t i)
{
    return s->is_wide_char ? str16((JSString *)s)[i] : str8((JSString *)s)[i];
}

/* Reads an integer argument and clamps the value to [low, high]. undefined means `otherwise`. */
static int cf_clamped(JSContext *ctx, int64_t *out, JSValueConst value, int64_t otherwise, int64_t low, int64_t high)
{
    if (JS_IsUndefined(value)) {
        *out = otherwise;
    } else if (JS_ToInt64Sat(ctx, out, value)) {
        return -1;
    }
    if (*out < low)
        *out = low;
    if (*out > high)
        *out = high;
    return 0;
}

static JSValue cf_array(JSContext *ctx, int count, JSValue *values)
{
    JSValue array = js_create_array(ctx, count, vc(values));
    for (int i = 0; i < count; i++)
        JS_FreeValue(ctx, values[i]);
    return array;
}
