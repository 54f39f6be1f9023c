export default {
  title: 'function source text can be left out, per compilation',
  why: `The text of every function is kept for Function.prototype.toString. For Node's own library that is 2.6 MB of image that nobody reads;
for a program it must stay. A switch that the bootstrap turns on while it compiles builtins decides.`,
  edits: [
    {
      file: 'quickjs.c',
      find: /            fd->source_len = s->last_ptr - ptr;\n            fd->source = js_strndup\(ctx, \(const char \*\)ptr, fd->source_len\);\n            if \(!fd->source\)\n                goto fail;\n/g,
      replace: `            if (!js_strip_source) {
                fd->source_len = s->last_ptr - ptr;
                fd->source = js_strndup(ctx, (const char *)ptr, fd->source_len);
                if (!fd->source)
                    goto fail;
            }
`,
    },
    {
      file: 'quickjs.c',
      find: /        fd->source_len = s->buf_ptr - ptr;\n        fd->source = js_strndup\(ctx, \(const char \*\)ptr, fd->source_len\);\n        if \(!fd->source\)\n            goto fail;\n/g,
      replace: `        if (!js_strip_source) {
            fd->source_len = s->buf_ptr - ptr;
            fd->source = js_strndup(ctx, (const char *)ptr, fd->source_len);
            if (!fd->source)
                goto fail;
        }
`,
    },
    {
      file: 'quickjs.c',
      find: /    js_free\(ctx, ctor_fd->source\);\n    ctor_fd->source_len = s->buf_ptr - class_start_ptr;\n    ctor_fd->source = js_strndup\(ctx, \(const char \*\)class_start_ptr, ctor_fd->source_len\);\n    if \(!ctor_fd->source\)\n        goto fail;\n/g,
      replace: `    if (!js_strip_source) {
        js_free(ctx, ctor_fd->source);
        ctor_fd->source_len = s->buf_ptr - class_start_ptr;
        ctor_fd->source = js_strndup(ctx, (const char *)class_start_ptr, ctor_fd->source_len);
        if (!ctor_fd->source)
            goto fail;
    }
`,
    },
    {
      file: 'quickjs.c',
      find: 'typedef struct JSFunctionDef {\n',
      replace:
        '/* while set, compiled functions keep no source text */\nstatic bool js_strip_source;\n\ntypedef struct JSFunctionDef {\n',
    },
  ],
};
