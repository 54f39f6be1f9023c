/* memcpy, memmove, memset and memcmp without wasm's bulk-memory instructions.

   The sidecar kills a VM by removing its memory: every access then traps. wasmtime executes a
   bulk instruction with its own memcpy. A fault in that function would crash the sidecar and not
   trap the guest. The module therefore contains no bulk instruction, and the image builder
   checks this rule. These functions replace libc's functions. The functions move 16 bytes at a
   time with vector instructions and are almost as fast as bulk instructions. The flag
   -fno-builtin keeps the compiler from turning the loops into calls of these functions. */
#include <stddef.h>
#include <stdint.h>
#include <wasm_simd128.h>

#define BIG 64

static inline void copy16(uint8_t *to, const uint8_t *from)
{
    wasm_v128_store(to, wasm_v128_load(from));
}

typedef uint64_t __attribute__((aligned(1))) Word8;
typedef uint32_t __attribute__((aligned(1))) Word4;

/* Copies 0 to 16 bytes with any overlap: all loads precede all stores. */
static inline void copy_small(uint8_t *to, const uint8_t *from, size_t n)
{
    if (n >= 8) {
        uint64_t a = *(const Word8 *)from, b = *(const Word8 *)(from + n - 8);
        *(Word8 *)to = a;
        *(Word8 *)(to + n - 8) = b;
    } else if (n >= 4) {
        uint32_t a = *(const Word4 *)from, b = *(const Word4 *)(from + n - 4);
        *(Word4 *)to = a;
        *(Word4 *)(to + n - 4) = b;
    } else if (n) {
        uint8_t a = from[0], b = from[n >> 1], c = from[n - 1];
        to[0] = a;
        to[n >> 1] = b;
        to[n - 1] = c;
    }
}

static void copy_forward(uint8_t *to, const uint8_t *from, size_t n)
{
    /* The last 16 bytes are loaded first, because a forward copy may overwrite them. */
    v128_t last = wasm_v128_load(from + n - 16);
    uint8_t *end = to + n;

    while (n >= BIG) {
        v128_t a = wasm_v128_load(from), b = wasm_v128_load(from + 16);
        v128_t c = wasm_v128_load(from + 32), d = wasm_v128_load(from + 48);
        wasm_v128_store(to, a);
        wasm_v128_store(to + 16, b);
        wasm_v128_store(to + 32, c);
        wasm_v128_store(to + 48, d);
        to += BIG;
        from += BIG;
        n -= BIG;
    }
    while (n > 16) {
        copy16(to, from);
        to += 16;
        from += 16;
        n -= 16;
    }
    wasm_v128_store(end - 16, last);
}

static void copy_backward(uint8_t *to, const uint8_t *from, size_t n)
{
    v128_t first = wasm_v128_load(from);
    uint8_t *begin = to;

    while (n >= BIG) {
        n -= BIG;
        v128_t a = wasm_v128_load(from + n), b = wasm_v128_load(from + n + 16);
        v128_t c = wasm_v128_load(from + n + 32), d = wasm_v128_load(from + n + 48);
        wasm_v128_store(to + n + 48, d);
        wasm_v128_store(to + n + 32, c);
        wasm_v128_store(to + n + 16, b);
        wasm_v128_store(to + n, a);
    }
    while (n > 16) {
        n -= 16;
        copy16(to + n, from + n);
    }
    wasm_v128_store(begin, first);
}

void *memmove(void *target, const void *source, size_t n)
{
    uint8_t *to = target;
    const uint8_t *from = source;

    if (n <= 16)
        copy_small(to, from, n);
    else if ((uintptr_t)to - (uintptr_t)from >= n)
        copy_forward(to, from, n);
    else
        copy_backward(to, from, n);
    return target;
}

void *memcpy(void *restrict target, const void *restrict source, size_t n)
{
    return memmove(target, source, n);
}

void *memset(void *target, int value, size_t n)
{
    uint8_t *to = target;

    if (n < 16) {
        for (size_t i = 0; i < n; i++)
            to[i] = (uint8_t)value;
        return target;
    }
    v128_t v = wasm_i8x16_splat((int8_t)value);
    uint8_t *end = to + n - 16;
    while (n >= BIG) {
        wasm_v128_store(to, v);
        wasm_v128_store(to + 16, v);
        wasm_v128_store(to + 32, v);
        wasm_v128_store(to + 48, v);
        to += BIG;
        n -= BIG;
    }
    while (n > 16) {
        wasm_v128_store(to, v);
        to += 16;
        n -= 16;
    }
    wasm_v128_store(end, v);
    return target;
}

int memcmp(const void *left, const void *right, size_t n)
{
    const uint8_t *a = left, *b = right;

    while (n >= 16 && wasm_i8x16_all_true(wasm_i8x16_eq(wasm_v128_load(a), wasm_v128_load(b)))) {
        a += 16;
        b += 16;
        n -= 16;
    }
    for (; n; a++, b++, n--)
        if (*a != *b)
            return *a - *b;
    return 0;
}
