/* The inner loops of text and bytes: memory in, memory out, nothing of the engine. They are units of their own (codecs.c, unicode.c), so that
   work on them does not compile the engine again, and they use 16-byte vectors. None reads or writes beyond the lengths it is given. */
#ifndef COLDFRAME_CODECS_H
#define COLDFRAME_CODECS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* codecs.c */

typedef enum CodecAlphabet { CODEC_BASE64, CODEC_BASE64URL } CodecAlphabet;

/* Writes codec_base64_length() characters. */
void codec_base64_encode(uint8_t *to, const uint8_t *from, size_t n, CodecAlphabet alphabet);
size_t codec_base64_length(size_t n, CodecAlphabet alphabet);

/* Where a decoder of text in pieces stands. Starts as zero. */
typedef struct CodecBase64 {
    uint32_t bits;
    int have;
    bool ended;
} CodecBase64;

/* Node's forgiving rules: both alphabets, other characters are skipped, "=" ends. Returns the number of bytes written. */
size_t codec_base64_decode(CodecBase64 *state, uint8_t *to, size_t max, const uint8_t *text, size_t n);

/* A prefix, a multiple of four long, that is all in the standard alphabet: its length. Writes three bytes for every four characters. */
size_t codec_base64_strict_prefix(uint8_t *to, const uint8_t *text, size_t n);

/* -1 for a character of neither alphabet. */
int codec_base64_digit(uint32_t character);

void codec_hex_encode(uint8_t *to, const uint8_t *from, size_t n);
/* Stops before the first pair that is not hexadecimal. Returns the number of bytes written. */
size_t codec_hex_decode(uint8_t *to, size_t max, const uint8_t *text, size_t n);

/* The first place in [at, last] where the `m` > 0 bytes at `needle` are; beyond `last` when there is none. `unit` is 1, or 2 when only every other
   place counts. `*budget` falls with the work done; when it is used up, it is 0 and the result is the place to go on from. */
int64_t codec_find(const uint8_t *hay, int64_t at, int64_t last, const uint8_t *needle, size_t m, size_t unit, uint32_t *budget);
/* The same, downward from `at`; below 0 when there is none. The haystack has at + m bytes. */
int64_t codec_find_last(const uint8_t *hay, int64_t at, const uint8_t *needle, size_t m, size_t unit, uint32_t *budget);

/* Turns round each `width` bytes: 2, 4 or 8. */
void codec_swap(uint8_t *bytes, size_t n, size_t width);

/* unicode.c: UTF-16 is in the machine's order, which is little endian; its pointers may be odd. */

size_t codec_ascii_prefix(const uint8_t *bytes, size_t n);
void codec_mask_ascii(uint8_t *to, const uint8_t *from, size_t n);
void codec_widen(void *units, const uint8_t *from, size_t n);
/* The low bytes of 16-bit units. */
void codec_narrow(uint8_t *to, const void *units, size_t n);
bool codec_fits_latin1(const void *units, size_t n);

/* Whether the bytes are UTF-8 as WHATWG has it; if so, the length in UTF-16 and whether a unit is above 0xFF. */
bool codec_utf8_valid(const uint8_t *bytes, size_t n);
size_t codec_utf8_units(const uint8_t *bytes, size_t n, bool *wide);
/* From valid UTF-8 of exactly `units` units. */
void codec_utf8_to_utf16(uint16_t *to, size_t units, const uint8_t *bytes, size_t n);
void codec_utf8_to_latin1(uint8_t *to, size_t units, const uint8_t *bytes, size_t n);

/* Lengths in UTF-8; a surrogate that is alone counts as U+FFFD. */
size_t codec_utf8_length_latin1(const uint8_t *text, size_t n);
size_t codec_utf8_length_utf16(const uint16_t *text, size_t n);
/* Whole characters, as many as fit into `max` bytes. `*read` gets the number of units taken. Returns the number of bytes written. */
size_t codec_latin1_to_utf8(uint8_t *to, size_t max, const uint8_t *text, size_t n, size_t *read);
size_t codec_utf16_to_utf8(uint8_t *to, size_t max, const uint16_t *text, size_t n, size_t *read);

#endif
