/* The guest's heap. alloc.c has the layout of blocks and the reasons. */
#ifndef COLDFRAME_ALLOC_H
#define COLDFRAME_ALLOC_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks below this address belong to the image. They are never written for bookkeeping and never
   freed. 0 until the freeze. */
extern uintptr_t cf_frozen_end;

/* Makes all allocated blocks immortal. New blocks come from fresh pages. */
void cf_heap_freeze(void);

/* Adds the emergency reserve to the heap. Returns false if the reserve was used before. */
bool cf_heap_use_reserve(void);

/* Bytes in live blocks, and bytes of memory that the guest has requested. */
size_t cf_heap_used(void);
size_t cf_heap_total(void);

size_t cf_usable_size(const void *block);

#endif
