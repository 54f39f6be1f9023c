/* Base64, hexadecimal, search and byte order, 16 bytes at a time. codecs.h declares these inner
   loops; text.c and bytes.c make natives of them. Next: unicode.c. */
#include "codecs.h"
#include <string.h>
#include <wasm_simd128.h>

#define NIBBLE 0x0F
#define INVALID 0xFF

static const char digits[2][65] = {
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
};

/* Base64 encoding. */

size_t codec_base64_length(size_t n, CodecAlphabet alphabet)
{
    size_t rest = n % 3;
    return n / 3 * 4 + (rest == 0 ? 0 : alphabet == CODEC_BASE64 ? 4 : rest + 1);
}

/* Converts sixteen values below 64 to characters. The two cases of letters have one offset each,
   and each value above 51 has an offset of its own. `which` is the index of the offset: 0 for
   small letters, 13 for capital letters, 1 to 12 for values above 51. */
static inline v128_t base64_characters(v128_t values, v128_t offsets)
{
    v128_t which = wasm_u8x16_sub_sat(values, wasm_u8x16_splat(51));
    v128_t upper = wasm_u8x16_lt(values, wasm_u8x16_splat(26));
    which = wasm_v128_or(which, wasm_v128_and(upper, wasm_u8x16_splat(13)));
    return wasm_i8x16_add(values, wasm_i8x16_swizzle(offsets, which));
}

void codec_base64_encode(uint8_t *to, const uint8_t *from, size_t n, CodecAlphabet alphabet)
{
    const char *digit = digits[alphabet];
    const int8_t plus = digit[62] - 62, slash = digit[63] - 63;
    const v128_t offsets = wasm_i8x16_make('a' - 26, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, plus, slash, 'A', 0, 0);
    size_t i = 0;

    for (; i + 16 <= n; i += 12, to += 16) {
        v128_t x = wasm_v128_load(from + i);
        /* three bytes per lane, with the first byte in the upper bits */
        x = wasm_i8x16_shuffle(x, x, 2, 1, 0, 0, 5, 4, 3, 3, 8, 7, 6, 6, 11, 10, 9, 9);
        v128_t values = wasm_v128_and(wasm_u32x4_shr(x, 18), wasm_i32x4_splat(0x3F));
        values = wasm_v128_or(values, wasm_v128_and(wasm_u32x4_shr(x, 4), wasm_i32x4_splat(0x3F00)));
        values = wasm_v128_or(values, wasm_v128_and(wasm_i32x4_shl(x, 10), wasm_i32x4_splat(0x3F0000)));
        values = wasm_v128_or(values, wasm_v128_and(wasm_i32x4_shl(x, 24), wasm_i32x4_splat(0x3F000000)));
        wasm_v128_store(to, base64_characters(values, offsets));
    }
    for (; i + 3 <= n; i += 3) {
        uint32_t x = from[i] << 16 | from[i + 1] << 8 | from[i + 2];
        *to++ = digit[x >> 18];
        *to++ = digit[x >> 12 & 63];
        *to++ = digit[x >> 6 & 63];
        *to++ = digit[x & 63];
    }
    if (i == n)
        return;
    uint32_t x = from[i] << 16 | (n - i == 2 ? from[i + 1] << 8 : 0);
    *to++ = digit[x >> 18];
    *to++ = digit[x >> 12 & 63];
    if (n - i == 2)
        *to++ = digit[x >> 6 & 63];
    if (alphabet == CODEC_BASE64) {
        *to++ = '=';
        if (n - i == 1)
            *to++ = '=';
    }
}

/* Base64 decoding. */

/* The value of each character of both alphabets, or INVALID. */
static const uint8_t base64_values[256] = {
#define X4 INVALID, INVALID, INVALID, INVALID
#define X16 X4, X4, X4, X4
    X16, X16,
    X4, X4, INVALID, INVALID, INVALID, 62, INVALID, 62, INVALID, 63,
    52, 53, 54, 55, 56, 57, 58, 59, 60, 61, INVALID, INVALID, X4,
    INVALID, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
    15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, INVALID, INVALID, INVALID, INVALID, 63,
    INVALID, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
    41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, INVALID, X4,
    X16, X16, X16, X16, X16, X16, X16, X16,
#undef X4
#undef X16
};

