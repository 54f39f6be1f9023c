export default {
  title: 'the image is immortal',
  why: `A process starts on a copy-on-write map of the image, so every page it writes costs a fault and a copy, and reference counts alone would write two
hundred of them. Blocks below \`cf_frozen_end\` are therefore never written for counting: they count as shared by two for whoever asks
(which keeps strings and shapes from being changed in place), freeing them does nothing, growing one copies it out, and the collector neither
walks nor marks them. \`js_freeze\` (called once, by cf_freeze) draws the line. What it costs: memory that the image holds is never given back.`,
  edits: [
    {
      file: 'quickjs.c',
      find: '#define JS_GC_TYPE(p)   (js_rc(p)->gc_obj_type)\n',
      replace: `#define JS_GC_TYPE(p)   (js_rc(p)->gc_obj_type)

/* in alloc.c */
extern uintptr_t cf_frozen_end;
#define JS_IS_FROZEN(p) ((uintptr_t)(p) < cf_frozen_end)

static inline void js_rc_inc(const void *p) {
    if (!JS_IS_FROZEN(p))
        js_rc(p)->ref_count++;
}
/* the new count; an immortal block never reaches 0 */
static inline int js_rc_dec(const void *p) {
    return JS_IS_FROZEN(p) ? 1 : --js_rc(p)->ref_count;
}
/* for decisions whether a block may be changed in place */
static inline int js_rc_get(const void *p) {
    return JS_IS_FROZEN(p) ? 2 : js_rc(p)->ref_count;
}
`,
    },
    { file: 'quickjs.c', find: /--JS_REF_COUNT\(([^()]+)\)/g, replace: 'js_rc_dec($1)', count: 7 },
    { file: 'quickjs.c', find: /JS_REF_COUNT\(([^()]+)\)\+\+;/g, replace: 'js_rc_inc($1);', count: 19 },
    { file: 'quickjs.c', find: /JS_REF_COUNT\(([^()]+)\)--;/g, replace: 'js_rc_dec($1);', count: 2 },
    { file: 'quickjs.c', find: 'if (JS_REF_COUNT(r) > 1) {', replace: 'if (js_rc_get(r) > 1) {' },
    { file: 'quickjs.c', find: 'if (JS_REF_COUNT(p1) == 1 && ', replace: 'if (js_rc_get(p1) == 1 && ' },
    { file: 'quickjs.c', find: '} else if (JS_REF_COUNT(sh) != 1) {', replace: '} else if (js_rc_get(sh) != 1) {' },
    { file: 'quickjs.c', find: '        if (JS_REF_COUNT(sh) != 1) {', replace: '        if (js_rc_get(sh) != 1) {' },
    // the collector sees young objects only
    {
      file: 'quickjs.c',
      find: /static void (gc_decref_child|gc_scan_incref_child|gc_scan_incref_child2)\(JSRuntime \*rt, JSGCObjectHeader \*p\)\n\{\n/g,
      replace: 'static void $1(JSRuntime *rt, JSGCObjectHeader *p)\n{\n    if (JS_IS_FROZEN(p))\n        return;\n',
      count: 3,
    },
    {
      file: 'quickjs.c',
      find: '    list_add_tail(&h->link, &rt->gc_obj_list);\n}\n\nstatic void remove_gc_object(',
      replace: `    if (JS_IS_FROZEN(h))
        init_list_head(&h->link); /* a variable of the image that is detached only now */
    else
        list_add_tail(&h->link, &rt->gc_obj_list);
}

static void remove_gc_object(`,
    },
    // an atom made of a string of the image gets a copy: turning it into an atom in place would write to it
    {
      file: 'quickjs.c',
      find: '        if (str->atom_type == 0) {\n            p = str;',
      replace: '        if (str->atom_type == 0 && !JS_IS_FROZEN(str)) {\n            p = str;',
    },
    // blocks
    {
      file: 'quickjs.c',
      find: '    JSMallocBlockHeader *b;\n\n    if (!ptr)\n        return;\n    b = container_of(ptr, JSMallocBlockHeader, user_data);',
      replace:
        '    JSMallocBlockHeader *b;\n\n    if (!ptr || JS_IS_FROZEN(ptr))\n        return;\n    b = container_of(ptr, JSMallocBlockHeader, user_data);',
    },
    {
      file: 'quickjs.c',
      find: `    /* js_realloc_rt already handles ptr == NULL and size == 0 */
    b = container_of(ptr, JSMallocBlockHeader, user_data);
`,
      replace: `    /* js_realloc_rt already handles ptr == NULL and size == 0 */
    b = container_of(ptr, JSMallocBlockHeader, user_data);
    if (JS_IS_FROZEN(ptr) && b != arena_zero_block(rt)) {
        size_t old_size = js_arena_usable_size(rt, ptr);
        void *new_ptr = js_arena_malloc(rt, size);
        JSMallocBlockHeader *nb;
        if (!new_ptr)
            return NULL;
        nb = container_of(new_ptr, JSMallocBlockHeader, user_data);
        nb->gc_obj_type = b->gc_obj_type;
        nb->mark = b->mark;
        nb->ref_count = b->ref_count;
        memcpy(new_ptr, ptr, size < old_size ? size : old_size);
        return new_ptr;
    }
`,
    },
    // the accounting: what the image holds stays accounted to it
    {
      file: 'quickjs.c',
      find: '    s = &rt->malloc_state;\n    size_t free_size = js_arena_usable_size(rt, ptr) + MALLOC_OVERHEAD;\n',
      replace:
        '    s = &rt->malloc_state;\n    if (JS_IS_FROZEN(ptr))\n        return;\n    size_t free_size = js_arena_usable_size(rt, ptr) + MALLOC_OVERHEAD;\n',
    },
    {
      file: 'quickjs.c',
      find: '    ptr = js_arena_realloc(rt, ptr, size);\n    if (!ptr)\n        return NULL;\n',
      replace:
        '    if (JS_IS_FROZEN(ptr) && ptr != (void *)arena_zero_block(rt)->user_data) {\n        old_size = 0;\n        s->malloc_size += MALLOC_OVERHEAD;\n        s->malloc_count++;\n    }\n    ptr = js_arena_realloc(rt, ptr, size);\n    if (!ptr)\n        return NULL;\n',
    },
  ],
};
