/* The inner loops of text and bytes, which use no part of the engine. The loops are compilation
   units of their own (codecs.c, unicode.c), so that a change of a loop does not compile the
   engine again. The loops use 16-byte vectors. No loop reads or writes beyond the given lengths. */
#ifndef COLDFRAME_CODECS_H
#define COLDFRAME_CODECS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* codecs.c */

typedef enum CodecAlphabet { CODEC_BASE64, CODEC_BASE64URL } CodecAlphabet;

/* Writes the base64 text, codec_base64_length() characters. */
void codec_base64_encode(uint8_t *to, const uint8_t *from, size_t n, CodecAlphabet alphabet);
size_t codec_base64_length(size_t n, CodecAlphabet alphabet);

/* The state of a decoder that receives a text in pieces. The initial state is zero. */
typedef struct CodecBase64 {
    uint32_t bits;
    int have;
    bool ended;
} CodecBase64;

/* Decodes by Node's lenient rules: both alphabets, other characters are skipped, "=" ends the text.
   Returns the number of bytes written. */
size_t codec_base64_decode(CodecBase64 *state, uint8_t *to, size_t max, const uint8_t *text, size_t n);

/* Decodes blocks of sixteen characters, up to the first block with a character outside the
   standard alphabet. Returns the number of decoded characters, and writes three bytes for every
   four characters. */
size_t codec_base64_strict_prefix(uint8_t *to, const uint8_t *text, size_t n);

/* Returns the value of a digit, or -1 for a character of neither alphabet. */
int codec_base64_digit(uint32_t character);

void codec_hex_encode(uint8_t *to, const uint8_t *from, size_t n);
/* Decodes up to the first pair that is not hexadecimal. Returns the number of bytes written. */
size_t codec_hex_decode(uint8_t *to, size_t max, const uint8_t *text, size_t n);

/* Returns the first place in [at, last] that has the `m` > 0 bytes at `needle`, or a place
   beyond `last`. `unit` is 1, or 2 if only every second place counts. The work is subtracted
   from `*budget`. If the budget reaches 0, returns the place from which the caller can continue. */
int64_t codec_find(const uint8_t *hay, int64_t at, int64_t last, const uint8_t *needle, size_t m, size_t unit, uint32_t *budget);
/* Searches downward from `at`. Returns a place below 0 if there is no match. The haystack has at
   least at + m bytes. */
int64_t codec_find_last(const uint8_t *hay, int64_t at, const uint8_t *needle, size_t m, size_t unit, uint32_t *budget);

/* Reverses each group of `width` bytes: 2, 4 or 8. */
void codec_swap(uint8_t *bytes, size_t n, size_t width);

/* unicode.c. UTF-16 is in the machine's order, which is little endian; pointers to UTF-16 may be
   odd. */

size_t codec_ascii_prefix(const uint8_t *bytes, size_t n);
void codec_mask_ascii(uint8_t *to, const uint8_t *from, size_t n);
void codec_widen(void *units, const uint8_t *from, size_t n);
/* Copies the low byte of each 16-bit unit. */
void codec_narrow(uint8_t *to, const void *units, size_t n);
bool codec_fits_latin1(const void *units, size_t n);

/* Returns whether the bytes are UTF-8 as WHATWG defines UTF-8. For valid bytes, codec_utf8_units
   returns the length in UTF-16, and sets `*wide` to whether a unit is above 0xFF. */
bool codec_utf8_valid(const uint8_t *bytes, size_t n);
size_t codec_utf8_units(const uint8_t *bytes, size_t n, bool *wide);
/* Converts valid UTF-8 that has exactly `units` UTF-16 units. */
void codec_utf8_to_utf16(uint16_t *to, size_t units, const uint8_t *bytes, size_t n);
void codec_utf8_to_latin1(uint8_t *to, size_t units, const uint8_t *bytes, size_t n);

/* Return the length of a text in UTF-8. A lone surrogate counts as U+FFFD. */
size_t codec_utf8_length_latin1(const uint8_t *text, size_t n);
size_t codec_utf8_length_utf16(const uint16_t *text, size_t n);
/* Writes as many whole characters as fit into `max` bytes. Sets `*read` to the number of units
   read. Returns the number of bytes written. */
size_t codec_latin1_to_utf8(uint8_t *to, size_t max, const uint8_t *text, size_t n, size_t *read);
size_t codec_utf16_to_utf8(uint8_t *to, size_t max, const uint16_t *text, size_t n, size_t *read);

#endif