int codec_base64_digit(uint32_t character)
{
    return character > 0xFF || base64_values[character] == INVALID ? -1 : base64_values[character];
}

/* Classes of characters by the upper half of the character. `wrong_low` has, for each lower
   half, the classes in which that lower half is no digit. */
enum { HALF_2 = 1, HALF_3 = 2, HALF_4_6 = 4, HALF_5 = 8, HALF_7 = 16, NEVER = 32 };
#define ALL_BUT(...) (63 & ~(__VA_ARGS__))

/* Converts sixteen characters to the values of their digits. Returns false if a character is no
   digit. */
static inline bool base64_digits(v128_t text, bool url, v128_t *values)
{
    const v128_t class_of_high = wasm_u8x16_make(NEVER, NEVER, HALF_2, HALF_3, HALF_4_6, HALF_5, HALF_4_6, HALF_7,
                                                 NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER);
    enum { LETTERS = HALF_4_6 | HALF_5 | HALF_7 };
    const uint8_t minus = url ? ALL_BUT(HALF_4_6 | HALF_2) : ALL_BUT(HALF_4_6);
    const uint8_t underscore = url ? ALL_BUT(HALF_4_6 | HALF_2 | HALF_5) : ALL_BUT(HALF_4_6 | HALF_2);
    const v128_t wrong_low = wasm_u8x16_make(ALL_BUT(HALF_3 | HALF_5 | HALF_7),
        ALL_BUT(HALF_3 | LETTERS), ALL_BUT(HALF_3 | LETTERS), ALL_BUT(HALF_3 | LETTERS), ALL_BUT(HALF_3 | LETTERS),
        ALL_BUT(HALF_3 | LETTERS), ALL_BUT(HALF_3 | LETTERS), ALL_BUT(HALF_3 | LETTERS), ALL_BUT(HALF_3 | LETTERS),
        ALL_BUT(HALF_3 | LETTERS), ALL_BUT(LETTERS), ALL_BUT(HALF_4_6 | HALF_2), ALL_BUT(HALF_4_6), minus,
        ALL_BUT(HALF_4_6), underscore);
    const v128_t offset_of_high = wasm_i8x16_make(
        0, 0, 63 - '/', 52 - '0', -'A', -'A', 26 - 'a', 26 - 'a', 0, 0, 0, 0, 0, 0, 0, 0);
    v128_t high = wasm_u8x16_shr(text, 4), low = wasm_v128_and(text, wasm_u8x16_splat(NIBBLE));

    if (wasm_v128_any_true(wasm_v128_and(wasm_i8x16_swizzle(class_of_high, high), wasm_i8x16_swizzle(wrong_low, low))))
        return false;
    v128_t value = wasm_i8x16_add(text, wasm_i8x16_swizzle(offset_of_high, high));
    /* the characters whose offset is not the offset of their upper half */
    v128_t more = wasm_v128_and(wasm_i8x16_eq(text, wasm_i8x16_splat('+')), wasm_i8x16_splat(62 - '+' - (63 - '/')));
    if (url) {
        more = wasm_v128_or(more, wasm_v128_and(wasm_i8x16_eq(text, wasm_i8x16_splat('-')),
                                                wasm_i8x16_splat(62 - '-' - (63 - '/'))));
        more = wasm_v128_or(more, wasm_v128_and(wasm_i8x16_eq(text, wasm_i8x16_splat('_')), wasm_i8x16_splat(63 - '_' + 'A')));
    }
    *values = wasm_i8x16_add(value, more);
    return true;
}

/* Converts sixteen digits to twelve bytes. Stores exactly twelve bytes, because the bytes that
   follow may belong to the program. */
