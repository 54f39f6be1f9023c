/* Makes the allocations of a program cluster.

   After the image build, the pools of CPython's allocator have free blocks between live objects,
   all over the image. A program that used these blocks would write a page of the image for each
   pool. This function takes the pools out of the allocator's lists, so that programs use whole
   free pools. A pool of the image is used again after all its blocks are freed. Objects above 512
   bytes come from `malloc`, whose free chunks are taken too. */
#include "shim.h"

#include "internal/pycore_interp.h"
#include "internal/pycore_obmalloc.h"
#include "internal/pycore_pystate.h"

/* The longest free chunk of the image that is taken, and the shortest that large objects use. */
enum { LONGEST_CHUNK = 256 << 10, SHORTEST_CHUNK = 128 };

/* Takes the free chunks of `malloc` below the end of the heap, so that programs use the memory
   behind the end. The chunks are never freed. */
static void take_free_chunks(void)
{
    void *end = malloc(LONGEST_CHUNK);

    for (size_t size = LONGEST_CHUNK; size >= SHORTEST_CHUNK; size -= size / 16) {
        void *chunk;
        while ((chunk = malloc(size)) && chunk < end)
            ;
        free(chunk);
    }
    free(end);
}

void cf_cluster_allocations(void)
{
    poolp *used = _PyInterpreterState_GET()->obmalloc->pools.used;

    for (int class = 0; class < NB_SMALL_SIZE_CLASSES; class++) {
        /* The allocator's own form of an empty list: a pool header that begins before the array. */
        poolp empty = (poolp)((uint8_t *)&used[2 * class] - 2 * sizeof(pymem_block *));
        poolp next;
        for (poolp pool = used[2 * class]; pool != empty; pool = next) {
            next = pool->nextpool;
            /* The allocator unlinks a pool that becomes empty, which then has no effect. */
            pool->nextpool = pool->prevpool = pool;
        }
        used[2 * class] = used[2 * class + 1] = empty;
    }
    take_free_chunks();
}
