/* Conversions between UTF-8, UTF-16, latin1 and ASCII, 16 bytes at a time where text is ASCII.
   The functions are declared in codecs.h, and text.c makes strings. UTF-8 is first checked as a
   whole, with vectors, and then converted without checks. text.c converts invalid text, more
   slowly. */
#include "codecs.h"
#include <string.h>
#include <wasm_simd128.h>

static inline uint32_t unit_at(const void *units, size_t i)
{
    uint16_t unit;
    memcpy(&unit, (const uint8_t *)units + 2 * i, 2);
    return unit;
}

static inline bool is_high_surrogate(uint32_t c) { return c >> 10 == 0xD800 >> 10; }
static inline bool is_low_surrogate(uint32_t c) { return c >> 10 == 0xDC00 >> 10; }

size_t codec_ascii_prefix(const uint8_t *bytes, size_t n)
{
    size_t i = 0;
    for (; n - i >= 64; i += 64) {
        v128_t a = wasm_v128_or(wasm_v128_load(bytes + i), wasm_v128_load(bytes + i + 16));
        v128_t b = wasm_v128_or(wasm_v128_load(bytes + i + 32), wasm_v128_load(bytes + i + 48));
        if (wasm_i8x16_bitmask(wasm_v128_or(a, b)))
            break;
    }
    for (; n - i >= 16; i += 16) {
        uint32_t above = wasm_i8x16_bitmask(wasm_v128_load(bytes + i));
        if (above)
            return i + __builtin_ctz(above);
    }
    while (i < n && bytes[i] < 0x80)
        i++;
    return i;
}

void codec_mask_ascii(uint8_t *to, const uint8_t *from, size_t n)
{
    size_t i = 0;
    for (; n - i >= 16; i += 16)
        wasm_v128_store(to + i, wasm_v128_and(wasm_v128_load(from + i), wasm_i8x16_splat(0x7F)));
    for (; i < n; i++)
        to[i] = from[i] & 0x7F;
}

void codec_widen(void *units, const uint8_t *from, size_t n)
{
    uint8_t *to = units;
    size_t i = 0;
    for (; n - i >= 16; i += 16) {
        v128_t x = wasm_v128_load(from + i);
        wasm_v128_store(to + 2 * i, wasm_u16x8_extend_low_u8x16(x));
        wasm_v128_store(to + 2 * i + 16, wasm_u16x8_extend_high_u8x16(x));
    }
    for (; i < n; i++) {
        to[2 * i] = from[i];
        to[2 * i + 1] = 0;
    }
}

static inline void load_units(const void *units, size_t i, v128_t *first, v128_t *second)
{
    *first = wasm_v128_load((const uint8_t *)units + 2 * i);
    *second = wasm_v128_load((const uint8_t *)units + 2 * i + 16);
}

void codec_narrow(uint8_t *to, const void *units, size_t n)
{
    const v128_t low = wasm_i16x8_splat(0xFF);
    v128_t first, second;
    size_t i = 0;
    for (; n - i >= 16; i += 16) {
        load_units(units, i, &first, &second);
        wasm_v128_store(to + i, wasm_u8x16_narrow_i16x8(wasm_v128_and(first, low), wasm_v128_and(second, low)));
    }
    for (; i < n; i++)
        to[i] = unit_at(units, i);
}

bool codec_fits_latin1(const void *units, size_t n)
{
    const v128_t high = wasm_i16x8_splat((int16_t)0xFF00);
    v128_t first, second;
    size_t i = 0;
    for (; n - i >= 16; i += 16) {
        load_units(units, i, &first, &second);
        if (wasm_v128_any_true(wasm_v128_and(wasm_v128_or(first, second), high)))
            return false;
    }
    for (; i < n; i++)
        if (unit_at(units, i) > 0xFF)
            return false;
    return true;
}

/* Validation of UTF-8.

   Two adjacent bytes are wrong for one of eight reasons, or for none. Three tables list the
   possible reasons. The tables `first_high` and `first_low` are for the upper and the lower half
   of the first byte. The table `second_high` is for the upper half of the second byte. A reason
   that all three tables list is an error. The bytes two and three positions before a byte show
   whether the byte must be the third or fourth of a character. Only such a byte may be the
   second of two adjacent continuations. */

