// Edits of quickjs.c: a text for a text, and the parser's errors that name the token.
const text = (find, replace, count = 1) => ({ file: 'quickjs.c', find, replace, count });
const unexpected = (message, count = 1) => text(`js_parse_error(s, "${message}")`, 'js_parse_unexpected(s)', count);
const ATOM = (name) => `JS_AtomGetStr(ctx, (char[ATOM_GET_STR_BUF_SIZE]){ 0 }, ATOM_GET_STR_BUF_SIZE, ${name})`;

export default {
  title: "V8's words for syntax errors and refused operations",
  why: `The continuation of patch 88: what a program sees when it does not parse, and when a property, a number or a string is refused. Where V8 quotes
an object the generic form ('#<Object>') stands.`,
  edits: [
    // properties
    text('"no setter for property"', '"Cannot set property of #<Object> which has only a getter"'),
    text('"could not delete property"', `"Cannot delete property '%s' of #<Object>", ${ATOM('prop')}`),
    text(
      'ret = JS_ThrowTypeErrorOrFalse(ctx, flags, "object is not extensible");',
      `ret = JS_ThrowTypeErrorOrFalse(ctx, flags, "Cannot add property %s, object is not extensible", ${ATOM('prop')});`,
      2,
    ),
    text(
      '    not_extensible:\n        return JS_ThrowTypeErrorOrFalse(ctx, flags, "object is not extensible");',
      `    not_extensible:\n        return JS_ThrowTypeErrorOrFalse(ctx, flags, "Cannot define property %s, object is not extensible", ${ATOM('prop')});`,
    ),
    text(
      '"Cannot assign to read only property \'%s\' of object"',
      "\"Cannot assign to read only property '%s' of object '#<Object>'\"",
    ),
    text(
      '"private class field \'%s\' does not exist"',
      '"Cannot read private member %s from an object whose class did not declare it"',
    ),
    // values
    text('JS_ThrowInternalError(ctx, "string too long")', 'JS_ThrowRangeError(ctx, "Invalid string length")'),
    text(/"invalid string length"/g, '"Invalid string length"', 6),
    text(
      'JS_ThrowRangeError(ctx, "invalid repeat count")',
      'JS_ThrowRangeError(ctx, "Invalid count value: %d", (int)max_int64(min_int64(val, INT32_MAX), INT32_MIN))',
    ),
    text('"empty array"', '"Reduce of empty array with no initial value"'),
    text(/"Array loo long"/g, '"Invalid array length"', 4),
    text(
      /(static JSValue js_number_toFixed\([\s\S]*?)"invalid number of digits"/g,
      '$1"toFixed() digits argument must be between 0 and 100"',
    ),
    text(
      /(static JSValue js_number_toExponential\([\s\S]*?)"invalid number of digits"/g,
      '$1"toExponential() argument must be between 0 and 100"',
    ),
    text(
      /(static JSValue js_number_toPrecision\([\s\S]*?)"invalid number of digits"/g,
      '$1"toPrecision() argument must be between 1 and 100"',
    ),
    text(
      '"invalid value used as %s key", is_set ? "WeakSet" : "WeakMap"',
      '"Invalid value used %s", is_set ? "in weak set" : "as weak map key"',
    ),
    text('"invalid value used as WeakMap key"', '"Invalid value used as weak map key"'),
    text(
      `    val = JS_StringToBigInt(ctx, val);
    if (JS_VALUE_IS_NAN(val))
        return JS_ThrowSyntaxError(ctx, "invalid BigInt literal");
    return val;`,
      `    JSValue text = js_dup(val);
    val = JS_StringToBigInt(ctx, val);
    if (JS_VALUE_IS_NAN(val)) {
        const char *chars = JS_ToCString(ctx, text);
        val = chars ? JS_ThrowSyntaxError(ctx, "Cannot convert %.200s to a BigInt", chars) : JS_EXCEPTION;
        JS_FreeCString(ctx, chars);
    }
    JS_FreeValue(ctx, text);
    return val;`,
    ),
    text(
      /JS_ThrowRangeError\(ctx, "cannot convert to BigInt: not an integer"\);\n +\} else \{\n +val = JS_ThrowRangeError\(ctx, "cannot convert NaN or Infinity to BigInt"\);/g,
      'cf_throw_not_integer(ctx, d);\n                } else {\n                    val = cf_throw_not_integer(ctx, d);',
    ),
    text(
      'static JSValue JS_StringToBigIntErr(',
      '/* in the shim */\nstatic JSValue cf_throw_not_integer(JSContext *ctx, double value);\nstatic JSValue cf_throw_not_iterable(JSContext *ctx, JSValueConst value);\n\nstatic JSValue JS_StringToBigIntErr(',
    ),
    text(
      '        JS_FreeValue(ctx, method);\n        return JS_ThrowTypeError(ctx, "value is not iterable");',
      '        JS_FreeValue(ctx, method);\n        return cf_throw_not_iterable(ctx, obj);',
    ),
    text(
      'static JSValue JS_GetIterator(JSContext *ctx, JSValueConst obj, bool is_async)\n{\n    JSValue method, ret, sync_iter;\n\n',
      'static JSValue JS_GetIterator(JSContext *ctx, JSValueConst obj, bool is_async)\n{\n    JSValue method, ret, sync_iter;\n\n    if (JS_IsNull(obj) || JS_IsUndefined(obj))\n        return cf_throw_not_iterable(ctx, obj);\n',
    ),
    text(
      '    iterator = JS_GetProperty(ctx, sp[-1], JS_ATOM_Symbol_iterator);\n',
      '    if (JS_IsNull(sp[-1]) || JS_IsUndefined(sp[-1])) {\n        cf_throw_not_iterable(ctx, sp[-1]);\n        return -1;\n    }\n    iterator = JS_GetProperty(ctx, sp[-1], JS_ATOM_Symbol_iterator);\n',
    ),
    // only destructuring and with convert this way
    text(
      '                sf->cur_pc = pc;\n                ret_val = JS_ToObject(ctx, sp[-1]);\n',
      `                sf->cur_pc = pc;
                if (JS_IsNull(sp[-1]) || JS_IsUndefined(sp[-1])) {
                    const char *nothing = JS_IsNull(sp[-1]) ? "null" : "undefined";
                    JS_ThrowTypeError(ctx, "Cannot destructure '%s' as it is %s.", nothing, nothing);
                    goto exception;
                }
                ret_val = JS_ToObject(ctx, sp[-1]);
`,
    ),
    text(
      '            JS_ThrowTypeError(ctx, "value is not iterable");\n            goto exception;',
      '            cf_throw_not_iterable(ctx, iter);\n            goto exception;',
      1,
    ),

    // tokens
    text(/js_parse_error\(s, "unexpected end of string"\)/g, 'js_parse_error(s, "Invalid or unexpected token")', 2),
    text('js_parse_error(s, "unexpected end of regexp")', 'js_parse_error(s, "Invalid regular expression: missing /")'),
    text(
      'js_parse_error(s, "unexpected line terminator in regexp")',
      'js_parse_error(s, "Invalid regular expression: missing /")',
    ),
    text('js_parse_error(s, "unexpected end of comment")', 'js_parse_error(s, "Invalid or unexpected token")'),
    text('js_parse_error(s, "invalid first character of private name")', 'js_parse_error(s, "Invalid or unexpected token")'),
    text('js_parse_error(s, "invalid number literal")', 'js_parse_error(s, "Invalid or unexpected token")'),
    text('js_parse_error(s, "unexpected character")', 'js_parse_error(s, "Invalid or unexpected token")'),
    text('"Octal literals are not allowed in strict mode"', '"Octal literals are not allowed in strict mode."'),
    unexpected('invalid property name'),
    unexpected('invalid method name'),
    unexpected('invalid field name'),
    unexpected('expecting field name'),
    unexpected('class statement requires a name'),
    unexpected('function name expected'),
    unexpected('variable name expected', 2),
    unexpected('from clause expected'),
    unexpected('invalid export syntax'),
    unexpected('missing formal parameter'),
    unexpected('identifier expected', 4),
    unexpected('identifier or string expected', 3),
    unexpected('string expected', 2),
    // declarations
    text(
      'js_parse_error(s, "missing initializer for variable")',
      'js_parse_error(s, "Missing initializer in %s declaration", tok == TOK_CONST ? "const" : "destructuring")',
    ),
    text(
      /js_parse_error\(s, "invalid redefinition of (?:lexical identifier|parameter name|a variable|global identifier)"\);\n(?= +\}\n)/g,
      'js_parse_error(s, "Identifier \'%s\' has already been declared", JS_AtomGetStr(ctx, (char[ATOM_GET_STR_BUF_SIZE]){ 0 }, ATOM_GET_STR_BUF_SIZE, name));\n',
      5,
    ),
    text(
      'js_parse_error(s, "unsupported keyword: %s",\n',
      'js_parse_error(s, atom == JS_ATOM_enum ? "Unexpected reserved word" : "Unexpected token \'%s\'",\n',
    ),
    text(
      'js_parse_error(s, "property constructor appears more than once")',
      'js_parse_error(s, "A class may only have one constructor")',
    ),
    text(
      /js_parse_error\(s, "'let' is not a valid lexical identifier"\)/g,
      'js_parse_error(s, "let is disallowed as a lexically bound name")',
      2,
    ),
    text(
      'js_parse_error(s, "super() is only valid in a derived class constructor")',
      'js_parse_error(s, "\'super\' keyword unexpected here")',
    ),
    text('js_parse_error(s, "\'super\' is only valid in a method")', 'js_parse_error(s, "\'super\' keyword unexpected here")'),
    text('js_parse_error(s, "invalid use of \'super\'")', 'js_parse_error(s, "\'super\' keyword unexpected here")'),
    text(
      'js_parse_error(s, "import.meta only valid in module code")',
      'js_parse_error(s, "Cannot use \'import.meta\' outside a module")',
    ),
    // expressions
    text(
      'js_parse_error(s, "invalid increment/decrement operand")',
      'js_parse_error(s, "Invalid left-hand side expression in postfix operation")',
    ),
    text('js_parse_error(s, "invalid assignment left-hand side")', 'js_parse_error(s, "Invalid left-hand side in assignment")'),
    text('js_parse_error(s, "invalid for in/of left hand-side")', 'js_parse_error(s, "Invalid left-hand side in for-loop")'),
    text(
      /js_parse_error\(s, "invalid destructuring target"\)/g,
      'js_parse_error(s, "Invalid destructuring assignment target")',
      3,
    ),
    text('js_parse_error(s, "rest element must be the last one")', 'js_parse_error(s, "Rest element must be last element")'),
    text(
      'js_parse_error(s, "cannot delete a direct reference in strict mode")',
      'js_parse_error(s, "Delete of an unqualified identifier in strict mode.")',
    ),
    text('js_parse_error(s, "cannot delete a private class field")', 'js_parse_error(s, "Private fields can not be deleted")'),
    text(
      "js_parse_error(s, \"unparenthesized unary expression can't appear on the left-hand side of '**'\")",
      'js_parse_error(s, "Unary operator used immediately before exponentiation expression. Parenthesis must be used to disambiguate operator precedence")',
    ),
    // statements
    text(
      'js_parse_error(s, "continue must be inside loop")',
      'js_parse_error(s, "Illegal continue statement: no surrounding iteration statement")',
    ),
    text('js_parse_error(s, "break must be inside loop or switch")', 'js_parse_error(s, "Illegal break statement")'),
    text('js_parse_error(s, "return not in a function")', 'js_parse_error(s, "Illegal return statement")'),
    text('js_parse_error(s, "line terminator not allowed after throw")', 'js_parse_error(s, "Illegal newline after throw")'),
    text('js_parse_error(s, "duplicate default")', 'js_parse_error(s, "More than one default clause in switch statement")'),
    text('js_parse_error(s, "expecting catch or finally")', 'js_parse_error(s, "Missing catch or finally after try")'),
    text('js_parse_error(s, "invalid keyword: with")', 'js_parse_error(s, "Strict mode code may not include a with statement")'),
    text(
      /js_parse_error\(s, "lexical declarations can't appear in single-statement context"\)/g,
      'js_parse_error(s, "Lexical declaration cannot appear in a single-statement context")',
      3,
    ),
    text('js_parse_error(s, "duplicate label name")', 'js_parse_error(s, "Label has already been declared")'),
    // JSON
    text('js_parse_error(s, "unexpected token: \'%.*s\'"', 'js_parse_error(s, "Unexpected token \'%.*s\' in JSON"'),
  ],
};
