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
    { file: 'quickjs.c', find: '    rt->interrupt_handler = cb;\n', replace: '    js_work_runtime = rt;\n    rt->interrupt_handler = cb;\n' },
    { file: 'quickjs.c', find: 'void JS_SetInterruptHandler(', replace: 'static JSRuntime *js_work_runtime;\n\nvoid JS_SetInterruptHandler(' },

    // memory
    { file: 'quickjs.c', find: 'static no_inline void *arena_malloc_large(JSRuntime *rt, size_t size)\n{\n    JSMallocBlockHeader *b;\n', replace: 'static no_inline void *arena_malloc_large(JSRuntime *rt, size_t size)\n{\n    JSMallocBlockHeader *b;\n    js_work(size >> 12);\n' },
    { file: 'quickjs.c', find: 'static no_inline void *arena_calloc_large(JSRuntime *rt, size_t size)\n{\n    JSMallocBlockHeader *b;\n', replace: 'static no_inline void *arena_calloc_large(JSRuntime *rt, size_t size)\n{\n    JSMallocBlockHeader *b;\n    js_work(size >> 10);\n' },
    { file: 'quickjs.c', find: '            nb = rt->mf.js_realloc(rt->malloc_state.opaque, b,\n', replace: '            js_work(size >> 12);\n            nb = rt->mf.js_realloc(rt->malloc_state.opaque, b,\n' },

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
      replace: '                                       int64_t idx, JSValue val, int flags)\n{\n    if (js_poll_interrupts(ctx)) {\n        JS_FreeValue(ctx, val);\n        return -1;\n    }\n    return JS_DefinePropertyValueValue(',
    },
    {
      file: 'quickjs.c',
      find: '                                            int64_t idx, JSValueConst val, int flags)\n{\n    JSAtom atom;\n    int ret;\n    atom =',
      replace: '                                            int64_t idx, JSValueConst val, int flags)\n{\n    JSAtom atom;\n    int ret;\n    if (js_poll_interrupts(ctx))\n        return -1;\n    atom =',
    },
    { file: 'quickjs.c', find: /(            for \(; n (?:< count; n\+\+|>= 0; n--)\) \{\n)(                if \(js_strict_eq2\(ctx, argv\[0\], arrp\[n\],)/g, replace: '$1                if (js_poll_interrupts(ctx))\n                    goto exception;\n$2', count: 3 },
    { file: 'quickjs.c', find: '        el = JS_GetPropertyUint32(ctx, obj, i);\n        if (JS_IsException(el))\n            goto fail;\n', replace: '        if (js_poll_interrupts(ctx))\n            goto fail;\n        el = JS_GetPropertyUint32(ctx, obj, i);\n        if (JS_IsException(el))\n            goto fail;\n' },
    { file: 'quickjs.c', find: '                memmove(arrp, arrp + 1, (count32 - 1) * sizeof(*arrp));\n', replace: '                memmove(arrp, arrp + 1, (count32 - 1) * sizeof(*arrp));\n                js_work(count32 >> 6);\n' },
    { file: 'quickjs.c', find: '            for (ll = 0, hh = count32 - 1; ll < hh; ll++, hh--) {\n', replace: '            js_work(count32 >> 4);\n            for (ll = 0, hh = count32 - 1; ll < hh; ll++, hh--) {\n' },
    { file: 'quickjs.c', find: '            for (; i >= 0; i--, pval++)\n                *pval = js_dup(arrp[i]);\n', replace: '            js_work(count32 >> 4);\n            for (; i >= 0; i--, pval++)\n                *pval = js_dup(arrp[i]);\n' },
    { file: 'quickjs.c', find: '            for (; i < len; i++, pval++)\n                *pval = js_dup(arrp[i]);\n', replace: '            js_work(count32 >> 4);\n            for (; i < len; i++, pval++)\n                *pval = js_dup(arrp[i]);\n' },
    // sorting: a stopped sort leaves a permutation
    { file: 'cutils.h', find: 'static inline void rqsort(void *base, size_t nmemb, size_t size,', replace: '/* set by a comparison: stop sorting; cleared by rqsort */\nstatic bool rqsort_stop;\nstatic inline void rqsort(void *base, size_t nmemb, size_t size,' },
    {
      file: 'cutils.h',
      find: `            for (;;) {
                while (pi < pj && (c = cmp(ptr, pi, opaque)) >= 0) {`,
      replace: `            for (;;) {
                if (rqsort_stop) {
                    rqsort_stop = false;
                    return;
                }
                while (pi < pj && (c = cmp(ptr, pi, opaque)) >= 0) {`,
    },
    { file: 'quickjs.c', find: '        cmp = js_string_compare(ap->str, bp->str);\n    }\n    if (cmp != 0)', replace: '        cmp = js_string_compare(ap->str, bp->str);\n        if (js_work(1))\n            rqsort_stop = true;\n    }\n    if (cmp != 0)' },

    // strings
    { file: 'quickjs.c', find: 'static int string_indexof_char(JSString *p, int c, int from)\n{\n    /* assuming 0 <= from <= p->len */\n    int i, len = p->len;\n', replace: 'static int string_indexof_char(JSString *p, int c, int from)\n{\n    /* assuming 0 <= from <= p->len */\n    int i, len = p->len;\n    /* in pieces, so that it can be stopped */\n    while (len - from > 65536) {\n        int found = -1, end = from + 65536;\n        for (i = from; i < end && found < 0; i++)\n            if (string_get(p, i) == c)\n                found = i;\n        if (js_work(1000) || found >= 0)\n            return found;\n        from = end;\n    }\n' },
    { file: 'quickjs.c', find: '        if (!string_cmp(p1, p2, j + 1, 1, len2 - 1))\n            return j;\n    }\n    return -1;\n}\n', replace: '        if (!string_cmp(p1, p2, j + 1, 1, len2 - 1))\n            return j;\n        if (js_work(1 + (len2 >> 10)))\n            break;\n    }\n    return -1;\n}\n' },
    { file: 'quickjs.c', find: '            if (!string_cmp(p, p1, i, 0, v_len)) {\n                ret = 1;\n                break;\n            }\n', replace: '            if (!string_cmp(p, p1, i, 0, v_len)) {\n                ret = 1;\n                break;\n            }\n            if (!(i & 15) && js_work(1 + (v_len >> 8)))\n                break;\n' },
    { file: 'quickjs.c', find: '        while (n-- > 0) {\n            string_buffer_concat(b, p, 0, len);\n        }\n', replace: '        while (n-- > 0) {\n            string_buffer_concat(b, p, 0, len);\n            if (js_work(1 + (len >> 8)))\n                break;\n        }\n' },
    { file: 'quickjs.c', find: '    while (count-- > 0) {\n        if (string_buffer_putc16(s, c))\n            return -1;\n    }\n', replace: '    while (count-- > 0) {\n        if (string_buffer_putc16(s, c))\n            return -1;\n        if (!(count & 31) && js_work(2))\n            break;\n    }\n' },
    { file: 'quickjs.c', find: '    for(i = 0; i < p->len;) {\n        c = string_getc(p, &i);\n        if (c == 0x3a3', replace: '    for(i = 0; i < p->len;) {\n        if (js_work(1))\n            break;\n        c = string_getc(p, &i);\n        if (c == 0x3a3' },
    { file: 'quickjs.c', find: '    p = JS_VALUE_GET_STRING(str);\n    for (k = 0; k < p->len;) {\n        c = string_get(p, k);\n        if (c == \'%\') {', replace: '    p = JS_VALUE_GET_STRING(str);\n    for (k = 0; k < p->len;) {\n        if (js_work(1))\n            break;\n        c = string_get(p, k);\n        if (c == \'%\') {' },
    { file: 'quickjs.c', find: '    for (k = 0; k < p->len;) {\n        c = string_get(p, k);\n        k++;\n        if (isURIUnescaped(', replace: '    for (k = 0; k < p->len;) {\n        if (js_work(1))\n            break;\n        c = string_get(p, k);\n        k++;\n        if (isURIUnescaped(' },
    { file: 'quickjs.c', find: '    for (i = 0, len = p->len; i < len; i++) {\n        c = string_get(p, i);\n', replace: '    for (i = 0, len = p->len; i < len; i++) {\n        if (js_work(1))\n            break;\n        c = string_get(p, i);\n', count: 2 },
    { file: 'quickjs.c', find: '    for (i = 0, n = p->len; i < n; i++) {\n        c = str16(p)[i];\n        if (!is_surrogate(c))\n            continue;\n        if (is_lo_surrogate(c) || i + 1 == n)', replace: '    js_work(p->len >> 5);\n    for (i = 0, n = p->len; i < n; i++) {\n        c = str16(p)[i];\n        if (!is_surrogate(c))\n            continue;\n        if (is_lo_surrogate(c) || i + 1 == n)', count: 1 },
    { file: 'quickjs.c', find: '    a = 0;\n    b = len = p->len;\n    if (magic & 1) {', replace: '    a = 0;\n    b = len = p->len;\n    js_work(len >> 4);\n    if (magic & 1) {' },
    { file: 'quickjs.c', find: '    len = min_int(p1->len, p2->len);\n    res = js_string_memcmp(p1, p2, len);\n', replace: '    len = min_int(p1->len, p2->len);\n    js_work(len >> 8);\n    res = js_string_memcmp(p1, p2, len);\n' },
    { file: 'quickjs.c', find: 'static JSString *js_alloc_string_rt(JSRuntime *rt, int max_len, int is_wide_char)\n{\n    JSString *str;\n', replace: 'static JSString *js_alloc_string_rt(JSRuntime *rt, int max_len, int is_wide_char)\n{\n    JSString *str;\n    if (max_len > 4096)\n        js_work(max_len >> 8);\n' },
  ],
};
