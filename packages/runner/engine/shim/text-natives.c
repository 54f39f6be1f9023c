/* The natives for text and bytes: encoding and decoding as the bootstrap calls them, over text.c.
   Next: NATIVES.md. */

/* decode(view, start, end, enc): returns the bytes from start to end as a string */
NATIVE(cf_decode)
{
    uint8_t *p;
    size_t n;
    int64_t start, end;
    int enc;

    if (cf_encoding(ctx, &enc, argv[3]) || cf_clamped(ctx, &start, argv[1], 0, 0, INT64_MAX) ||
        cf_clamped(ctx, &end, argv[2], INT64_MAX, 0, INT64_MAX) || cf_view(ctx, argv[0], &p, &n))
        return JS_EXCEPTION;
    if (end > (int64_t)n)
        end = n;
    if (start >= end)
        return js_empty_string(ctx->rt);
    return cf_decode_bytes(ctx, p + start, end - start, enc);
}

/* decodeUtf8(view, start, end, ignoreBom, fatal): returns a string by WHATWG's rules. If `fatal`
   is true, throws ERR_ENCODING_INVALID_ENCODED_DATA for invalid bytes. */
NATIVE(cf_decode_utf8)
{
    uint8_t *p;
    size_t n;
    int64_t start, end;
    bool ignore_bom = JS_ToBool(ctx, argv[3]), fatal = JS_ToBool(ctx, argv[4]);

    if (cf_clamped(ctx, &start, argv[1], 0, 0, INT64_MAX) || cf_clamped(ctx, &end, argv[2], INT64_MAX, 0, INT64_MAX) ||
        cf_view(ctx, argv[0], &p, &n))
        return JS_EXCEPTION;
    if (end > (int64_t)n)
        end = n;
    if (start > end)
        start = end;
    p += start;
    n = end - start;
    if (fatal && !codec_utf8_valid(p, n)) {
        JS_ThrowTypeError(ctx, "The encoded data was not valid for encoding utf-8");
        JS_DefinePropertyValueStr(ctx, ctx->rt->current_exception, "code",
                                  JS_NewString(ctx, "ERR_ENCODING_INVALID_ENCODED_DATA"), JS_PROP_C_W_E);
        return JS_EXCEPTION;
    }
    if (!ignore_bom && n >= 3 && p[0] == 0xEF && p[1] == 0xBB && p[2] == 0xBF) {
        p += 3;
        n -= 3;
    }
    return cf_utf8(ctx, p, n);
}

/* encode(string, enc): returns the bytes of the string as an ArrayBuffer */
NATIVE(cf_encode)
{
    int enc;
    JSValue string, buffer = JS_EXCEPTION;

    if (cf_encoding(ctx, &enc, argv[1]))
        return JS_EXCEPTION;
    string = cf_flat_string(ctx, argv[0]);
    if (JS_IsException(string))
        return string;
    JSString *s = JS_VALUE_GET_STRING(string);
    size_t bound = cf_encoded_bound(s, enc), n;
    uint8_t *bytes = js_malloc(ctx, bound ? bound : 1);
    if (bytes) {
        n = cf_encode_string(s, enc, bytes, bound);
        if (n < bound) {
            uint8_t *smaller = js_realloc_rt(ctx->rt, bytes, n ? n : 1);
            bytes = smaller ? smaller : bytes;
        }
        buffer = JS_NewArrayBuffer(ctx, bytes, n, 0, js_array_buffer_realloc, NULL, false);
    }
    JS_FreeValue(ctx, string);
    return buffer;
}

/* writeString(view, string, offset, length, enc): writes whole characters and returns the number
   of written bytes */
NATIVE(cf_write_string)
{
    uint8_t *p;
    size_t n;
    int64_t offset, length;
    int enc;
    JSValue string;

    if (cf_encoding(ctx, &enc, argv[4]) || cf_clamped(ctx, &offset, argv[2], 0, 0, INT64_MAX) ||
        cf_clamped(ctx, &length, argv[3], INT64_MAX, 0, INT64_MAX))
        return JS_EXCEPTION;
    string = cf_flat_string(ctx, argv[1]);
    if (JS_IsException(string))
        return string;
    if (cf_view(ctx, argv[0], &p, &n)) {
        JS_FreeValue(ctx, string);
        return JS_EXCEPTION;
    }
    if (offset > (int64_t)n)
        offset = n;
    if (length > (int64_t)n - offset)
        length = n - offset;
    n = cf_encode_string(JS_VALUE_GET_STRING(string), enc, p + offset, length);
    JS_FreeValue(ctx, string);
    return js_int64(n);
}

