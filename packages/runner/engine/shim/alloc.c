/* The guest's heap: a two-level segregated fit, with one bitmap search per allocation. Adjacent
   free blocks are merged. Three needs explain why the guest has a heap of its own:

   - The end of the heap is stored in linear memory and is not the size of the memory. A
     rolled-back guest therefore finds a consistent heap although its memory has grown.
   - After the freeze the image's blocks are never written: free() ignores these blocks, and
     realloc() copies their content to new blocks. New blocks come from fresh pages in the order
     of the requests, so a short run dirties few pages. Free blocks of the image are not reused.
     Writing a page of the image costs a fault and a copy, but writing a fresh page costs only a
     fault.
   - Fresh pages are zero, and calloc() does not clear fresh pages: a large empty ArrayBuffer
     writes nothing.

   A block has 8 bytes of header, then the payload, whose address is divisible by 16. Sizes
   include the header and are multiples of 16.

   | size + flags | previous block |  payload ...              |
   |   (4 bytes)  |   (4 bytes)    |  free: next, previous     |

   The top, [heap.top, heap.end), is above the last block: linear memory that no block uses yet. */
#include "alloc.h"
#include "host.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEADER 8u
#define GRAIN 16u
#define FREE 1u
#define PREV_FREE 2u
#define FLAGS 15u
#define SL_BITS 4
#define SL_COUNT (1u << SL_BITS)
#define SMALL 256u /* smaller sizes have classes of GRAIN bytes */
#define FL_COUNT 25
#define MAX_REQUEST 0x7fff0000u
#define PAGE 65536u
#define GROW_STEP (256u << 10)
#define RESERVE (64u << 10)

typedef struct Block {
    uint32_t size; /* includes the flags */
    struct Block *prev;
    struct Block *next_free, *prev_free; /* valid while the block is free */
} Block;

static struct {
    uint32_t fl_bits;
    uint32_t sl_bits[FL_COUNT];
    Block *lists[FL_COUNT][SL_COUNT];
    uintptr_t top, end;   /* the part of the linear memory that no block uses */
    uintptr_t high;       /* memory from this address on is unused and zero */
    Block *last;          /* the block just below the top */
    size_t used, base;
    uint32_t reserve;     /* bytes at the end that only an emergency may use */
} heap;

uintptr_t cf_frozen_end;

static inline uint32_t size_of(const Block *b) { return b->size & ~FLAGS; }
static inline Block *block_of(const void *payload) { return (Block *)((uintptr_t)payload - HEADER); }
static inline void *payload_of(Block *b) { return (void *)((uintptr_t)b + HEADER); }
static inline Block *after(const Block *b) { return (Block *)((uintptr_t)b + size_of(b)); }
static inline bool is_last(const Block *b) { return (uintptr_t)after(b) == heap.top; }
static inline bool is_frozen(const void *p) { return (uintptr_t)p < cf_frozen_end; }

static inline void class_of(uint32_t size, uint32_t *fl, uint32_t *sl)
{
    if (size < SMALL) {
        *fl = 0;
        *sl = size / GRAIN;
    } else {
        uint32_t log = 31 - __builtin_clz(size);
        *fl = log - 7;
        *sl = (size >> (log - SL_BITS)) & (SL_COUNT - 1);
    }
}

static void link_free(Block *b)
{
    uint32_t fl, sl;
    class_of(size_of(b), &fl, &sl);
    Block *head = heap.lists[fl][sl];
    b->next_free = head;
    b->prev_free = NULL;
    if (head)
        head->prev_free = b;
    heap.lists[fl][sl] = b;
    heap.sl_bits[fl] |= 1u << sl;
    heap.fl_bits |= 1u << fl;
}

static void unlink_free(Block *b)
{
    if (b->next_free)
        b->next_free->prev_free = b->prev_free;
    if (b->prev_free) {
        b->prev_free->next_free = b->next_free;
        return;
    }
    uint32_t fl, sl;
    class_of(size_of(b), &fl, &sl);
    heap.lists[fl][sl] = b->next_free;
    if (!b->next_free && !(heap.sl_bits[fl] &= ~(1u << sl)))
        heap.fl_bits &= ~(1u << fl);
}

