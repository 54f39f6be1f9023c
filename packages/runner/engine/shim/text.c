/* Text and bytes: Node's seven encodings in both directions, with WHATWG's rules for broken UTF-8. */

enum { ENC_ASCII, ENC_UTF8, ENC_BASE64, ENC_UTF16LE, ENC_LATIN1, ENC_HEX, ENC_BUFFER, ENC_BASE64URL, ENC_COUNT };

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char base64url_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* Length of the prefix in which no byte is above 0x7f. */
static size_t cf_ascii_prefix(const uint8_t *p, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t word;
        memcpy(&word, p + i, 8);
        if (word & 0x8080808080808080ull)
            break;
    }
    while (i < n && p[i] < 0x80)
        i++;
    return i;
}

/* Reads one code point. 0xFFFFFFFF: broken, `*p` then stands after the maximal part that WHATWG replaces by one U+FFFD. */
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

/* Broken parts become U+FFFD. */
static JSValue cf_utf8(JSContext *ctx, const uint8_t *bytes, size_t len)
{
    const uint8_t *p = bytes, *end = bytes + len;
    size_t ascii = cf_ascii_prefix(bytes, len), units = ascii;
    bool wide = false;
    JSString *s;

    if (len > JS_STRING_LEN_MAX)
        return JS_ThrowRangeError(ctx, "Cannot create a string longer than 0x%x characters", JS_STRING_LEN_MAX);
    if (ascii == len)
        return js_new_string8_len(ctx, (const char *)bytes, len);
    for (p += ascii; p < end;) {
        uint32_t c = cf_next_utf8(&p, end);
        units += 1 + (c >= 0x10000 && c != 0xFFFFFFFF);
        wide |= c > 0xFF;
    }
    s = js_alloc_string(ctx, units, wide);
    if (!s)
        return JS_EXCEPTION;
    p = bytes;
    if (!wide) {
        for (size_t i = 0; i < units; i++)
            str8(s)[i] = cf_next_utf8(&p, end);
        str8(s)[units] = 0;
    } else {
        uint16_t *to = str16(s);
        while (p < end) {
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
    }
    return JS_MKPTR(JS_TAG_STRING, s);
}

static JSValue cf_utf16le(JSContext *ctx, const uint8_t *bytes, size_t len)
{
    size_t units = len / 2;
    bool wide = false;
    JSString *s;

    for (size_t i = 0; i < units && !wide; i++)
        wide = bytes[2 * i + 1] != 0;
    s = js_alloc_string(ctx, units, wide);
    if (!s)
        return JS_EXCEPTION;
    if (wide) {
        memcpy(str16(s), bytes, units * 2);
    } else {
        for (size_t i = 0; i < units; i++)
            str8(s)[i] = bytes[2 * i];
        str8(s)[units] = 0;
    }
    return JS_MKPTR(JS_TAG_STRING, s);
}

static JSValue cf_to_base64(JSContext *ctx, const uint8_t *p, size_t n, bool url)
{
    const char *digits = url ? base64url_digits : base64_digits;
    size_t rest = n % 3, units = n / 3 * 4 + (rest ? (url ? rest + 1 : 4) : 0), i;
    JSString *s;
    uint8_t *to;

    if (units > JS_STRING_LEN_MAX)
        return JS_ThrowRangeError(ctx, "Cannot create a string longer than 0x%x characters", JS_STRING_LEN_MAX);
    s = js_alloc_string(ctx, units, false);
    if (!s)
        return JS_EXCEPTION;
    to = str8(s);
    for (i = 0; i + 2 < n; i += 3) {
        uint32_t x = p[i] << 16 | p[i + 1] << 8 | p[i + 2];
        *to++ = digits[x >> 18];
        *to++ = digits[x >> 12 & 63];
        *to++ = digits[x >> 6 & 63];
        *to++ = digits[x & 63];
    }
    if (rest) {
        uint32_t x = p[i] << 16 | (rest == 2 ? p[i + 1] << 8 : 0);
        *to++ = digits[x >> 18];
        *to++ = digits[x >> 12 & 63];
        if (rest == 2)
            *to++ = digits[x >> 6 & 63];
        if (!url) {
            if (rest == 1)
                *to++ = '=';
            *to++ = '=';
        }
    }
    *to = 0;
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
    for (size_t i = 0; i < n; i++) {
        str8(s)[2 * i] = "0123456789abcdef"[p[i] >> 4];
        str8(s)[2 * i + 1] = "0123456789abcdef"[p[i] & 15];
    }
    str8(s)[n * 2] = 0;
    return JS_MKPTR(JS_TAG_STRING, s);
}

static JSValue cf_to_ascii(JSContext *ctx, const uint8_t *p, size_t n)
{
    JSString *s = js_alloc_string(ctx, n, false);
    if (!s)
        return JS_EXCEPTION;
    for (size_t i = 0; i < n; i++)
        str8(s)[i] = p[i] & 0x7F;
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
    case ENC_BASE64: return cf_to_base64(ctx, p, n, false);
    case ENC_BASE64URL: return cf_to_base64(ctx, p, n, true);
    default: return cf_utf8(ctx, p, n);
    }
}

