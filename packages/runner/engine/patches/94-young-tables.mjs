export default {
  title: 'young atoms and shapes have tables of their own',
  why: `Atoms and shapes live in hash tables of some 100 KiB, and every new one writes to a random page of them. At the freeze both get a second, small table
for what comes later; a lookup asks the image's table first. The image's tables are never resized, which would write to every atom and shape. New
atoms take consecutive places in the array of atoms, kept free at its end, instead of the holes all over it.`,
  edits: [
    {
      file: 'quickjs.c',
      find: '    int atom_free_index; /* 0 = none */\n',
      replace: `    int atom_free_index; /* 0 = none */
    /* the image's atoms, after the freeze; NULL before */
    uint32_t *image_atom_hash;
    int image_atom_hash_size;
    int image_atom_count;
`,
    },
    {
      file: 'quickjs.c',
      find: '    JSShape **shape_hash;\n    void *user_opaque;',
      replace:
        "    JSShape **shape_hash;\n    /* the image's shapes, after the freeze; NULL before */\n    JSShape **image_shape_hash;\n    int image_shape_hash_bits;\n    void *user_opaque;",
    },
    {
      file: 'quickjs.c',
      find: '    rt->atom_count_resize = JS_ATOM_COUNT_RESIZE(new_hash_size);\n',
      replace: '    rt->atom_count_resize = rt->image_atom_count + JS_ATOM_COUNT_RESIZE(new_hash_size);\n',
    },
    {
      file: 'quickjs.c',
      find: `        h1 = h & (rt->atom_hash_size - 1);
        i = rt->atom_hash[h1];
        while (i != 0) {
            p = rt->atom_array[i];
            if (p->hash == h &&`,
      replace: `        i = rt->image_atom_hash ? rt->image_atom_hash[h & (rt->image_atom_hash_size - 1)] : 0;
        while (i != 0) {
            p = rt->atom_array[i];
            if (p->hash == h &&
                p->atom_type == atom_type &&
                p->len == len &&
                js_string_memcmp(p, str, len) == 0)
                goto done;
            i = p->hash_next;
        }
        h1 = h & (rt->atom_hash_size - 1);
        i = rt->atom_hash[h1];
        while (i != 0) {
            p = rt->atom_array[i];
            if (p->hash == h &&`,
    },
    {
      file: 'quickjs.c',
      find: `    h1 = h & (rt->atom_hash_size - 1);
    i = rt->atom_hash[h1];
    while (i != 0) {
        p = rt->atom_array[i];
        if (p->hash == h &&
            p->atom_type == JS_ATOM_TYPE_STRING &&`,
      replace: `    i = rt->image_atom_hash ? rt->image_atom_hash[h & (rt->image_atom_hash_size - 1)] : 0;
    while (i != 0) {
        p = rt->atom_array[i];
        if (p->hash == h &&
            p->atom_type == JS_ATOM_TYPE_STRING &&
            p->len == len &&
            p->is_wide_char == 0 &&
            memcmp(str8(p), str, len) == 0)
            return i;
        i = p->hash_next;
    }
    h1 = h & (rt->atom_hash_size - 1);
    i = rt->atom_hash[h1];
    while (i != 0) {
        p = rt->atom_array[i];
        if (p->hash == h &&
            p->atom_type == JS_ATOM_TYPE_STRING &&`,
    },
    // an atom that is its own string: the index is found through either table
    {
      file: 'quickjs.c',
      find: /static JSAtom js_get_atom_index\(JSRuntime \*rt, JSAtomStruct \*p\)\n\{[\s\S]*?\n\}\n/g,
      replace: `static JSAtom js_get_atom_index(JSRuntime *rt, JSAtomStruct *p)
{
    uint32_t i = p->hash_next;  /* atom_index */
    if (p->atom_type != JS_ATOM_TYPE_SYMBOL) {
        if (rt->image_atom_hash && JS_IS_FROZEN(p))
            i = rt->image_atom_hash[p->hash & (rt->image_atom_hash_size - 1)];
        else
            i = rt->atom_hash[p->hash & (rt->atom_hash_size - 1)];
        while (rt->atom_array[i] != p) {
            assert(i != 0);
            i = rt->atom_array[i]->hash_next;
        }
    }
    return i;
}
`,
    },
    {
      file: 'quickjs.c',
      find: `    h1 = get_shape_hash(h, rt->shape_hash_bits);
    for(sh1 = rt->shape_hash[h1]; sh1 != NULL; sh1 = sh1->shape_hash_next) {
        if (sh1->hash == h &&
            sh1->proto == proto &&
            sh1->prop_count == 0) {
            return sh1;
        }
    }
    return NULL;`,
      replace: `    h1 = get_shape_hash(h, rt->shape_hash_bits);
    for(sh1 = rt->shape_hash[h1]; sh1 != NULL; sh1 = sh1->shape_hash_next) {
        if (sh1->hash == h &&
            sh1->proto == proto &&
            sh1->prop_count == 0) {
            return sh1;
        }
    }
    if (rt->image_shape_hash && JS_IS_FROZEN(proto)) {
        h1 = get_shape_hash(h, rt->image_shape_hash_bits);
        for(sh1 = rt->image_shape_hash[h1]; sh1 != NULL; sh1 = sh1->shape_hash_next)
            if (sh1->hash == h && sh1->proto == proto && sh1->prop_count == 0)
                return sh1;
    }
    return NULL;`,
    },
    {
      file: 'quickjs.c',
      find: /static JSShape \*find_hashed_shape_prop\([\s\S]*?\n\}\n/g,
      replace: `static JSShape *find_shape_in_chain(JSShape *sh1, JSShape *sh, uint32_t h,
                                    JSAtom atom, int prop_flags)
{
    uint32_t i, n = sh->prop_count;

    for(; sh1 != NULL; sh1 = sh1->shape_hash_next) {
        /* we test the hash first so that the rest is done only if the
           shapes really match */
        if (sh1->hash == h &&
            sh1->proto == sh->proto &&
            sh1->prop_count == n + 1) {
            for(i = 0; i < n; i++) {
                if (unlikely(get_shape_prop(sh1)[i].atom != get_shape_prop(sh)[i].atom) ||
                    unlikely(get_shape_prop(sh1)[i].flags != get_shape_prop(sh)[i].flags))
                    goto next;
            }
            if (unlikely(get_shape_prop(sh1)[n].atom != atom) ||
                unlikely(get_shape_prop(sh1)[n].flags != prop_flags))
                goto next;
            return sh1;
        }
    next: ;
    }
    return NULL;
}

static JSShape *find_hashed_shape_prop(JSRuntime *rt, JSShape *sh,
                                       JSAtom atom, int prop_flags)
{
    uint32_t h = shape_hash(shape_hash(sh->hash, atom), prop_flags);
    JSShape *found = NULL;

    /* only a shape of the image has successors in the image's table */
    if (rt->image_shape_hash && JS_IS_FROZEN(sh))
        found = find_shape_in_chain(rt->image_shape_hash[get_shape_hash(h, rt->image_shape_hash_bits)],
                                    sh, h, atom, prop_flags);
    if (!found)
        found = find_shape_in_chain(rt->shape_hash[get_shape_hash(h, rt->shape_hash_bits)],
                                    sh, h, atom, prop_flags);
    return found;
}
`,
    },
  ],
};