/* Removes a free block of at least `size` bytes from its list and returns the block, or NULL. */
static Block *take_free(uint32_t size)
{
    uint32_t fl, sl, wanted = size;
    if (size >= SMALL)
        /* every block of the class is then large enough */
        wanted += (1u << (31 - __builtin_clz(size) - SL_BITS)) - 1;
    class_of(wanted, &fl, &sl);
    uint32_t bits = heap.sl_bits[fl] & (~0u << sl);
    if (!bits) {
        uint32_t higher = fl + 1 < FL_COUNT ? heap.fl_bits & (~0u << (fl + 1)) : 0;
        if (!higher)
            return NULL;
        fl = __builtin_ctz(higher);
        bits = heap.sl_bits[fl];
    }
    Block *b = heap.lists[fl][__builtin_ctz(bits)];
    unlink_free(b);
    return b;
}

/* Makes [top, end) at least `size` bytes larger than the reserve. */
static bool grow(uint32_t size)
{
    uintptr_t have = (uintptr_t)__builtin_wasm_memory_size(0) * PAGE;
    uint32_t missing = size + heap.reserve - (uint32_t)(heap.end - heap.top);
    uint32_t step = missing;
    if (have > heap.end) { /* the memory has grown in a run that was rolled back */
        heap.end = have;
        if (heap.end - heap.top >= size + heap.reserve)
            return true;
        missing = size + heap.reserve - (uint32_t)(heap.end - heap.top);
        step = missing;
    }
    if (step < GROW_STEP)
        step = GROW_STEP;
    if (step < (heap.end - heap.base) / 8)
        step = (heap.end - heap.base) / 8;
    uint32_t pages = (step + PAGE - 1) / PAGE;
    if (__builtin_wasm_memory_grow(0, pages) == (size_t)-1) {
        pages = (missing + PAGE - 1) / PAGE;
        if (__builtin_wasm_memory_grow(0, pages) == (size_t)-1)
            return false;
    }
    heap.end = (uintptr_t)__builtin_wasm_memory_size(0) * PAGE;
    return true;
}

static bool top_has(uint32_t size)
{
    return heap.end - heap.top >= (uintptr_t)size + heap.reserve || grow(size);
}

static void start(void)
{
    extern unsigned char __heap_base;
    heap.base = (uintptr_t)&__heap_base;
    heap.top = ((heap.base + GRAIN - 1) & ~(uintptr_t)(GRAIN - 1)) + GRAIN - HEADER;
    heap.high = heap.top;
    heap.end = (uintptr_t)__builtin_wasm_memory_size(0) * PAGE;
}

static Block *take_top(uint32_t size)
{
    if (!heap.end)
        start();
    if (!top_has(size))
        return NULL;
    Block *b = (Block *)heap.top;
    b->size = size;
    b->prev = heap.last;
    heap.last = b;
    heap.top += size;
    return b;
}

/* Frees the part of the block `b` beyond `size`. */
static void trim(Block *b, uint32_t size);

static void release(Block *b)
{
    uint32_t flags = b->size & PREV_FREE;
    if (!is_last(b)) {
        Block *next = after(b);
        if (next->size & FREE) {
            unlink_free(next);
            b->size += size_of(next);
        }
    }
    if (flags) {
        Block *prev = b->prev;
        unlink_free(prev);
        prev->size += size_of(b);
        b = prev;
    }
    if (is_last(b)) {
        heap.top = (uintptr_t)b;
        heap.last = b->prev;
        return;
    }
    b->size |= FREE;
    Block *next = after(b);
    next->prev = b;
    next->size |= PREV_FREE;
    link_free(b);
}

static void trim(Block *b, uint32_t size)
{
    uint32_t rest = size_of(b) - size;
    if (rest < 2 * GRAIN)
        return;
    bool last = is_last(b);
    b->size -= rest;
    Block *tail = after(b);
    tail->size = rest;
    tail->prev = b;
    if (last)
        heap.last = tail;
    else
        after(tail)->prev = tail;
    release(tail);
}

static inline uint32_t block_size_for(size_t n)
{
    return ((uint32_t)n + HEADER + GRAIN - 1) & ~(GRAIN - 1);
}

static Block *allocate(size_t n)
{
    if (n > MAX_REQUEST) {
        errno = ENOMEM;
        return NULL;
    }
    uint32_t size = block_size_for(n);
    Block *b = take_free(size);
    if (b) {
        b->size &= ~FREE;
        Block *next = after(b);
        next->size &= ~PREV_FREE; /* the last block is never free */
        trim(b, size);
    } else {
        b = take_top(size);
        if (!b) {
            errno = ENOMEM;
            return NULL;
        }
    }
    heap.used += size_of(b);
    return b;
}

static inline void touched(Block *b)
{
    uintptr_t end = (uintptr_t)after(b);
    if (end > heap.high)
        heap.high = end;
}

