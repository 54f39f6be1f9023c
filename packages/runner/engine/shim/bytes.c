/* Buffer's operations on raw bytes: compare, copy, fill, search and swap. The natives check ranges
   and call the inner loops in codecs.c. */

static int cf_order(const uint8_t *a, size_t n, const uint8_t *b, size_t m)
{
    int order = memcmp(a, b, n < m ? n : m);
    if (order)
        return order < 0 ? -1 : 1;
    return n < m ? -1 : n > m;
}

NATIVE(cf_compare)
{
    uint8_t *a, *b;
    size_t n, m;
    if (cf_view(ctx, argv[0], &a, &n) || cf_view(ctx, argv[1], &b, &m))
        return JS_EXCEPTION;
    return js_int32(cf_order(a, n, b, m));
}

/* compareOffset(a, b, aStart, bStart, aLength, bLength): returns -1, 0 or 1 */
NATIVE(cf_compare_offset)
{
    uint8_t *a, *b;
    size_t n, m;
    int64_t a_start, b_start, a_len, b_len;

    if (cf_clamped(ctx, &a_start, argv[2], 0, 0, INT64_MAX) || cf_clamped(ctx, &b_start, argv[3], 0, 0, INT64_MAX) ||
        cf_clamped(ctx, &a_len, argv[4], INT64_MAX, 0, INT64_MAX) || cf_clamped(ctx, &b_len, argv[5], INT64_MAX, 0, INT64_MAX) ||
        cf_view(ctx, argv[0], &a, &n) || cf_view(ctx, argv[1], &b, &m))
        return JS_EXCEPTION;
    if (a_start > (int64_t)n || b_start > (int64_t)m)
        return JS_ThrowRangeError(ctx, "compareOffset: the offset is out of range");
    n -= a_start;
    m -= b_start;
    return js_int32(cf_order(a + a_start, a_len < (int64_t)n ? a_len : n, b + b_start, b_len < (int64_t)m ? b_len : m));
}

/* copy(source, target, targetStart, sourceStart, count): a clamped memmove. Returns the count. */
NATIVE(cf_copy)
{
    uint8_t *from, *to;
    size_t n, m;
    int64_t to_start, from_start, count;

    if (cf_clamped(ctx, &to_start, argv[2], 0, 0, INT64_MAX) || cf_clamped(ctx, &from_start, argv[3], 0, 0, INT64_MAX) ||
        cf_clamped(ctx, &count, argv[4], INT64_MAX, 0, INT64_MAX) ||
        cf_view(ctx, argv[0], &from, &n) || cf_view(ctx, argv[1], &to, &m))
        return JS_EXCEPTION;
    if (to_start >= (int64_t)m || from_start >= (int64_t)n)
        return js_int32(0);
    if (count > (int64_t)m - to_start)
        count = m - to_start;
    if (count > (int64_t)n - from_start)
        count = n - from_start;
    memmove(to + to_start, from + from_start, count);
    return js_int64(count);
}

/* Repeats the first `m` bytes at `to` until `n` bytes are written. */
static void cf_repeat(uint8_t *to, size_t m, size_t n)
{
    while (m < n) {
        size_t step = m < n - m ? m : n - m;
        memcpy(to + m, to, step);
        m += step;
    }
}

/* fill(view, value, start, end, enc): returns -1 if out of range, -2 if `value` has no bytes */
NATIVE(cf_fill)
{
    uint8_t *p, *pattern;
    size_t n, m;
    int64_t start, end;
    uint32_t byte = 0;
    int enc;
    JSValue string = JS_UNDEFINED;
    bool is_number = !JS_IsString(argv[1]) && !JS_IsObject(argv[1]);

    if (cf_encoding(ctx, &enc, argv[4]) || cf_clamped(ctx, &start, argv[2], 0, -1, INT64_MAX) ||
        cf_clamped(ctx, &end, argv[3], INT64_MAX, -1, INT64_MAX) || (is_number && JS_ToUint32(ctx, &byte, argv[1])))
        return JS_EXCEPTION;
    if (JS_IsString(argv[1])) {
        string = cf_flat_string(ctx, argv[1]);
        if (JS_IsException(string))
            return string;
    }
    if (cf_view(ctx, argv[0], &p, &n)) {
        JS_FreeValue(ctx, string);
        return JS_EXCEPTION;
    }
    if (JS_IsUndefined(argv[3]))
        end = n;
    if (start < 0 || end > (int64_t)n) {
        JS_FreeValue(ctx, string);
        return js_int32(-1);
    }
    if (start >= end) {
        JS_FreeValue(ctx, string);
        return JS_UNDEFINED;
    }
    p += start;
    n = end - start;
    if (is_number) {
        memset(p, byte & 255, n);
        return JS_UNDEFINED;
    }
    if (JS_IsString(argv[1])) {
        m = cf_encode_string(JS_VALUE_GET_STRING(string), enc, p, n);
        JS_FreeValue(ctx, string);
        /* If not even one character fits, fills with the character's first bytes, as Node does. */
        if (!m)
            return js_int32(-2);
    } else {
        if (cf_view(ctx, argv[1], &pattern, &m))
            return JS_EXCEPTION;
        if (!m)
            return js_int32(-2);
        if (m > n)
            m = n;
        memmove(p, pattern, m);
    }
    cf_repeat(p, m, n);
    return JS_UNDEFINED;
}