/* encodeInto(string, view, results): writes UTF-8. Sets results[0] to the code units read and
   results[1] to the bytes written. */
NATIVE(cf_encode_into)
{
    uint8_t *p, *results;
    size_t n, results_len;
    uint32_t counts[2];
    JSValue string = cf_flat_string(ctx, argv[0]);

    if (JS_IsException(string))
        return string;
    if (cf_view(ctx, argv[1], &p, &n) || cf_view(ctx, argv[2], &results, &results_len)) {
        JS_FreeValue(ctx, string);
        return JS_EXCEPTION;
    }
    counts[1] = cf_write_utf8(JS_VALUE_GET_STRING(string), p, n, &counts[0]);
    if (results_len >= sizeof(counts))
        memcpy(results, counts, sizeof(counts));
    JS_FreeValue(ctx, string);
    return JS_UNDEFINED;
}

NATIVE(cf_byte_length)
{
    JSValue string = cf_flat_string(ctx, argv[0]);
    if (JS_IsException(string))
        return string;
    size_t n = cf_utf8_length(JS_VALUE_GET_STRING(string));
    JS_FreeValue(ctx, string);
    return js_int64(n);
}

NATIVE(cf_is_utf8)
{
    uint8_t *p;
    size_t n;
    if (cf_view(ctx, argv[0], &p, &n))
        return JS_EXCEPTION;
    return js_bool(codec_utf8_valid(p, n));
}

NATIVE(cf_is_ascii)
{
    uint8_t *p;
    size_t n;
    if (cf_view(ctx, argv[0], &p, &n))
        return JS_EXCEPTION;
    return js_bool(codec_ascii_prefix(p, n) == n);
}

NATIVE(cf_btoa)
{
    JSValue string = cf_flat_string(ctx, argv[0]), result;
    if (JS_IsException(string))
        return string;
    JSString *s = JS_VALUE_GET_STRING(string);
    if (!s->is_wide_char) {
        result = cf_to_base64(ctx, str8(s), s->len, CODEC_BASE64);
    } else if (!codec_fits_latin1(str16(s), s->len)) {
        result = js_int32(-1);
    } else {
        uint8_t *bytes = js_malloc(ctx, s->len + 1);
        if (!bytes) {
            JS_FreeValue(ctx, string);
            return JS_EXCEPTION;
        }
        codec_narrow(bytes, str16(s), s->len);
        result = cf_to_base64(ctx, bytes, s->len, CODEC_BASE64);
        js_free(ctx, bytes);
    }
    JS_FreeValue(ctx, string);
    return result;
}

/* atob(string): decodes base64 by WHATWG's forgiving rules. Returns a latin1 string, or Node's
   error number. */
NATIVE(cf_atob)
{
    enum { SINGLE_CHARACTER = -1, INVALID_CHARACTER = -2 };
    JSValue string = cf_flat_string(ctx, argv[0]), result;
    if (JS_IsException(string))
        return string;
    JSString *s = JS_VALUE_GET_STRING(string);
    uint8_t *bytes = js_malloc(ctx, s->len / 4 * 3 + 4);
    size_t k = 0, digits = 0, pads = 0, plain;
    uint32_t bits = 0;
    int error = 0;

    if (!bytes) {
        JS_FreeValue(ctx, string);
        return JS_EXCEPTION;
    }
    plain = s->is_wide_char ? 0 : codec_base64_strict_prefix(bytes, str8(s), s->len);
    k = plain / 4 * 3;
    for (uint32_t i = plain; i < s->len && !error; i++) {
        uint32_t c = cf_char_at(s, i);
        if (c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r')
            continue;
        if (c == '=') {
            if (++pads > 2)
                error = INVALID_CHARACTER;
            continue;
        }
        int digit = c == '-' || c == '_' ? -1 : codec_base64_digit(c);
        if (digit < 0 || pads) {
            error = INVALID_CHARACTER;
            break;
        }
        bits = bits << 6 | digit;
        if (++digits % 4 == 0) {
            bytes[k++] = bits >> 16;
            bytes[k++] = bits >> 8;
            bytes[k++] = bits;
        }
    }
    if (!error) {
        size_t rest = digits % 4;
        if (rest == 1)
            error = SINGLE_CHARACTER;
        else if (pads && rest + pads != 4)
            error = INVALID_CHARACTER;
        else if (rest == 2)
            bytes[k++] = bits >> 4;
        else if (rest == 3) {
            bytes[k++] = bits >> 10;
            bytes[k++] = bits >> 2;
        }
    }
    result = error ? js_int32(error) : js_new_string8_len(ctx, (char *)bytes, k);
    js_free(ctx, bytes);
    JS_FreeValue(ctx, string);
    return result;
}
