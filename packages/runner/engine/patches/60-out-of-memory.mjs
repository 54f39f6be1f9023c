export default {
  title: 'running out of memory is an error, never null',
  why: `The engine throws null when there is no memory left for the error object, and a program then dies of "Uncaught null". Here the shim first
gives the heap its emergency reserve, so that the error, its stack and the report can be made; when that is used up as well, one object made
at image build is thrown. Both are marked, so that an uncaught one ends the program as V8 ends: with a fatal error and code 134. The next
object allocation collects garbage.`,
  edits: [
    {
      file: 'quickjs.c',
      find: '    uint8_t is_HTMLDDA : 1; /* specific annex B IsHtmlDDA behavior */\n',
      replace:
        '    uint8_t is_HTMLDDA : 1; /* specific annex B IsHtmlDDA behavior */\n    uint8_t is_memory_error : 1; /* thrown because memory ran out */\n',
    },
    {
      file: 'quickjs.c',
      find: '    p->is_HTMLDDA = 0;\n    p->is_prototype = 0;\n',
      replace: '    p->is_HTMLDDA = 0;\n    p->is_memory_error = 0;\n    p->is_prototype = 0;\n',
    },
    {
      file: 'quickjs.c',
      find: `        rt->in_out_of_memory = true;
        JS_ThrowInternalError(ctx, "out of memory");
        rt->in_out_of_memory = false;
    }
    return JS_EXCEPTION;`,
      replace: `        rt->in_out_of_memory = true;
        cf_out_of_memory(rt);
        JS_ThrowRangeError(ctx, "JavaScript heap out of memory");
        if (JS_VALUE_GET_TAG(rt->current_exception) == JS_TAG_OBJECT)
            JS_VALUE_GET_OBJ(rt->current_exception)->is_memory_error = 1;
        rt->in_out_of_memory = false;
    }
    return JS_EXCEPTION;`,
    },
    {
      file: 'quickjs.c',
      find: 'static JSValue JS_PRINTF_FORMAT_ATTR(4, 0)\nJS_MakeError(',
      replace: `/* in the shim: an allocation has failed; and the error to throw when none can be made */
static void cf_out_of_memory(JSRuntime *rt);
static JSValue cf_memory_error(void);

static JSValue JS_PRINTF_FORMAT_ATTR(4, 0)
JS_MakeError(`,
    },
    {
      file: 'quickjs.c',
      find: '        /* out of memory: throw JS_NULL to avoid recursing */\n        obj = JS_NULL;\n',
      replace: '        obj = cf_memory_error();\n',
    },
  ],
};
