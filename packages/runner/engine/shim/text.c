/* Text and bytes: Node's seven encodings in both directions, with WHATWG's rules for invalid UTF-8.
   The loops are in codecs.c and unicode.c; this file has the engine's strings and invalid UTF-8.
   Next: text-natives.c. */

enum { ENC_ASCII, ENC_UTF8, ENC_BASE64, ENC_UTF16LE, ENC_LATIN1, ENC_HEX, ENC_BUFFER, ENC_BASE64URL, ENC_COUNT };

/* Reads a code point. For an invalid sequence returns 0xFFFFFFFF and sets `*p` to the end of the
   bytes that WHATWG replaces by one U+FFFD. */
static uint32_t cf_next_utf8(const uint8_t **p, const uint8_t *end)
{
    uint32_t c = *(*p)++, code;
    uint8_t low = 0x80, high = 0xBF;
    int more;

    if (c < 0x80)
        return c;
    if (c >= 0xC2 && c <= 0xDF) {
        more = 1;
        code = c & 0x1F;
    } else if (c >= 0xE0 && c <= 0xEF) {
        more = 2;
        code = c & 0x0F;
        if (c == 0xE0)
            low = 0xA0;
        if (c == 0xED)
            high = 0x9F;
    } else if (c >= 0xF0 && c <= 0xF4) {
        more = 3;
        code = c & 0x07;
        if (c == 0xF0)
            low = 0x90;
        if (c == 0xF4)
            high = 0x8F;
    } else {
        return 0xFFFFFFFF;
    }
    for (; more; more--) {
        if (*p == end || **p < low || **p > high)
            return 0xFFFFFFFF;
        code = code << 6 | (*(*p)++ & 0x3F);
        low = 0x80;
        high = 0xBF;
    }
    return code;
}

/* Decodes UTF-8 and replaces invalid sequences by U+FFFD. */
static JSValue cf_broken_utf8(JSContext *ctx, const uint8_t *bytes, size_t len)
{
    const uint8_t *p = bytes, *end = bytes + len;
    size_t units = 0;
    JSString *s;

    while (p < end) {
        uint32_t c = cf_next_utf8(&p, end);
        units += 1 + (c >= 0x10000 && c != 0xFFFFFFFF);
    }
    s = js_alloc_string(ctx, units, true);
    if (!s)
        return JS_EXCEPTION;
    uint16_t *to = str16(s);
    for (p = bytes; p < end;) {
        uint32_t c = cf_next_utf8(&p, end);
        if (c == 0xFFFFFFFF) {
            *to++ = 0xFFFD;
        } else if (c >= 0x10000) {
            c -= 0x10000;
            *to++ = 0xD800 + (c >> 10);
            *to++ = 0xDC00 + (c & 0x3FF);
        } else {
            *to++ = c;
        }
    }
    return JS_MKPTR(JS_TAG_STRING, s);
}

static JSValue cf_utf8(JSContext *ctx, const uint8_t *bytes, size_t len)
{
    size_t ascii = codec_ascii_prefix(bytes, len), units;
    bool wide;
    JSString *s;

    if (len > JS_STRING_LEN_MAX)
        return JS_ThrowRangeError(ctx, "Cannot create a string longer than 0x%x characters", JS_STRING_LEN_MAX);
    if (ascii == len)
        return js_new_string8_len(ctx, (const char *)bytes, len);
    if (!codec_utf8_valid(bytes, len))
        return cf_broken_utf8(ctx, bytes, len);
    units = codec_utf8_units(bytes, len, &wide);
    s = js_alloc_string(ctx, units, wide);
    if (!s)
        return JS_EXCEPTION;
    if (wide) {
        codec_utf8_to_utf16(str16(s), units, bytes, len);
    } else {
        codec_utf8_to_latin1(str8(s), units, bytes, len);
        str8(s)[units] = 0;
    }
    return JS_MKPTR(JS_TAG_STRING, s);
}

static JSValue cf_utf16le(JSContext *ctx, const uint8_t *bytes, size_t len)
{
    size_t units = len / 2;
    bool wide = !codec_fits_latin1(bytes, units);
    JSString *s = js_alloc_string(ctx, units, wide);

    if (!s)
        return JS_EXCEPTION;
    if (wide) {
        memcpy(str16(s), bytes, units * 2);
    } else {
        codec_narrow(str8(s), bytes, units);
        str8(s)[units] = 0;
    }
    return JS_MKPTR(JS_TAG_STRING, s);
}

static JSValue cf_to_base64(JSContext *ctx, const uint8_t *p, size_t n, CodecAlphabet alphabet)
{
    size_t units = codec_base64_length(n, alphabet);
    JSString *s;

    if (units > JS_STRING_LEN_MAX)
        return JS_ThrowRangeError(ctx, "Cannot create a string longer than 0x%x characters", JS_STRING_LEN_MAX);
    s = js_alloc_string(ctx, units, false);
    if (!s)
        return JS_EXCEPTION;
    codec_base64_encode(str8(s), p, n, alphabet);
    str8(s)[units] = 0;
    return JS_MKPTR(JS_TAG_STRING, s);
}

static JSValue cf_to_hex(JSContext *ctx, const uint8_t *p, size_t n)
{
    JSString *s;
    if (n > JS_STRING_LEN_MAX / 2)
        return JS_ThrowRangeError(ctx, "Cannot create a string longer than 0x%x characters", JS_STRING_LEN_MAX);
    s = js_alloc_string(ctx, n * 2, false);
    if (!s)
        return JS_EXCEPTION;
    codec_hex_encode(str8(s), p, n);
    str8(s)[n * 2] = 0;
    return JS_MKPTR(JS_TAG_STRING, s);
}