enum {
    TOO_SHORT = 1,      /* a lead byte without a continuation */
    TOO_LONG = 2,       /* ASCII before a continuation */
    OVERLONG_3 = 4,
    TOO_LARGE = 8,      /* above U+10FFFF */
    SURROGATE = 16,
    OVERLONG_2 = 32,
    OVERLONG_4 = 64,    /* also a lead byte from F5 on before 80..8F */
    CONTINUATIONS = 128,
    ANY_LOW = TOO_SHORT | TOO_LONG | CONTINUATIONS,
    LOW_5_F = ANY_LOW | TOO_LARGE | OVERLONG_4,
    SECOND = TOO_LONG | OVERLONG_2 | CONTINUATIONS
};

static inline v128_t utf8_errors(v128_t bytes, v128_t before)
{
    const v128_t first_high = wasm_u8x16_make(TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG,
        CONTINUATIONS, CONTINUATIONS, CONTINUATIONS, CONTINUATIONS, TOO_SHORT | OVERLONG_2, TOO_SHORT,
        TOO_SHORT | OVERLONG_3 | SURROGATE, TOO_SHORT | TOO_LARGE | OVERLONG_4);
    const v128_t first_low = wasm_u8x16_make(
        ANY_LOW | OVERLONG_3 | OVERLONG_2 | OVERLONG_4, ANY_LOW | OVERLONG_2, ANY_LOW, ANY_LOW, ANY_LOW | TOO_LARGE,
        LOW_5_F, LOW_5_F, LOW_5_F, LOW_5_F, LOW_5_F, LOW_5_F, LOW_5_F, LOW_5_F, LOW_5_F | SURROGATE, LOW_5_F, LOW_5_F);
    const v128_t second_high = wasm_u8x16_make(
        TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
        SECOND | OVERLONG_3 | OVERLONG_4, SECOND | OVERLONG_3 | TOO_LARGE, SECOND | SURROGATE | TOO_LARGE,
        SECOND | SURROGATE | TOO_LARGE, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT);
    v128_t one = wasm_i8x16_shuffle(before, bytes, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
    v128_t two = wasm_i8x16_shuffle(before, bytes, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29);
    v128_t three = wasm_i8x16_shuffle(before, bytes, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28);

    v128_t reasons = wasm_i8x16_swizzle(first_high, wasm_u8x16_shr(one, 4));
    reasons = wasm_v128_and(reasons, wasm_i8x16_swizzle(first_low, wasm_v128_and(one, wasm_u8x16_splat(0x0F))));
    reasons = wasm_v128_and(reasons, wasm_i8x16_swizzle(second_high, wasm_u8x16_shr(bytes, 4)));
    /* The top bit is set where the byte must be a third or fourth byte. The bit equals
       CONTINUATIONS. */
    v128_t later = wasm_v128_or(wasm_u8x16_sub_sat(two, wasm_u8x16_splat(0xE0 - 0x80)),
        wasm_u8x16_sub_sat(three, wasm_u8x16_splat(0xF0 - 0x80)));
    return wasm_v128_xor(reasons, wasm_v128_and(later, wasm_u8x16_splat(CONTINUATIONS)));
}

bool codec_utf8_valid(const uint8_t *bytes, size_t n)
{
    v128_t before = wasm_i8x16_splat(0), errors = before;
    uint8_t rest[16] = { 0 };
    size_t i = codec_ascii_prefix(bytes, n);

    for (; n - i >= 16; i += 16) {
        v128_t now = wasm_v128_load(bytes + i);
        errors = wasm_v128_or(errors, utf8_errors(now, before));
        before = now;
        if (i % 4096 < 16 && wasm_v128_any_true(errors))
            return false;
    }
    /* The zeros after the end make a truncated character an error. */
    memcpy(rest, bytes + i, n - i);
    errors = wasm_v128_or(errors, utf8_errors(wasm_v128_load(rest), before));
    return !wasm_v128_any_true(errors);
}

size_t codec_utf8_units(const uint8_t *bytes, size_t n, bool *wide)
{
    v128_t most = wasm_i8x16_splat(0);
    size_t units = 0, i = 0;
    uint8_t highest = 0, lanes[16];

    for (; n - i >= 16; i += 16) {
        v128_t x = wasm_v128_load(bytes + i);
        units += __builtin_popcount(wasm_i8x16_bitmask(wasm_i8x16_gt(x, wasm_i8x16_splat(-65))));
        units += __builtin_popcount(wasm_i8x16_bitmask(wasm_u8x16_ge(x, wasm_u8x16_splat(0xF0))));
        most = wasm_u8x16_max(most, x);
    }
    wasm_v128_store(lanes, most);
    for (int k = 0; k < 16; k++)
        highest = lanes[k] > highest ? lanes[k] : highest;
    for (; i < n; i++) {
        units += ((int8_t)bytes[i] > -65) + (bytes[i] >= 0xF0);
        highest = bytes[i] > highest ? bytes[i] : highest;
    }
    *wide = highest > 0xC3;
    return units;
}

void codec_utf8_to_latin1(uint8_t *to, size_t units, const uint8_t *bytes, size_t n)
{
    const uint8_t *p = bytes, *end = bytes + n;
    uint8_t *stop = to + units;

    while (p < end) {
        if (end - p >= 16 && stop - to >= 16) {
            v128_t x = wasm_v128_load(p);
            uint32_t above = wasm_i8x16_bitmask(x), run = above ? __builtin_ctz(above) : 16;
            wasm_v128_store(to, x);
            p += run;
            to += run;
            if (!above)
                continue;
        }
        do {
            uint32_t c = *p++;
            *to++ = c < 0x80 ? c : c << 6 | (*p++ & 0x3F);
        } while (p < end && *p >= 0x80);
    }
}

void codec_utf8_to_utf16(uint16_t *to, size_t units, const uint8_t *bytes, size_t n)
{
    const uint8_t *p = bytes, *end = bytes + n;
    uint16_t *stop = to + units;

    while (p < end) {
        if (end - p >= 16 && stop - to >= 16) {
            v128_t x = wasm_v128_load(p);
            uint32_t above = wasm_i8x16_bitmask(x), run = above ? __builtin_ctz(above) : 16;
            wasm_v128_store(to, wasm_u16x8_extend_low_u8x16(x));
            wasm_v128_store(to + 8, wasm_u16x8_extend_high_u8x16(x));
            p += run;
            to += run;
            if (!above)
                continue;
        }
        do {
            uint32_t c = *p++;
            if (c < 0x80) {
                *to++ = c;
            } else if (c < 0xE0) {
                *to++ = (c & 0x1F) << 6 | (*p++ & 0x3F);
            } else if (c < 0xF0) {
                *to++ = c << 12 | (p[0] & 0x3F) << 6 | (p[1] & 0x3F);
                p += 2;
            } else {
                c = ((c & 7) << 18 | (p[0] & 0x3F) << 12 | (p[1] & 0x3F) << 6 | (p[2] & 0x3F)) - 0x10000;
                p += 3;
                *to++ = 0xD800 + (c >> 10);
                *to++ = 0xDC00 + (c & 0x3FF);
            }
        } while (p < end && *p >= 0x80);
    }
}

/* Conversion to UTF-8. */

size_t codec_utf8_length_latin1(const uint8_t *text, size_t n)
{
    size_t length = n, i = 0;
    for (; n - i >= 16; i += 16)
        length += __builtin_popcount(wasm_i8x16_bitmask(wasm_v128_load(text + i)));
    for (; i < n; i++)
        length += text[i] >> 7;
    return length;
}

size_t codec_utf8_length_utf16(const uint16_t *text, size_t n)
{
    size_t length = 0, i = 0;

    /* Each step may read one unit more than the step counts, because that unit may be the second
       half of a surrogate pair. */
    for (; n - i >= 9; i += 8) {
        v128_t x = wasm_v128_load(text + i);
        v128_t two = wasm_u16x8_ge(x, wasm_u16x8_splat(0x80)), three = wasm_u16x8_ge(x, wasm_u16x8_splat(0x800));
        length += 8 + __builtin_popcount(wasm_i8x16_bitmask(wasm_i8x16_narrow_i16x8(two, three)));
        v128_t kind = wasm_i16x8_splat((int16_t)0xFC00);
        v128_t high = wasm_i16x8_eq(wasm_v128_and(x, kind), wasm_i16x8_splat((int16_t)0xD800));
        if (wasm_v128_any_true(high)) {
            v128_t low = wasm_i16x8_eq(wasm_v128_and(wasm_v128_load(text + i + 1), kind), wasm_i16x8_splat((int16_t)0xDC00));
            length -= 2 * __builtin_popcount(wasm_i16x8_bitmask(wasm_v128_and(high, low)));
        }
    }
    for (; i < n; i++) {
        uint32_t c = text[i];
        length += 1 + (c >= 0x80) + (c >= 0x800);
        if (is_high_surrogate(c) && i + 1 < n && is_low_surrogate(text[i + 1]))
            length -= 2;
    }
    return length;
}

/* The number of free bytes that a store of a vector needs. A vector is stored whole and then
   partly overwritten. The store is correct only if later characters overwrite the rest of the
   vector. At most three bytes at the end stay unwritten, because a character does not fit. */
#define VECTOR_ROOM 19

size_t codec_latin1_to_utf8(uint8_t *to, size_t max, const uint8_t *text, size_t n, size_t *read)
{
    size_t k = 0, i = 0;

    while (i < n) {
        if (n - i >= 16 && max - k >= VECTOR_ROOM) {
            v128_t x = wasm_v128_load(text + i);
            uint32_t above = wasm_i8x16_bitmask(x), run = above ? __builtin_ctz(above) : 16;
            wasm_v128_store(to + k, x);
            i += run;
            k += run;
            if (!above)
                continue;
        }
        do {
            uint32_t c = text[i];
            if (max - k < 1 + (c >> 7))
                goto full;
            if (c < 0x80) {
                to[k++] = c;
            } else {
                to[k++] = 0xC0 | c >> 6;
                to[k++] = 0x80 | (c & 0x3F);
            }
        } while (++i < n && text[i] >= 0x80);
    }
full:
    *read = i;
    return k;
}

size_t codec_utf16_to_utf8(uint8_t *to, size_t max, const uint16_t *text, size_t n, size_t *read)
{
    const v128_t beyond = wasm_i16x8_splat((int16_t)0xFF80);
    size_t k = 0, i = 0;

    while (i < n) {
        if (n - i >= 16 && max - k >= VECTOR_ROOM) {
            v128_t first, second;
            load_units(text, i, &first, &second);
            v128_t is_ascii = wasm_i8x16_narrow_i16x8(wasm_i16x8_eq(wasm_v128_and(first, beyond), wasm_i16x8_splat(0)),
                                                      wasm_i16x8_eq(wasm_v128_and(second, beyond), wasm_i16x8_splat(0)));
            uint32_t above = ~wasm_i8x16_bitmask(is_ascii) & 0xFFFF, run = above ? __builtin_ctz(above) : 16;
            wasm_v128_store(to + k, wasm_u8x16_narrow_i16x8(first, second));
            i += run;
            k += run;
            if (!above)
                continue;
        }
        do {
            uint32_t c = text[i];
            if (c < 0x80) {
                if (max == k)
                    goto full;
                to[k++] = c;
            } else if (c < 0x800) {
                if (max - k < 2)
                    goto full;
                to[k++] = 0xC0 | c >> 6;
                to[k++] = 0x80 | (c & 0x3F);
            } else if (is_high_surrogate(c) && i + 1 < n && is_low_surrogate(text[i + 1])) {
                if (max - k < 4)
                    goto full;
                c = 0x10000 + ((c & 0x3FF) << 10) + (text[++i] & 0x3FF);
                to[k++] = 0xF0 | c >> 18;
                to[k++] = 0x80 | (c >> 12 & 0x3F);
                to[k++] = 0x80 | (c >> 6 & 0x3F);
                to[k++] = 0x80 | (c & 0x3F);
            } else {
                if (max - k < 3)
                    goto full;
                if (c >> 11 == 0xD800 >> 11)
                    c = 0xFFFD;
                to[k++] = 0xE0 | c >> 12;
                to[k++] = 0x80 | (c >> 6 & 0x3F);
                to[k++] = 0x80 | (c & 0x3F);
            }
        } while (++i < n && text[i] >= 0x80);
    }
full:
    *read = i;
    return k;
}