static inline void base64_bytes(uint8_t *to, v128_t values)
{
    v128_t pairs = wasm_v128_or(wasm_i16x8_shl(wasm_v128_and(values, wasm_i16x8_splat(0x3F)), 6), wasm_u16x8_shr(values, 8));
    v128_t fours = wasm_i32x4_dot_i16x8(pairs, wasm_i32x4_splat(1 << 16 | 1 << 12));
    v128_t bytes = wasm_i8x16_shuffle(fours, fours, 2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, 0, 0, 0, 0);
    wasm_v128_store64_lane(to, bytes, 0);
    wasm_v128_store32_lane(to + 8, bytes, 2);
}

size_t codec_base64_decode(CodecBase64 *state, uint8_t *to, size_t max, const uint8_t *text, size_t n)
{
    size_t k = 0, i = 0;
    uint32_t bits = state->bits;
    int have = state->have;

    while (!state->ended && i < n && k < max) {
        v128_t values;
        if (have == 0) {
            while (n - i >= 16 && max - k >= 12 && base64_digits(wasm_v128_load(text + i), true, &values)) {
                base64_bytes(to + k, values);
                i += 16;
                k += 12;
            }
        }
        /* Converts the end of the text, or a group with a skipped character, up to the next
           whole group. */
        for (size_t stop = n - i > 16 && max - k >= 12 ? i + 16 : n; i < n && k < max && (i < stop || have); i++) {
            uint8_t value = base64_values[text[i]];
            if (value != INVALID) {
                bits = bits << 6 | value;
                have += 6;
                if (have >= 8) {
                    have -= 8;
                    to[k++] = bits >> have;
                }
            } else if (text[i] == '=') {
                state->ended = true;
                break;
            }
        }
    }
    state->bits = bits;
    state->have = have;
    return k;
}

size_t codec_base64_strict_prefix(uint8_t *to, const uint8_t *text, size_t n)
{
    size_t i = 0;
    v128_t values;

    for (; n - i >= 16 && base64_digits(wasm_v128_load(text + i), false, &values); i += 16, to += 12)
        base64_bytes(to, values);
    return i;
}

/* Hexadecimal. */