/* ---- strings to bytes */

static size_t cf_utf8_length(const JSString *s)
{
    size_t n = 0;
    if (!s->is_wide_char) {
        const uint8_t *p = str8((JSString *)s);
        n = s->len;
        for (uint32_t i = 0; i < s->len; i++)
            n += p[i] >> 7;
        return n;
    }
    for (uint32_t i = 0; i < s->len; i++) {
        uint32_t c = str16((JSString *)s)[i];
        if (c < 0x80) {
            n++;
        } else if (c < 0x800) {
            n += 2;
        } else if (is_hi_surrogate(c) && i + 1 < s->len && is_lo_surrogate(str16((JSString *)s)[i + 1])) {
            n += 4;
            i++;
        } else {
            n += 3;
        }
    }
    return n;
}

/* Whole characters only; `*read` gets the number of code units. */
static size_t cf_write_utf8(const JSString *s, uint8_t *to, size_t max, uint32_t *read)
{
    size_t k = 0;
    uint32_t i = 0;

    while (i < s->len) {
        uint32_t c = cf_char_at(s, i), used = 1;
        if (c >= 0xD800 && c <= 0xDFFF) {
            if (is_hi_surrogate(c) && i + 1 < s->len && is_lo_surrogate(cf_char_at(s, i + 1))) {
                c = from_surrogate(c, cf_char_at(s, i + 1));
                used = 2;
            } else {
                c = 0xFFFD;
            }
        }
        size_t need = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        if (k + need > max)
            break;
        k += utf8_encode(to + k, c);
        i += used;
    }
    if (read)
        *read = i;
    return k;
}

static int cf_hex_digit(uint32_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? (int)c - 'a' + 10 : -1;
}

static int cf_base64_digit(uint32_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+' || c == '-')
        return 62;
    return c == '/' || c == '_' ? 63 : -1;
}

/* Node's forgiving rules: other characters are skipped, "=" ends. */
static size_t cf_write_base64(const JSString *s, uint8_t *to, size_t max)
{
    size_t k = 0;
    uint32_t bits = 0;
    int have = 0;

    for (uint32_t i = 0; i < s->len && k < max; i++) {
        uint32_t c = cf_char_at(s, i);
        if (c == '=')
            break;
        int digit = cf_base64_digit(c);
        if (digit < 0)
            continue;
        bits = bits << 6 | digit;
        if ((have += 6) >= 8)
            to[k++] = bits >> (have -= 8);
    }
    return k;
}

/* An upper bound for the bytes of `s` in `enc`. */
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
    size_t k = 0;
    switch (enc) {
    case ENC_ASCII:
    case ENC_LATIN1:
        for (; k < s->len && k < max; k++)
            to[k] = cf_char_at(s, k);
        return k;
    case ENC_UTF16LE:
        for (uint32_t i = 0; i < s->len && k + 2 <= max; i++) {
            uint32_t c = cf_char_at(s, i);
            to[k++] = c;
            to[k++] = c >> 8;
        }
        return k;
    case ENC_HEX:
        for (uint32_t i = 0; i + 1 < s->len && k < max; i += 2) {
            int high = cf_hex_digit(cf_char_at(s, i)), low = cf_hex_digit(cf_char_at(s, i + 1));
            if (high < 0 || low < 0 || cf_char_at(s, i) > 0x7F || cf_char_at(s, i + 1) > 0x7F)
                break;
            to[k++] = high << 4 | low;
        }
        return k;
    case ENC_BASE64:
    case ENC_BASE64URL:
        return cf_write_base64(s, to, max);
    default:
        return cf_write_utf8(s, to, max, NULL);
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
        JS_ThrowRangeError(ctx, "%d is no encoding", *enc);
        return -1;
    }
    return 0;
}