/* The number of places that a search tests between two polls. The sidecar must be able to stop a
   long search. */
#define CF_SEARCH_POLL (1u << 16)

static int64_t cf_find(JSContext *ctx, const uint8_t *hay, size_t n, const uint8_t *needle, size_t m,
                       int64_t at, bool forward, size_t unit, bool *failed)
{
    int64_t last = (int64_t)n - (int64_t)m;

    if (at > last) {
        if (forward)
            return -1;
        at = last;
    }
    if (unit == 2)
        at &= ~(int64_t)1;
    for (;;) {
        uint32_t budget = CF_SEARCH_POLL;
        at = forward ? codec_find(hay, at, last, needle, m, unit, &budget) : codec_find_last(hay, at, needle, m, unit, &budget);
        if (at < 0 || at > last)
            return -1;
        if (budget)
            return at;
        if (__js_poll_interrupts(ctx)) {
            *failed = true;
            return -1;
        }
    }
}

/* indexOf(hay, needle, byteOffset, enc, forward) by Node's rules: a negative offset counts from
   the end, and an empty needle is found at the offset. UTF-16 is searched by whole units: an odd
   byte at the end is ignored, and an odd offset is rounded down. */
NATIVE(cf_index_of)
{
    uint8_t *hay, *needle, byte;
    size_t n, m;
    int64_t at, found;
    int enc;
    uint32_t number = 0;
    double offset;
    bool forward = JS_ToBool(ctx, argv[4]), failed = false;
    bool is_number = !JS_IsString(argv[1]) && !JS_IsObject(argv[1]);
    JSValue string = JS_UNDEFINED;
    uint8_t *encoded = NULL;

    if (cf_encoding(ctx, &enc, argv[3]) || JS_ToFloat64(ctx, &offset, argv[2]) ||
        (is_number && JS_ToUint32(ctx, &number, argv[1])))
        return JS_EXCEPTION;
    if (JS_IsString(argv[1])) {
        string = cf_flat_string(ctx, argv[1]);
        if (JS_IsException(string))
            return string;
        JSString *s = JS_VALUE_GET_STRING(string);
        m = cf_encoded_bound(s, enc);
        encoded = js_malloc(ctx, m ? m : 1);
        if (!encoded) {
            JS_FreeValue(ctx, string);
            return JS_EXCEPTION;
        }
        needle = encoded;
        m = cf_encode_string(s, enc, encoded, m);
        JS_FreeValue(ctx, string);
    } else if (is_number) {
        byte = number;
        needle = &byte;
        m = 1;
        enc = ENC_LATIN1;
    } else if (cf_view(ctx, argv[1], &needle, &m)) {
        return JS_EXCEPTION;
    }
    if (cf_view(ctx, argv[0], &hay, &n)) {
        js_free(ctx, encoded);
        return JS_EXCEPTION;
    }
    if (enc == ENC_UTF16LE && encoded)
        n &= ~(size_t)1;
    if (isnan(offset))
        offset = forward ? 0 : (double)n;
    if (offset < 0)
        offset += n;
    if (offset < 0) {
        if (!forward && m) {
            js_free(ctx, encoded);
            return js_int32(-1);
        }
        offset = 0;
    }
    at = offset > (double)n ? (int64_t)n : (int64_t)offset;
    if (m == 0)
        found = at;
    else if (m > n || (forward && m > n - at) || (enc == ENC_UTF16LE && (m &= ~(size_t)1) == 0))
        found = -1;
    else
        found = cf_find(ctx, hay, n, needle, m, at, forward, enc == ENC_UTF16LE ? 2 : 1, &failed);
    js_free(ctx, encoded);
    return failed ? JS_EXCEPTION : js_int64(found);
}

static JSValue cf_swap(JSContext *ctx, JSValueConst view, size_t width)
{
    uint8_t *p;
    size_t n;
    if (cf_view(ctx, view, &p, &n))
        return JS_EXCEPTION;
    codec_swap(p, n, width);
    return js_dup(view);
}

NATIVE(cf_swap16) { return cf_swap(ctx, argv[0], 2); }
NATIVE(cf_swap32) { return cf_swap(ctx, argv[0], 4); }
NATIVE(cf_swap64) { return cf_swap(ctx, argv[0], 8); }

NATIVE(cf_detach_array_buffer)
{
    if (JS_GetClassID(argv[0]) != JS_CLASS_ARRAY_BUFFER)
        return JS_ThrowTypeError(ctx, "detachArrayBuffer: expected an ArrayBuffer");
    JS_DetachArrayBuffer(ctx, argv[0]);
    return JS_UNDEFINED;
}
