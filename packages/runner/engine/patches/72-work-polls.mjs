export default {
  title: 'polls in the long native loops',
  why: `The engine asks whether it should stop on calls and backward jumps of bytecode only; fill, sort, indexOf, JSON, BigInts, regular expressions or
the parser can run for seconds without one. \`js_work(units)\` counts work of about 50 ns each, in every such loop, and asks the handler each
thousand; so a busy guest also shares its worker. When it returns true the guest is being stopped: the loop ends early, and its wrong
result is never seen, because the next poll of the interpreter throws (patch 70). Elements of generic arrays poll in the helpers all loops share.`,
  edits: [
    { file: 'quickjs.c', find: '#define JS_INTERRUPT_COUNTER_INIT 10000', replace: '#define JS_INTERRUPT_COUNTER_INIT 1000' },
    {
      file: 'quickjs.c',
      find: '#define JS_GC_TYPE(p)   (js_rc(p)->gc_obj_type)\n',
      replace: `#define JS_GC_TYPE(p)   (js_rc(p)->gc_obj_type)

static int js_work_left = 1000;
static bool js_work_poll(void);
/* True: the guest is being stopped, leave the loop. */
static inline bool js_work(size_t units) {
    js_work_left -= units < 100000 ? (int)units : 100000;
    return unlikely(js_work_left <= 0) && js_work_poll();
}
`,
    },
    {
      file: 'quickjs.c',
      find: 'static inline __exception int js_poll_interrupts(JSContext *ctx)\n{',
      replace: `/* set with the handler: the loops that count work know no context */
static JSRuntime *js_work_runtime;

static no_inline bool js_work_poll(void)
{
    JSRuntime *rt = js_work_runtime;
    struct list_head *el;

    js_work_left = 1000;
    if (!rt || !rt->interrupt_handler || !rt->interrupt_handler(rt, rt->interrupt_opaque))
        return false;
    js_work_left = 0;
    list_for_each(el, &rt->context_list)
        list_entry(el, JSContext, link)->interrupt_counter = 0;
    return true;
}

static inline __exception int js_poll_interrupts(JSContext *ctx)
{`,
    },
    {
      file: 'quickjs.c',
      find: '    rt->interrupt_handler = cb;\n',
      replace: '    js_work_runtime = rt;\n    rt->interrupt_handler = cb;\n',
    },
    {
      file: 'quickjs.c',
      find: 'void JS_SetInterruptHandler(',
      replace:
        'static JSRuntime *js_work_runtime;\n\nstatic bool js_sort_poll(void)\n{\n    return js_work(64);\n}\n\nvoid JS_SetInterruptHandler(',
    },

    // memory
    {
      file: 'quickjs.c',
      find: 'static no_inline void *arena_malloc_large(JSRuntime *rt, size_t size)\n{\n    JSMallocBlockHeader *b;\n',
      replace:
        'static no_inline void *arena_malloc_large(JSRuntime *rt, size_t size)\n{\n    JSMallocBlockHeader *b;\n    js_work(size >> 12);\n',
    },
    {
      file: 'quickjs.c',
      find: 'static no_inline void *arena_calloc_large(JSRuntime *rt, size_t size)\n{\n    JSMallocBlockHeader *b;\n',
      replace:
        'static no_inline void *arena_calloc_large(JSRuntime *rt, size_t size)\n{\n    JSMallocBlockHeader *b;\n    js_work(size >> 10);\n',
    },
    {
      file: 'quickjs.c',
      find: '            nb = rt->mf.js_realloc(rt->malloc_state.opaque, b,\n',
      replace: '            js_work(size >> 12);\n            nb = rt->mf.js_realloc(rt->malloc_state.opaque, b,\n',
    },

    // collecting garbage takes its time too, and cannot be left half-way
    {
      file: 'quickjs.c',
      find: '        mark_children(rt, p, gc_decref_child);\n',
      replace: '        mark_children(rt, p, gc_decref_child);\n        js_work(2);\n',
    },

    // elements
    {
      file: 'quickjs.c',
      find: /(static int JS_TryGetPropertyInt64\(JSContext \*ctx, JSValueConst obj, int64_t idx, JSValue \*pval\)\n\{\n    JSValue val;\n    JSAtom prop;\n    int present;\n)/g,
      replace: '$1\n    if (js_poll_interrupts(ctx)) {\n        *pval = JS_UNDEFINED;\n        return -1;\n    }',
    },
    {
      file: 'quickjs.c',
      find: /(\nJSValue JS_GetPropertyInt64\(JSContext \*ctx, JSValueConst obj, int64_t idx\)\n\{\n    JSAtom prop;\n    JSValue val;\n)/g,
      replace: '$1\n    if (js_poll_interrupts(ctx))\n        return JS_EXCEPTION;',
    },
    {
      file: 'quickjs.c',
      find: /(\nint JS_SetPropertyInt64\(JSContext \*ctx, JSValueConst this_obj,\n +int64_t idx, JSValue val\)\n\{\n    JSAtom prop;\n    int res;\n)/g,
      replace: '$1\n    if (js_poll_interrupts(ctx)) {\n        JS_FreeValue(ctx, val);\n        return -1;\n    }',
    },
    {
      file: 'quickjs.c',
      find: /(\nint JS_DeletePropertyInt64\(JSContext \*ctx, JSValueConst obj, int64_t idx, int flags\)\n\{\n    JSAtom prop;\n    int res;\n)/g,
      replace: '$1\n    if (js_poll_interrupts(ctx))\n        return -1;',
    },
    {
      file: 'quickjs.c',
      find: '                                       int64_t idx, JSValue val, int flags)\n{\n    return JS_DefinePropertyValueValue(',
      replace:
        '                                       int64_t idx, JSValue val, int flags)\n{\n    if (js_poll_interrupts(ctx)) {\n        JS_FreeValue(ctx, val);\n        return -1;\n    }\n    return JS_DefinePropertyValueValue(',
    },
    {
      file: 'quickjs.c',
      find: '                                            int64_t idx, JSValueConst val, int flags)\n{\n    JSAtom atom;\n    int ret;\n    atom =',
      replace:
        '                                            int64_t idx, JSValueConst val, int flags)\n{\n    JSAtom atom;\n    int ret;\n    if (js_poll_interrupts(ctx))\n        return -1;\n    atom =',
    },
    {
      file: 'quickjs.c',
      find: /(            for \(; n (?:< count; n\+\+|>= 0; n--)\) \{\n)(                if \(js_strict_eq2\(ctx, argv\[0\], arrp\[n\],)/g,
      replace: '$1                if (js_poll_interrupts(ctx))\n                    goto exception;\n$2',
      count: 3,
    },
    {
      file: 'quickjs.c',
      find: '        el = JS_GetPropertyUint32(ctx, obj, i);\n        if (JS_IsException(el))\n            goto fail;\n',
      replace:
        '        if (js_poll_interrupts(ctx))\n            goto fail;\n        el = JS_GetPropertyUint32(ctx, obj, i);\n        if (JS_IsException(el))\n            goto fail;\n',
    },
    {
      file: 'quickjs.c',
      find: '                memmove(arrp, arrp + 1, (count32 - 1) * sizeof(*arrp));\n',
      replace:
        '                memmove(arrp, arrp + 1, (count32 - 1) * sizeof(*arrp));\n                js_work(count32 >> 6);\n',
    },
    {
      file: 'quickjs.c',
      find: '            for (ll = 0, hh = count32 - 1; ll < hh; ll++, hh--) {\n',
      replace: '            js_work(count32 >> 4);\n            for (ll = 0, hh = count32 - 1; ll < hh; ll++, hh--) {\n',
    },
    {
      file: 'quickjs.c',
      find: '            for (; i >= 0; i--, pval++)\n                *pval = js_dup(arrp[i]);\n',
      replace:
        '            js_work(count32 >> 4);\n            for (; i >= 0; i--, pval++)\n                *pval = js_dup(arrp[i]);\n',
    },
    {
      file: 'quickjs.c',
      find: '            for (; i < len; i++, pval++)\n                *pval = js_dup(arrp[i]);\n',
      replace:
        '            js_work(count32 >> 4);\n            for (; i < len; i++, pval++)\n                *pval = js_dup(arrp[i]);\n',
    },
    // sorting: a stopped sort leaves a permutation
    {
      file: 'cutils.h',
      find: '/* pointer based version with local stack and insertion sort threshhold */\nstatic inline void rqsort(',
      replace: `/* asked now and then while sorting; true: stop */
static bool (*rqsort_poll)(void);

/* pointer based version with local stack and insertion sort threshhold */
static inline void rqsort(`,
    },
    {
      file: 'cutils.h',
      find: '            for (;;) {\n                while (pi < pj && (c = cmp(ptr, pi, opaque)) >= 0) {',
      replace: `            for (;;) {
                if (!(++steps & 63) && rqsort_poll && rqsort_poll())
                    return;
                while (pi < pj && (c = cmp(ptr, pi, opaque)) >= 0) {`,
    },
    {
      file: 'cutils.h',
      find: '    struct { uint8_t *base; size_t count; int depth; } stack[50], *sp = stack;\n',
      replace: '    struct { uint8_t *base; size_t count; int depth; } stack[50], *sp = stack;\n    unsigned steps = 0;\n',
    },
    {
      file: 'quickjs.c',
      find: '    js_work_runtime = rt;\n',
      replace: '    js_work_runtime = rt;\n    rqsort_poll = js_sort_poll;\n',
    },

    // strings
    {
      file: 'quickjs.c',
      find: /static int string_indexof_char\(JSString \*p, int c, int from\)\n\{[\s\S]*?\n\}\n/g,
      replace: `static int string_indexof_char(JSString *p, int c, int from)
{
    /* assuming 0 <= from <= p->len */
    int i, end, len = p->len;
    const uint8_t *found;

    if (!p->is_wide_char && (c & ~0xff) != 0)
        return -1;
    for (; from < len; from = end) { /* in pieces, so that it can be stopped */
        end = min_int(len, from + 32768);
        if (!p->is_wide_char) {
            found = memchr(str8(p) + from, c, end - from);
            if (found)
                return found - str8(p);
        } else {
            for (i = from; i < end; i++)
                if (str16(p)[i] == c)
                    return i;
        }
        if (end < len && js_work(200))
            break;
    }
    return -1;
}
`,
    },
    {
      file: 'quickjs.c',
      find: '        if (!string_cmp(p1, p2, j + 1, 1, len2 - 1))\n            return j;\n    }\n    return -1;\n}\n',
      replace:
        '        if (!string_cmp(p1, p2, j + 1, 1, len2 - 1))\n            return j;\n        if (js_work(1 + (len2 >> 10)))\n            break;\n    }\n    return -1;\n}\n',
    },
    {
      file: 'quickjs.c',
      find: '            if (!string_cmp(p, p1, i, 0, v_len)) {\n                ret = 1;\n                break;\n            }\n',
      replace:
        '            if (!string_cmp(p, p1, i, 0, v_len)) {\n                ret = 1;\n                break;\n            }\n            if (!(i & 15) && js_work(1 + (v_len >> 8)))\n                break;\n',
    },
    {
      file: 'quickjs.c',
      find: '        while (n-- > 0) {\n            string_buffer_concat(b, p, 0, len);\n        }\n',
      replace:
        '        while (n-- > 0) {\n            string_buffer_concat(b, p, 0, len);\n            if (js_work(1 + (len >> 8)))\n                break;\n        }\n',
    },
    {
      file: 'quickjs.c',
      find: '    while (count-- > 0) {\n        if (string_buffer_putc16(s, c))\n            return -1;\n    }\n',
      replace: `    while (count > 0 && !s->is_wide_char && c < 0x100) {
        int step = min_int(count, 65536);
        if (s->len + step > s->size && string_buffer_realloc(s, s->len + count, c))
            return -1;
        memset(str8(s->str) + s->len, c, step);
        s->len += step;
        count -= step;
        if (js_work(step >> 8))
            break;
    }
    while (count-- > 0) {
        if (string_buffer_putc16(s, c))
            return -1;
        if (!(count & 31) && js_work(2))
            break;
    }
`,
    },
    {
      file: 'quickjs.c',
      find: '    for(i = 0; i < p->len;) {\n        c = string_getc(p, &i);\n        if (c == 0x3a3',
      replace:
        '    for(i = 0; i < p->len;) {\n        if (js_work(1))\n            break;\n        c = string_getc(p, &i);\n        if (c == 0x3a3',
    },
    {
      file: 'quickjs.c',
      find: "    p = JS_VALUE_GET_STRING(str);\n    for (k = 0; k < p->len;) {\n        c = string_get(p, k);\n        if (c == '%') {",
      replace:
        "    p = JS_VALUE_GET_STRING(str);\n    for (k = 0; k < p->len;) {\n        if (js_work(1))\n            break;\n        c = string_get(p, k);\n        if (c == '%') {",
    },
    {
      file: 'quickjs.c',
      find: '    for (k = 0; k < p->len;) {\n        c = string_get(p, k);\n        k++;\n        if (isURIUnescaped(',
      replace:
        '    for (k = 0; k < p->len;) {\n        if (js_work(1))\n            break;\n        c = string_get(p, k);\n        k++;\n        if (isURIUnescaped(',
    },
    {
      file: 'quickjs.c',
      find: '    for (i = 0, len = p->len; i < len; i++) {\n        c = string_get(p, i);\n',
      replace:
        '    for (i = 0, len = p->len; i < len; i++) {\n        if (js_work(1))\n            break;\n        c = string_get(p, i);\n',
      count: 2,
    },
    {
      file: 'quickjs.c',
      find: '    for (i = 0, n = p->len; i < n; i++) {\n        c = str16(p)[i];\n        if (!is_surrogate(c))\n            continue;\n        if (is_lo_surrogate(c) || i + 1 == n)',
      replace:
        '    js_work(p->len >> 5);\n    for (i = 0, n = p->len; i < n; i++) {\n        c = str16(p)[i];\n        if (!is_surrogate(c))\n            continue;\n        if (is_lo_surrogate(c) || i + 1 == n)',
      count: 2,
    },
    {
      file: 'quickjs.c',
      find: '    len = min_int(p1->len, p2->len);\n    res = js_string_memcmp(p1, p2, len);\n',
      replace: '    len = min_int(p1->len, p2->len);\n    js_work(len >> 8);\n    res = js_string_memcmp(p1, p2, len);\n',
    },
    {
      file: 'quickjs.c',
      find: 'static JSString *js_alloc_string_rt(JSRuntime *rt, int max_len, int is_wide_char)\n{\n    JSString *str;\n',
      replace:
        'static JSString *js_alloc_string_rt(JSRuntime *rt, int max_len, int is_wide_char)\n{\n    JSString *str;\n    if (max_len > 4096)\n        js_work(max_len >> 8);\n',
    },

    // BigInts: a million bits at most, but quadratic
    {
      file: 'quickjs.c',
      find: '        r = js_mp_add_mul1(result + i, op1, op1_size, op2[i]);\n        result[i + op1_size] = r;\n',
      replace:
        '        r = js_mp_add_mul1(result + i, op1, op1_size, op2[i]);\n        result[i + op1_size] = r;\n        if (js_work(1 + (op1_size >> 5)))\n            break;\n',
    },
    {
      file: 'quickjs.c',
      find: '        r = js_mp_sub_mul1(taba + i, tabb, nb, q);\n',
      replace: '        if (js_work(1 + (nb >> 5)))\n            break;\n        r = js_mp_sub_mul1(taba + i, tabb, nb, q);\n',
    },
    {
      file: 'quickjs.c',
      find: '                    v = js_mp_div1(r->tab, r->tab, len, radix_base, 0);\n',
      replace:
        '                    if (js_work(1 + (len >> 4)))\n                        break;\n                    v = js_mp_div1(r->tab, r->tab, len, radix_base, 0);\n',
    },
    {
      file: 'quickjs.c',
      find: '                h = js_mp_mul1(r->tab, r->tab, len, js_pow_dec[i], v);\n',
      replace:
        '                if (js_work(1 + (len >> 5)))\n                    break;\n                h = js_mp_mul1(r->tab, r->tab, len, js_pow_dec[i], v);\n',
    },

    // JSON
    {
      file: 'quickjs.c',
      find: '    if (js_check_stack_overflow(ctx->rt, 0)) {\n        JS_ThrowStackOverflow(ctx);\n        goto exception;\n    }\n\n    if (JS_IsObject(val)) {\n        p = JS_VALUE_GET_OBJ(val);\n        cl = p->class_id;',
      replace:
        '    if (js_check_stack_overflow(ctx->rt, 0)) {\n        JS_ThrowStackOverflow(ctx);\n        goto exception;\n    }\n    if (js_poll_interrupts(ctx))\n        goto exception;\n\n    if (JS_IsObject(val)) {\n        p = JS_VALUE_GET_OBJ(val);\n        cl = p->class_id;',
    },
    // the stack of a stringify holds objects only: comparing addresses is enough, and two hundred times as fast as includes()
    {
      file: 'quickjs.c',
      find: '        v = js_array_includes(ctx, jsc->stack, 1, vc(&val));\n        if (JS_IsException(v))\n            goto exception;\n        if (JS_ToBoolFree(ctx, v)) {\n',
      replace: `        if (js_is_on_stringify_stack(jsc->stack, p)) {
`,
    },
    {
      file: 'quickjs.c',
      find: /\nstatic int js_json_to_str\(JSContext \*ctx, JSONStringifyContext \*jsc,\n +JSValueConst holder, JSValue val,\n +JSValueConst indent\)\n\{/g,
      replace: `
static bool js_is_on_stringify_stack(JSValueConst stack, JSObject *p)
{
    JSObject *array = JS_VALUE_GET_OBJ(stack);
    uint32_t i;

    js_work(array->u.array.count >> 5);
    for (i = array->u.array.count; i-- > 0;)
        if (JS_VALUE_GET_OBJ(array->u.array.u.values[i]) == p)
            return true;
    return false;
}

static int js_json_to_str(JSContext *ctx, JSONStringifyContext *jsc,
                          JSValueConst holder, JSValue val,
                          JSValueConst indent)
{`,
    },

    // the parsers of JavaScript and JSON, and the passes after the first
    {
      file: 'quickjs.c',
      find: '    if (js_check_stack_overflow(s->ctx->rt, 1000)) {\n        JS_ThrowStackOverflow(s->ctx);\n        return -1;\n    }\n',
      replace:
        '    if (js_check_stack_overflow(s->ctx->rt, 1000)) {\n        JS_ThrowStackOverflow(s->ctx);\n        return -1;\n    }\n    if (js_poll_interrupts(s->ctx))\n        return -1;\n',
      count: 2,
    },
    {
      file: 'quickjs.c',
      find: '    for (pos = 0; pos < bc_len; pos = pos_next) {\n',
      replace:
        '    for (pos = 0; pos < bc_len; pos = pos_next) {\n        if (js_poll_interrupts(ctx))\n            goto fail;\n',
      count: 2,
    },

    // maps and sets
    {
      file: 'quickjs.c',
      find: '    uint32_t h;\n    JSMapRecord *mr;\n\n    mr = js_malloc(ctx, sizeof(*mr));\n',
      replace:
        '    uint32_t h;\n    JSMapRecord *mr;\n\n    if (js_poll_interrupts(ctx))\n        return NULL;\n    mr = js_malloc(ctx, sizeof(*mr));\n',
    },
    {
      file: 'quickjs.c',
      find: '    h = map_hash_key(ctx, key) & (s->hash_size - 1);\n    list_for_each(el, &s->hash_table[h]) {',
      replace:
        '    js_work(1);\n    h = map_hash_key(ctx, key) & (s->hash_size - 1);\n    list_for_each(el, &s->hash_table[h]) {',
    },
    {
      file: 'quickjs.c',
      find: '        map_delete_record(ctx->rt, s, mr);\n    }\n    return JS_UNDEFINED;\n',
      replace:
        '        map_delete_record(ctx->rt, s, mr);\n        if (js_work(2))\n            break;\n    }\n    return JS_UNDEFINED;\n',
    },

    // typed arrays
    {
      file: 'quickjs.c',
      find: '    final = min_int(final, p->u.array.count);\n    shift = typed_array_size_log2(p->class_id);\n',
      replace:
        '    final = min_int(final, p->u.array.count);\n    shift = typed_array_size_log2(p->class_id);\n    js_work(final > k ? (size_t)(final - k) >> 7 : 0);\n',
    },
    {
      file: 'quickjs.c',
      find: '    if (len > 0) {\n        switch (typed_array_size_log2(p->class_id)) {\n        case 0:\n            {\n                uint8_t *p1',
      replace:
        '    if (len > 0) {\n        js_work(len >> 5);\n        switch (typed_array_size_log2(p->class_id)) {\n        case 0:\n            {\n                uint8_t *p1',
    },
    {
      file: 'quickjs.c',
      find: '    if (len == 0)\n        goto done;\n\n    if (special == special_lastIndexOf) {\n',
      replace: '    if (len == 0)\n        goto done;\n    js_work(len >> 5);\n\n    if (special == special_lastIndexOf) {\n',
    },

    // properties
    {
      file: 'quickjs.c',
      find: /(\nint JS_DefineProperty\(JSContext \*ctx, JSValueConst this_obj,\n[^{]*\{\n)/g,
      replace: '$1    js_work(1);\n',
    },
  ],
};
