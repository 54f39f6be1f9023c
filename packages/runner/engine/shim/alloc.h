/* The guest's heap. alloc.c describes the layout of blocks. */
#ifndef COLDFRAME_ALLOC_H
#define COLDFRAME_ALLOC_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks below this address belong to the image. The heap never writes or frees these blocks.
   The address is 0 until the freeze. */
extern uintptr_t cf_frozen_end;

/* Makes all allocated blocks immortal. New blocks come from fresh pages. */
void cf_heap_freeze(void);

/* Adds the emergency reserve to the heap. Returns false if the reserve is already in use. */
bool cf_heap_use_reserve(void);

/* Return the number of bytes in allocated blocks, and the number of bytes of the linear memory
   that belong to the heap. */
size_t cf_heap_used(void);
size_t cf_heap_total(void);

size_t cf_usable_size(const void *block);

#endif
