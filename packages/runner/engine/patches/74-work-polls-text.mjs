export default {
  title: 'polls in loops over text and elements',
  why: `The rest of patch 72: searching, quoting, scanning and copying. String.prototype.indexOf compared every position of the text; it now looks for the
first character first, which is what split and replaceAll did already.`,
  edits: [
    // indexOf and includes share the search of split
    {
      file: 'quickjs.c',
      find: `    if (len >= v_len && inc * (stop - start) >= 0) {
        for (i = start;; i += inc) {`,
      replace: `    if (!lastIndexOf) {
        if (start <= stop)
            ret = string_indexof(p, p1, start);
    } else if (len >= v_len && inc * (stop - start) >= 0) {
        for (i = start;; i += inc) {
            if (!(i & 15) && js_work(1 + (v_len >> 8)))
                break;`,
    },
    {
      file: 'quickjs.c',
      find: `    if (start >= 0 && start <= stop) {
        for (i = start;; i++) {`,
      replace: `    if (magic == 0) {
        ret = start <= stop && string_indexof(p, p1, start) >= 0;
    } else if (start >= 0 && start <= stop) {
        for (i = start;; i++) {`,
    },
    // quoting, case, padding
    {
      file: 'quickjs.c',
      find: "    for(i = 0; i < p->len; ) {\n        c = string_getc(p, &i);\n        switch(c) {\n        case '\\t':",
      replace:
        "    for(i = 0; i < p->len; ) {\n        if (!(i & 31) && js_work(4))\n            break;\n        c = string_getc(p, &i);\n        switch(c) {\n        case '\\t':",
    },
    {
      file: 'quickjs.c',
      find: '            int chunk = min_int(n, p1->len);\n',
      replace:
        '            int chunk = min_int(n, p1->len);\n            if (js_work(1 + (chunk >> 8)))\n                break;\n',
    },
    // scanning source
    {
      file: 'quickjs.c',
      find: '                if (*p == \'\\0\' && p >= s->buf_end) {\n                    js_parse_error(s, "unexpected end of comment");',
      replace:
        '                if (!((uintptr_t)p & 63) && js_work(2))\n                    goto fail_stop;\n                if (*p == \'\\0\' && p >= s->buf_end) {\n                    js_parse_error(s, "unexpected end of comment");',
    },
    {
      file: 'quickjs.c',
      find: "            for(;;) {\n                if (*p == '\\0' && p >= s->buf_end)\n                    break;\n                if (*p == '\\r' || *p == '\\n')\n                    break;\n                if (*p >= 0x80) {\n                    c = utf8_decode(p, &p);\n                    /* ignore invalid UTF-8 in comments */\n                    /* LS or PS",
      replace:
        "            for(;;) {\n                if (!((uintptr_t)p & 63) && js_work(2))\n                    goto fail_stop;\n                if (*p == '\\0' && p >= s->buf_end)\n                    break;\n                if (*p == '\\r' || *p == '\\n')\n                    break;\n                if (*p >= 0x80) {\n                    c = utf8_decode(p, &p);\n                    /* ignore invalid UTF-8 in comments */\n                    /* LS or PS",
    },
    {
      file: 'quickjs.c',
      find: "    case '/':\n        if (p[1] == '*') {\n            /* comment */\n            p += 2;\n            for(;;) {\n                if (!((uintptr_t)p & 63)",
      replace:
        "    fail_stop:\n        JS_ThrowInterrupted(s->ctx);\n        goto fail;\n    case '/':\n        if (p[1] == '*') {\n            /* comment */\n            p += 2;\n            for(;;) {\n                if (!((uintptr_t)p & 63)",
    },
    {
      file: 'quickjs.c',
      find: '    for(;;) {\n        if (p >= s->buf_end)\n            goto invalid_char;\n        c = *p;\n        if (c < 0x20) {',
      replace:
        '    for(;;) {\n        if (p >= s->buf_end)\n            goto invalid_char;\n        if (!((uintptr_t)p & 31) && js_work(4)) {\n            JS_ThrowInterrupted(s->ctx);\n            goto fail;\n        }\n        c = *p;\n        if (c < 0x20) {',
    },
    {
      file: 'quickjs.c',
      find: '        if (p > p_start) {\n            if (string_buffer_write8(b, p_start, p - p_start))',
      replace:
        '        if (js_work(1 + ((p - p_start) >> 6))) {\n            JS_ThrowInterrupted(s->ctx);\n            goto fail;\n        }\n        if (p > p_start) {\n            if (string_buffer_write8(b, p_start, p - p_start))',
    },
    // iteration without bytecode
    {
      file: 'quickjs.c',
      find: /(static JSValue JS_IteratorNext2\(JSContext \*ctx, JSValueConst enum_obj,\n[^{]*\{\n)/g,
      replace: '$1    if (js_poll_interrupts(ctx))\n        return JS_EXCEPTION;\n',
    },
    {
      file: 'quickjs.c',
      find: '    return JS_DefinePropertyValueValue(ctx, this_obj, js_uint32(idx),\n                                       val, flags);\n',
      replace:
        '    if (js_poll_interrupts(ctx)) {\n        JS_FreeValue(ctx, val);\n        return -1;\n    }\n    return JS_DefinePropertyValueValue(ctx, this_obj, js_uint32(idx),\n                                       val, flags);\n',
    },
    {
      file: 'quickjs.c',
      find: '            l = count - i;\n            if (dir < 0) {\n                l = min_int64(l, from + 1);',
      replace:
        '            if (js_poll_interrupts(ctx))\n                goto exception;\n            l = min_int64(count - i, 4096); /* in pieces, so that it can be stopped */\n            js_work((size_t)l >> 2);\n            if (dir < 0) {\n                l = min_int64(l, from + 1);',
    },
    {
      file: 'quickjs.c',
      find: /(static int __exception JS_GetOwnPropertyNamesInternal\(JSContext \*ctx,\n[^{]*\{\n(?:    [^\n]+;\n)+)/g,
      replace: '$1\n    if (js_work(1 + (p->shape->prop_count >> 1)) && js_poll_interrupts(ctx))\n        return -1;\n',
    },
    {
      file: 'quickjs.c',
      find: '        h = hash_string16(str16(str), str->len, h);\n    else\n',
      replace:
        '        h = hash_string16(str16(str), str->len, h);\n    else if (js_work(str->len >> 6))\n        h = 0;\n    else\n',
    },
    {
      file: 'quickjs.c',
      find: '        while (a < len && lre_is_space(string_get(p, a)))\n            a++;\n',
      replace: '        while (a < len && lre_is_space(string_get(p, a)) && ((a & 1023) || !js_work(64)))\n            a++;\n',
    },
    {
      file: 'quickjs.c',
      find: '        while (b > a && lre_is_space(string_get(p, b - 1)))\n            b--;\n',
      replace: '        while (b > a && lre_is_space(string_get(p, b - 1)) && ((b & 1023) || !js_work(64)))\n            b--;\n',
    },
    {
      file: 'quickjs.c',
      find: '    for(;;) {\n        if (unlikely(searchp->len == 0)) {\n',
      replace:
        '    for(;;) {\n        if (js_poll_interrupts(ctx))\n            goto exception;\n        if (unlikely(searchp->len == 0)) {\n',
    },
    // bytes
    {
      file: 'quickjs.c',
      find: '        shift = typed_array_size_log2(p->class_id);\n        memmove(p->u.array.u.uint8_ptr + (to << shift),',
      replace:
        '        shift = typed_array_size_log2(p->class_id);\n        js_work((size_t)count << shift >> 8);\n        memmove(p->u.array.u.uint8_ptr + (to << shift),',
    },
    {
      file: 'quickjs.c',
      find: '    u8a_hex_encode(data, len, (char *)str8(ostr));\n',
      replace: '    js_work(len >> 4);\n    u8a_hex_encode(data, len, (char *)str8(ostr));\n',
    },
    // normalization lies in a file of its own
    {
      file: 'libunicode.c',
      find: /static void to_nfd_rec\(/g,
      replace: '/* in quickjs.c: js_work */\nextern bool js_unicode_work(void);\n\nstatic void to_nfd_rec(',
    },
    {
      file: 'libunicode.c',
      find: /(static void to_nfd_rec\([^{]*\{\n[\s\S]*?    for\(i = 0; i < src_len; i\+\+\) \{\n)/g,
      replace: '$1        if (js_unicode_work())\n            break;\n',
    },
    {
      file: 'quickjs.c',
      find: 'static bool js_sort_poll(void)\n',
      replace: 'bool js_unicode_work(void)\n{\n    return js_work(2);\n}\n\nstatic bool js_sort_poll(void)\n',
    },
  ],
};
