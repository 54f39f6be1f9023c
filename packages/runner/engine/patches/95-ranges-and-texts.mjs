// Edits of quickjs.c.
const quick = (find, replace, count = 1) => ({ file: 'quickjs.c', find, replace, count });
/** A fixed text becomes a pattern of cf_throw_about (shim/messages.c). */
const about = (type, text, pattern, value = 'JS_UNDEFINED', prop = 'JS_ATOM_NULL', count = 1) =>
  quick(
    `JS_Throw${type}Error(ctx, "${text}")`,
    `cf_throw_about(ctx, JS_${type.toUpperCase()}_ERROR, "${pattern}", ${prop}, ${value})`,
    count,
  );
const name = (atom) => `JS_AtomGetStr(ctx, (char[ATOM_GET_STR_BUF_SIZE]){ 0 }, ATOM_GET_STR_BUF_SIZE, ${atom})`;

export default {
  title: 'messages about ranges, regular expressions and JSON',
  why: `The last of V8's words, after 95-quoted-values.mjs: numbers out of a range, patterns and JSON texts that cannot be read, and objects that hold
themselves. shim/messages.c and shim/messages-texts.c make the sentences.`,
  edits: [
    // ranges
    quick(
      '        JS_ThrowRangeError(ctx, "invalid array index");\n        *plen = 0;',
      '        cf_throw_bad_index(ctx, val);\n        *plen = 0;',
    ),
    quick(
      '        range_error:\n            JS_ThrowRangeError(ctx, "Invalid array length");',
      '        range_error:\n            JS_ThrowRangeError(ctx, "offset is out of bounds");',
    ),
    about('Range', 'invalid code point', 'Invalid code point %v', 'argv[i]'),
    quick(
      '"regexp not supported"',
      '"First argument to String.prototype.%s must not be a regular expression", magic == 0 ? "includes" : magic == 2 ? "endsWith" : "startsWith"',
    ),
    about('Type', "regexp must have the 'g' flag", '%f called with a non-global RegExp argument'),
    quick('"bad normalization form"', '"The normalization form should be one of NFC, NFD, NFKC, NFKD."'),
    quick(
      'JS_ThrowRangeError(ctx, "Invalid count value: %d", (int)max_int64(min_int64(val, INT32_MAX), INT32_MIN))',
      'cf_throw_about(ctx, JS_RANGE_ERROR, "Invalid count value: %v", JS_ATOM_NULL, argv[0])',
    ),
    quick(
      'JS_ThrowRangeError(ctx, "invalid array index: %" PRId64, idx)',
      'JS_ThrowRangeError(ctx, "Invalid index : %" PRId64, idx)',
    ),
    quick('"invalid array buffer length"', '"Invalid array buffer length"', 5),
    quick(
      'return JS_ThrowRangeError(ctx, "invalid byteOffset");',
      'return cf_throw_about(ctx, JS_RANGE_ERROR, "Start offset %v is outside the bounds of the buffer", JS_ATOM_NULL, argv[1]);',
    ),
    quick(
      'return JS_ThrowRangeError(ctx, "invalid byteLength");',
      'return cf_throw_about(ctx, JS_RANGE_ERROR, "Invalid DataView length %v", JS_ATOM_NULL, argv[2]);',
    ),
    quick(
      'return JS_ThrowRangeError(ctx, "out of bound");',
      'return JS_ThrowRangeError(ctx, "Offset is outside the bounds of the DataView");',
      2,
    ),
    quick(
      `            if ((offset & ((1 << size_log2) - 1)) != 0 ||
                offset > abuf->byte_length)
                return JS_ThrowRangeError(ctx, "invalid offset");`,
      `            if ((offset & ((1 << size_log2) - 1)) != 0)
                return JS_ThrowRangeError(ctx, "start offset of %s should be a multiple of %d", ${name('ctx->rt->class_array[classid].class_name')}, 1 << size_log2);
            if (offset > abuf->byte_length)
                return JS_ThrowRangeError(ctx, "Start offset %d is outside the bounds of the buffer", (int)offset);`,
    ),
    quick(
      `                    if ((abuf->byte_length & ((1 << size_log2) - 1)) != 0)
                        goto invalid_length;`,
      `                    if ((abuf->byte_length & ((1 << size_log2) - 1)) != 0)
                        return JS_ThrowRangeError(ctx, "byte length of %s should be a multiple of %d", ${name('ctx->rt->class_array[classid].class_name')}, 1 << size_log2);`,
    ),
    quick(
      '                invalid_length:\n                    return JS_ThrowRangeError(ctx, "invalid length");',
      '                    return cf_throw_about(ctx, JS_RANGE_ERROR, "Invalid typed array length: %v", JS_ATOM_NULL, argv[2]);',
    ),
    quick('"expecting surrogate pair"', '"URI malformed"', 2),
    quick(
      'return JS_ThrowTypeError(ctx, "invalid target");',
      'return cf_throw_about(ctx, JS_TYPE_ERROR, "WeakRef: invalid target", JS_ATOM_NULL, JS_UNDEFINED);',
      2,
    ),
    quick('"promise self resolution"', '"Chaining cycle detected for promise #<Promise>"'),
    quick('"BigInt are forbidden in JSON.stringify"', '"Do not know how to serialize a BigInt"'),
    quick(
      '            JS_ThrowTypeError(ctx, "Converting circular structure to JSON");\n',
      '            cf_throw_circular(ctx, jsc->stack, p);\n',
    ),
    // regular expressions
    quick('JS_ThrowSyntaxError(ctx, "%s", error_msg);', 'cf_throw_regexp(ctx, pattern, re_flags, error_msg);'),
    quick(
      '            bad_flags:\n                JS_FreeCString(ctx, str);\n                return JS_ThrowSyntaxError(ctx, "invalid regular expression flags");',
      '            bad_flags:\n                JS_FreeCString(ctx, str);\n                return js_throw_regexp_flags(ctx, flags);',
    ),
    quick(
      '            return JS_ThrowSyntaxError(ctx, "invalid regular expression flags");',
      '            return js_throw_regexp_flags(ctx, flags);',
    ),
    quick(
      /(\nstatic JSValue js_compile_regexp\([^;{]*\{\n)/g,
      `
static JSValue js_regexp_constructor(JSContext *ctx, JSValueConst new_target, int argc, JSValueConst *argv);

/* a literal (then no builtin runs) and the constructor have different texts */
static JSValue js_throw_regexp_flags(JSContext *ctx, JSValueConst flags)
{
    JSStackFrame *sf = ctx->rt->current_stack_frame;
    if (!sf || JS_GetFunctionBytecode(sf->cur_func) ||
        JS_VALUE_GET_OBJ(sf->cur_func)->u.cfunc.c_function.constructor_or_func != js_regexp_constructor)
        return JS_ThrowSyntaxError(ctx, "Invalid regular expression flags");
    return cf_throw_about(ctx, JS_SYNTAX_ERROR, "Invalid flags supplied to RegExp constructor '%v'", JS_ATOM_NULL, flags);
}
$1`,
    ),
    // JSON
    quick(
      'static int json_parse_error(JSParseState *s, const uint8_t *curp, const char *msg)\n{\n    const uint8_t *p, *line_start;\n    int position = curp - s->buf_start;\n',
      `/* in the shim */
static int cf_throw_json(JSParseState *s, const uint8_t *at);

static int js_utf16_length(const uint8_t *p, const uint8_t *end)
{
    int units = 0;
    for (; p < end; p++)
        units += ((*p & 0xc0) != 0x80) + (*p >= 0xf0);
    return units;
}

static int json_parse_error(JSParseState *s, const uint8_t *curp, const char *msg)
{
    const uint8_t *p, *line_start;
    int position = js_utf16_length(s->buf_start, curp);
`,
    ),
    quick(
      'return js_parse_error(s, "%s in JSON at position %d (line %d column %d)",',
      'return js_parse_error(s, strstr(msg, "after JSON") ? "%s at position %d (line %d column %d)" : "%s in JSON at position %d (line %d column %d)",',
    ),
    quick('msg, position, line, (int)(p - line_start) + 1);', 'msg, position, line, js_utf16_length(line_start, curp) + 1);'),
    quick(
      'json_parse_error(s, p, "No number after minus sign");',
      'json_parse_error(s, p + 1, "No number after minus sign");',
      1,
    ),
    quick(
      'json_parse_error(s, p, "Unexpected number");\n            goto fail;',
      'json_parse_error(s, p + 1, "Unexpected number");\n            goto fail;',
      1,
    ),
    quick(
      "                    if (json_next_token(s))\n                        goto fail;\n                }\n            }\n            if (json_next_token(s))\n                goto fail;\n        }\n        break;\n    case '[':",
      `                    if (json_next_token(s))
                        goto fail;
                    if (s->token.val != TOK_STRING) {
                        json_parse_error(s, s->token.ptr, "Expected double-quoted property name");
                        goto fail;
                    }
                }
            }
            if (json_next_token(s))
                goto fail;
        }
        break;
    case '[':`,
    ),
    quick(
      `        if (s->token.val == TOK_EOF) {
            js_parse_error(s, "Unexpected end of JSON input");
        } else {
            js_parse_error(s, "Unexpected token '%.*s' in JSON",
                           (int)(s->buf_ptr - s->token.ptr), s->token.ptr);
        }
        goto fail;`,
      '        cf_throw_json(s, s->token.ptr);\n        goto fail;',
    ),
    quick(/js_parse_error\(s, "Unexpected token '\\\\(?:x%02x' in JSON", \*p|u%04x' in JSON", c)\);/g, 'cf_throw_json(s, p);', 2),
    quick(
      '        if (js_parse_error(s, "unexpected data at the end")) {',
      '        if (json_parse_error(s, s->token.ptr, "Unexpected non-whitespace character after JSON")) {',
    ),
    quick(
      ' end_of_input:\n    js_parse_error(s, "Unexpected end of JSON input");\n',
      ' end_of_input:\n    json_parse_error(s, s->buf_end, "Unterminated string");\n',
    ),
  ],
};