void *malloc(size_t n)
{
    Block *b = allocate(n);
    if (!b)
        return NULL;
    touched(b);
    return payload_of(b);
}

void *calloc(size_t count, size_t size)
{
    uint64_t n = (uint64_t)count * size;
    if (n > MAX_REQUEST)
        return NULL;
    uintptr_t high = heap.high;
    Block *b = allocate((size_t)n);
    if (!b)
        return NULL;
    touched(b);
    uintptr_t p = (uintptr_t)payload_of(b), end = p + (size_t)n;
    if (high && end > high) /* memory from `high` on was never written */
        end = high > p ? high : p;
    memset((void *)p, 0, end - p);
    return (void *)p;
}

void free(void *p)
{
    if (!p || is_frozen(p))
        return;
    Block *b = block_of(p);
    if (b->size & FREE) {
        static const char text[] = "a block was freed twice";
        host_fatal(CF_FATAL_INVARIANT, text, sizeof(text) - 1);
    }
    heap.used -= size_of(b);
    if (!cf_frozen_end) /* in the image, unused memory must be zero to be compressed */
        memset(p, 0, size_of(b) - HEADER);
    release(b);
}

/* Tries to enlarge `b` in place to at least `size` bytes. */
static bool extend(Block *b, uint32_t size)
{
    uint32_t have = size_of(b);
    if (is_last(b)) {
        if (!top_has(size - have))
            return false;
        b->size += size - have;
        heap.top += size - have;
        return true;
    }
    Block *next = after(b);
    if (!(next->size & FREE) || have + size_of(next) < size)
        return false;
    unlink_free(next);
    b->size += size_of(next);
    after(b)->prev = b;
    after(b)->size &= ~PREV_FREE;
    trim(b, size);
    return true;
}

void *realloc(void *p, size_t n)
{
    if (!p)
        return malloc(n);
    if (n > MAX_REQUEST) {
        errno = ENOMEM;
        return NULL;
    }
    Block *b = block_of(p);
    uint32_t have = size_of(b), size = block_size_for(n);
    if (!is_frozen(p)) {
        if (size <= have)
            trim(b, size);
        else if (!extend(b, size))
            goto move;
        heap.used += size_of(b) - have;
        touched(b);
        return p;
    }
move:;
    void *q = malloc(n);
    if (!q)
        return NULL;
    uint32_t old = have - HEADER;
    memcpy(q, p, old < n ? old : n);
    free(p);
    return q;
}

size_t cf_usable_size(const void *p)
{
    return p ? size_of(block_of(p)) - HEADER : 0;
}

size_t malloc_usable_size(void *p)
{
    return cf_usable_size(p);
}

size_t cf_heap_used(void)
{
    return heap.used;
}

size_t cf_heap_total(void)
{
    return heap.end - heap.base;
}

bool cf_heap_use_reserve(void)
{
    bool had = heap.reserve != 0;
    heap.reserve = 0;
    return had;
}

void cf_heap_freeze(void)
{
    if (!heap.end)
        start();
    /* No program uses freed memory of the image again, so this memory is zeroed. Zeros compress
       well, and the imager does not store zero pages at the end of the memory. */
    for (uint32_t fl = 0; fl < FL_COUNT; fl++)
        for (uint32_t sl = 0; sl < SL_COUNT; sl++)
            for (Block *b = heap.lists[fl][sl], *next; b; b = next) {
                next = b->next_free;
                memset(payload_of(b), 0, size_of(b) - HEADER);
            }
    if (heap.high > heap.top)
        memset((void *)heap.top, 0, heap.high - heap.top);
    memset(heap.lists, 0, sizeof(heap.lists));
    memset(heap.sl_bits, 0, sizeof(heap.sl_bits));
    heap.fl_bits = 0;
    heap.last = NULL;
    /* Rounds up to a whole wasm page, so that the image and the process's memory never share a
       page. */
    cf_frozen_end = (heap.top + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    while (heap.end < cf_frozen_end + PAGE)
        if (__builtin_wasm_memory_grow(0, 1) == (size_t)-1)
            break;
        else
            heap.end = (uintptr_t)__builtin_wasm_memory_size(0) * PAGE;
    heap.top = cf_frozen_end + GRAIN - HEADER;
    if (heap.high < heap.top)
        heap.high = heap.top;
    heap.reserve = RESERVE;
    if (heap.end - heap.top < 8 * PAGE)
        grow(8 * PAGE);
}