void codec_hex_encode(uint8_t *to, const uint8_t *from, size_t n)
{
    static const char hex[] = "0123456789abcdef";
    const v128_t characters = wasm_v128_load(hex);
    size_t i = 0;

    for (; i + 16 <= n; i += 16, to += 32) {
        v128_t x = wasm_v128_load(from + i);
        v128_t high = wasm_i8x16_swizzle(characters, wasm_u8x16_shr(x, 4));
        v128_t low = wasm_i8x16_swizzle(characters, wasm_v128_and(x, wasm_u8x16_splat(NIBBLE)));
        wasm_v128_store(to, wasm_i8x16_shuffle(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
        wasm_v128_store(to + 16, wasm_i8x16_shuffle(high, low, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
    }
    for (; i < n; i++) {
        *to++ = hex[from[i] >> 4];
        *to++ = hex[from[i] & NIBBLE];
    }
}

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Converts sixteen characters to eight 16-bit values. Returns false if a character is no digit. */
static inline bool hex_bytes(v128_t text, v128_t *values)
{
    v128_t number = wasm_i8x16_sub(text, wasm_i8x16_splat('0'));
    v128_t letter = wasm_i8x16_sub(wasm_v128_or(text, wasm_i8x16_splat(32)), wasm_i8x16_splat('a'));
    v128_t is_number = wasm_u8x16_lt(number, wasm_u8x16_splat(10)), is_letter = wasm_u8x16_lt(letter, wasm_u8x16_splat(6));

    if (!wasm_i8x16_all_true(wasm_v128_or(is_number, is_letter)))
        return false;
    v128_t digit = wasm_v128_bitselect(number, wasm_i8x16_add(letter, wasm_i8x16_splat(10)), is_number);
    *values = wasm_v128_and(wasm_v128_or(wasm_i16x8_shl(digit, 4), wasm_u16x8_shr(digit, 8)), wasm_i16x8_splat(0xFF));
    return true;
}

size_t codec_hex_decode(uint8_t *to, size_t max, const uint8_t *text, size_t n)
{
    size_t k = 0;
    v128_t first, second;

    if (max > n / 2)
        max = n / 2;
    for (; max - k >= 16; k += 16) {
        if (!hex_bytes(wasm_v128_load(text + 2 * k), &first) || !hex_bytes(wasm_v128_load(text + 2 * k + 16), &second))
            break;
        wasm_v128_store(to + k, wasm_u8x16_narrow_i16x8(first, second));
    }
    for (; k < max; k++) {
        int high = hex_digit(text[2 * k]), low = hex_digit(text[2 * k + 1]);
        if (high < 0 || low < 0)
            break;
        to[k] = high << 4 | low;
    }
    return k;
}

/* Search. */

/* Tests sixteen places at once. Returns a bit for each place at which the first and the last
   byte of the needle match. */
static inline uint32_t likely_places(const uint8_t *hay, v128_t head, v128_t tail, size_t m)
{
    return wasm_i8x16_bitmask(wasm_v128_and(wasm_i8x16_eq(wasm_v128_load(hay), head),
                                            wasm_i8x16_eq(wasm_v128_load(hay + m - 1), tail)));
}

int64_t codec_find(const uint8_t *hay, int64_t at, int64_t last, const uint8_t *needle, size_t m, size_t unit, uint32_t *budget)
{
    const v128_t head = wasm_u8x16_splat(needle[0]), tail = wasm_u8x16_splat(needle[m - 1]);
    const uint32_t price = 1 + m / 16, starts = unit == 2 ? 0x5555 : 0xFFFF;

    while (at <= last) {
        bool is_whole = last - at >= 15;
        uint32_t cost = 1, places = is_whole ? likely_places(hay + at, head, tail, m) & starts : hay[at] == needle[0];
        for (; places; places &= places - 1) {
            int64_t place = at + __builtin_ctz(places);
            if (!memcmp(hay + place, needle, m))
                return place;
            cost += price;
        }
        at += is_whole ? 16 : unit;
        if (*budget <= cost) {
            *budget = 0;
            return at;
        }
        *budget -= cost;
    }
    return at;
}

int64_t codec_find_last(const uint8_t *hay, int64_t at, const uint8_t *needle, size_t m, size_t unit, uint32_t *budget)
{
    const v128_t head = wasm_u8x16_splat(needle[0]), tail = wasm_u8x16_splat(needle[m - 1]);
    /* Bit 15 is the place `at`, so with units of two bytes the valid places are the odd bits. */
    const uint32_t price = 1 + m / 16, starts = unit == 2 ? 0xAAAA : 0xFFFF;

    while (at >= 0) {
        bool is_whole = at >= 15;
        uint32_t cost = 1, places = is_whole ? likely_places(hay + at - 15, head, tail, m) & starts
                                             : (uint32_t)(hay[at] == needle[0]) << 15;
        while (places) {
            uint32_t bit = 31 - __builtin_clz(places);
            int64_t place = at - 15 + bit;
            if (!memcmp(hay + place, needle, m))
                return place;
            cost += price;
            places ^= 1u << bit;
        }
        at -= is_whole ? 16 : unit;
        if (*budget <= cost) {
            *budget = 0;
            return at;
        }
        *budget -= cost;
    }
    return at;
}

/* Byte order. */

void codec_swap(uint8_t *bytes, size_t n, size_t width)
{
    size_t i = 0;
    for (; n - i >= 16; i += 16) {
        v128_t x = wasm_v128_load(bytes + i);
        if (width == 2)
            x = wasm_i8x16_shuffle(x, x, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
        else if (width == 4)
            x = wasm_i8x16_shuffle(x, x, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
        else
            x = wasm_i8x16_shuffle(x, x, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
        wasm_v128_store(bytes + i, x);
    }
    for (; i + width <= n; i += width)
        for (size_t j = 0; j < width / 2; j++) {
            uint8_t byte = bytes[i + j];
            bytes[i + j] = bytes[i + width - 1 - j];
            bytes[i + width - 1 - j] = byte;
        }
}
