/* Freezes the image: all live blocks become immortal, and later blocks come from fresh pages.
   The patches `immortal-image`, `clustered-arenas` and `young-tables`, and alloc.c have the
   rules for frozen blocks. Before the freeze, values that every process would make lazily are
   made once. */

/* The number of entries that the array of atoms reserves for a process: consecutive entries
   behind the image's entries. */
#define CF_YOUNG_ATOMS 4096
#define CF_YOUNG_ATOM_HASH 256
/* The amount of allocated memory at which a process first collects garbage. */
#define CF_FIRST_GC (4u << 20)

/* Makes all builtin functions, which the engine otherwise makes at their first lookup. Returns
   whether a function was made. */
static bool cf_instantiate_builtins(JSContext *ctx)
{
    struct list_head *el;
    bool found = false;

    list_for_each(el, &ctx->rt->gc_obj_list) {
        JSObject *p = (JSObject *)list_entry(el, JSGCObjectHeader, link);
        if (JS_GC_TYPE(p) != JS_GC_OBJ_TYPE_JS_OBJECT)
            continue;
        for (uint32_t i = 0; i < p->shape->prop_count; i++) {
            JSShapeProperty *prs = &get_shape_prop(p->shape)[i];
            if (prs->atom == JS_ATOM_NULL || (prs->flags & JS_PROP_TMASK) != JS_PROP_AUTOINIT)
                continue;
            JSAutoInitIDEnum id = js_autoinit_get_id(&p->prop[i]);
            if (id != JS_AUTOINIT_ID_PROP && id != JS_AUTOINIT_ID_BYTECODE)
                continue;
            if (JS_AutoInitProperty(ctx, p, prs->atom, &p->prop[i], prs) < 0)
                cf_fatal(ctx, "a builtin could not be made");
            found = true;
        }
    }
    return found; /* new objects are appended to the list, and may also have lazy builtins */
}

static void cf_reserve_atoms(JSRuntime *rt)
{
    int start = rt->atom_size, size = start + CF_YOUNG_ATOMS;
    JSAtomStruct **array = js_realloc_rt(rt, rt->atom_array, sizeof(*array) * size);

    if (!array)
        abort();
    for (int i = start; i < size; i++)
        array[i] = atom_set_free(i + 1 < size ? i + 1 : 0);
    rt->atom_array = array;
    rt->atom_size = size;
    rt->atom_free_index = start;
}

/* Zeroes the free blocks of the engine's arenas. A process never uses these blocks, like the
   free blocks of the image's heap. */
static void cf_zero_free_blocks(JSRuntime *rt)
{
    for (int i = 0; i < JS_ARENA_BLOCK_SIZE_COUNT; i++) {
        struct list_head *el;
        list_for_each(el, &rt->arena_state.free_arena_list[i]) {
            JSArena *arena = list_entry(el, JSArena, free_link);
            size_t size = arena_block_sizes[i];
            for (unsigned index = arena->first_free_block, next; index != JS_ARENA_FREE_NIL; index = next) {
                JSMallocBlockHeader *block = (JSMallocBlockHeader *)(arena->blocks + size * index);
                next = block->u.free_next;
                memset(block, 0, size);
            }
        }
    }
}

/* Moves the entries of a list to the ring around `ring`, and leaves the list empty. */
static void cf_move_list(struct list_head *head, struct list_head *ring)
{
    init_list_head(ring);
    if (!list_empty(head)) {
        ring->next = head->next;
        ring->prev = head->prev;
        ring->next->prev = ring;
        ring->prev->next = ring;
    }
    init_list_head(head);
}

static struct list_head cf_frozen_objects;

static void cf_freeze_engine(JSContext *ctx)
{
    JSRuntime *rt = ctx->rt;

    while (cf_instantiate_builtins(ctx))
        ;
    JS_RunGC(rt);
    cf_reserve_atoms(rt);

    cf_zero_free_blocks(rt);
    cf_heap_freeze();
    cf_move_list(&rt->gc_obj_list, &cf_frozen_objects);
    for (int i = 0; i < JS_ARENA_BLOCK_SIZE_COUNT; i++) {
        init_list_head(&rt->arena_state.arena_list[i]);
        init_list_head(&rt->arena_state.free_arena_list[i]);
    }
    rt->image_atom_hash = rt->atom_hash;
    rt->image_atom_hash_size = rt->atom_hash_size;
    rt->image_atom_count = rt->atom_count;
    rt->atom_hash_size = CF_YOUNG_ATOM_HASH;
    rt->atom_hash = js_mallocz_rt(rt, sizeof(rt->atom_hash[0]) * CF_YOUNG_ATOM_HASH);
    rt->atom_count_resize = rt->image_atom_count + JS_ATOM_COUNT_RESIZE(CF_YOUNG_ATOM_HASH);
    rt->image_shape_hash = rt->shape_hash;
    rt->image_shape_hash_bits = rt->shape_hash_bits;
    if (!rt->atom_hash || init_shape_hash(rt) < 0)
        abort();
    rt->malloc_gc_threshold = rt->malloc_state.malloc_size + CF_FIRST_GC;
}