static JSValue cf_to_ascii(JSContext *ctx, const uint8_t *p, size_t n)
{
    JSString *s = js_alloc_string(ctx, n, false);
    if (!s)
        return JS_EXCEPTION;
    codec_mask_ascii(str8(s), p, n);
    str8(s)[n] = 0;
    return JS_MKPTR(JS_TAG_STRING, s);
}

static JSValue cf_decode_bytes(JSContext *ctx, const uint8_t *p, size_t n, int enc)
{
    if (n > JS_STRING_LEN_MAX && enc != ENC_UTF16LE)
        return JS_ThrowRangeError(ctx, "Cannot create a string longer than 0x%x characters", JS_STRING_LEN_MAX);
    switch (enc) {
    case ENC_ASCII: return cf_to_ascii(ctx, p, n);
    case ENC_LATIN1: return js_new_string8_len(ctx, (const char *)p, n);
    case ENC_UTF16LE: return cf_utf16le(ctx, p, n);
    case ENC_HEX: return cf_to_hex(ctx, p, n);
    case ENC_BASE64: return cf_to_base64(ctx, p, n, CODEC_BASE64);
    case ENC_BASE64URL: return cf_to_base64(ctx, p, n, CODEC_BASE64URL);
    default: return cf_utf8(ctx, p, n);
    }
}

/* Strings to bytes. */

static size_t cf_utf8_length(const JSString *s)
{
    return s->is_wide_char ? codec_utf8_length_utf16(str16((JSString *)s), s->len)
                           : codec_utf8_length_latin1(str8((JSString *)s), s->len);
}

/* Writes only whole characters, and returns the number of bytes. Sets `*read` to the number of
   code units read, unless `read` is NULL. */
static size_t cf_write_utf8(const JSString *s, uint8_t *to, size_t max, uint32_t *read)
{
    size_t units, k = s->is_wide_char ? codec_utf16_to_utf8(to, max, str16((JSString *)s), s->len, &units)
                                      : codec_latin1_to_utf8(to, max, str8((JSString *)s), s->len, &units);
    if (read)
        *read = units;
    return k;
}

/* Hexadecimal and base64 are read from bytes. For wide characters the low bytes are read, piece by
   piece: Node ignores the high bytes too, and reads U+0141 as an A. A piece has an even length, so
   no pair of digits is divided. */
#define CF_PIECE 512

static size_t cf_write_base64(const JSString *s, uint8_t *to, size_t max)
{
    CodecBase64 state = { 0 };
    uint8_t piece[CF_PIECE];
    size_t k = 0;

    if (!s->is_wide_char)
        return codec_base64_decode(&state, to, max, str8((JSString *)s), s->len);
    for (uint32_t i = 0; i < s->len && k < max && !state.ended; i += CF_PIECE) {
        size_t n = min_uint32(s->len - i, CF_PIECE);
        codec_narrow(piece, str16((JSString *)s) + i, n);
        k += codec_base64_decode(&state, to + k, max - k, piece, n);
    }
    return k;
}

static size_t cf_write_hex(const JSString *s, uint8_t *to, size_t max)
{
    uint8_t piece[CF_PIECE];
    size_t k = 0;

    if (!s->is_wide_char)
        return codec_hex_decode(to, max, str8((JSString *)s), s->len);
    for (uint32_t i = 0; i < s->len && k == i / 2; i += CF_PIECE) {
        size_t n = min_uint32(s->len - i, CF_PIECE);
        codec_narrow(piece, str16((JSString *)s) + i, n);
        k += codec_hex_decode(to + k, max - k, piece, n);
    }
    return k;
}

/* Returns an upper bound for the bytes of `s` in `enc`. */
static size_t cf_encoded_bound(const JSString *s, int enc)
{
    switch (enc) {
    case ENC_ASCII: case ENC_LATIN1: return s->len;
    case ENC_UTF16LE: return (size_t)s->len * 2;
    case ENC_HEX: return s->len / 2;
    case ENC_BASE64: case ENC_BASE64URL: return (size_t)s->len / 4 * 3 + 3;
    default: return cf_utf8_length(s);
    }
}

static size_t cf_encode_string(const JSString *s, int enc, uint8_t *to, size_t max)
{
    size_t n;
    switch (enc) {
    case ENC_ASCII:
    case ENC_LATIN1:
        n = s->len < max ? s->len : max;
        if (s->is_wide_char)
            codec_narrow(to, str16((JSString *)s), n);
        else
            memcpy(to, str8((JSString *)s), n);
        return n;
    case ENC_UTF16LE:
        n = s->len < max / 2 ? s->len : max / 2;
        if (s->is_wide_char)
            memcpy(to, str16((JSString *)s), n * 2);
        else
            codec_widen(to, str8((JSString *)s), n);
        return n * 2;
    case ENC_HEX: return cf_write_hex(s, to, max);
    case ENC_BASE64:
    case ENC_BASE64URL: return cf_write_base64(s, to, max);
    default: return cf_write_utf8(s, to, max, NULL);
    }
}

static int cf_encoding(JSContext *ctx, int *enc, JSValueConst value)
{
    if (JS_IsUndefined(value)) {
        *enc = ENC_UTF8;
        return 0;
    }
    if (JS_ToInt32(ctx, enc, value))
        return -1;
    if (*enc < 0 || *enc >= ENC_COUNT) {
        JS_ThrowRangeError(ctx, "%d is not an encoding", *enc);
        return -1;
    }
    return 0;
}
