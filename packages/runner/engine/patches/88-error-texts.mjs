// An edit of quickjs.c.
const quick = (find, replace, count = 1) => ({ file: 'quickjs.c', find, replace, count });

export default {
  title: "V8's words for the commonest errors",
  why: `Error messages are read by people, by models and by programs that match on them; those of V8 are the ones they know. Only texts that need no new
machinery are changed here, and "x is not a function", whose name the shim reads out of the program's source (shim/messages.c).`,
  edits: [
    quick(`"cannot read property '%s' of null"`, `"Cannot read properties of null (reading '%s')"`, 2),
    quick(`"cannot read property '%s' of undefined"`, `"Cannot read properties of undefined (reading '%s')"`, 2),
    quick(`"cannot set property '%s' of null"`, `"Cannot set properties of null (setting '%s')"`),
    quick(`"cannot set property '%s' of undefined"`, `"Cannot set properties of undefined (setting '%s')"`),
    quick(`"'%s' is read-only"`, `"Cannot assign to read only property '%s' of object"`),
    quick(
      '                if (type == JS_THROW_VAR_RO)\n                    JS_ThrowTypeErrorReadOnly(ctx, JS_PROP_THROW, atom);',
      '                if (type == JS_THROW_VAR_RO)\n                    JS_ThrowTypeError(ctx, "Assignment to constant variable.");',
    ),
    quick(
      '    return JS_ThrowReferenceError(ctx, "%s is not initialized",\n',
      `    if (name == JS_ATOM_this)
        return JS_ThrowReferenceError(ctx, "Must call super constructor in derived class before accessing 'this' or returning from derived constructor");
    return JS_ThrowReferenceError(ctx, "Cannot access '%s' before initialization",
`,
    ),
    quick('return JS_ThrowTypeError(ctx, "not a function");\n}', 'return cf_throw_not_callable(ctx, false);\n}'),
    quick(
      'fini:\n    return JS_ThrowTypeError(ctx, "not a constructor");',
      'fini:\n    return cf_throw_not_callable(ctx, true);',
    ),
    quick(
      'static JSValue JS_ThrowTypeErrorNotAConstructor(JSContext *ctx,\n',
      `/* in the shim */
static JSValue cf_throw_not_callable(JSContext *ctx, bool constructor);

static JSValue JS_ThrowTypeErrorNotAConstructor(JSContext *ctx,
`,
    ),
    quick(
      `JS_ThrowTypeError(ctx, "class constructors must be invoked with 'new'");`,
      `{
                const char *class_name = get_func_name(ctx, sf->cur_func);
                JS_ThrowTypeError(ctx, "Class constructor %s cannot be invoked without 'new'", class_name ? class_name : "");
                JS_FreeCString(ctx, class_name);
                }`,
    ),
    quick('"cannot convert symbol to number"', '"Cannot convert a Symbol value to a number"'),
    quick('"cannot convert symbol to string"', '"Cannot convert a Symbol value to a string"'),
    quick('"cannot convert BigInt to number"', '"Cannot mix BigInt and other types, use explicit conversions"'),
    quick(
      `        JS_ThrowTypeError(ctx, "invalid 'instanceof' right operand");`,
      `        JS_ThrowTypeError(ctx, JS_IsObject(obj) ? "Right-hand side of 'instanceof' is not callable" : "Right-hand side of 'instanceof' is not an object");`,
    ),
    quick(/"invalid array length"/g, '"Invalid array length"', 4),
    quick(
      `        JS_ThrowTypeError(ctx, "invalid 'in' operand");
        return -1;
    }
    atom = JS_ValueToAtom(ctx, op1);`,
      `        JSValue key = JS_IsSymbol(op1) ? JS_NewString(ctx, "symbol") : JS_ToString(ctx, op1), operand = JS_ToString(ctx, op2);
        const char *key_text = JS_ToCString(ctx, key), *operand_text = JS_ToCString(ctx, operand);
        if (key_text && operand_text)
            JS_ThrowTypeError(ctx, "Cannot use 'in' operator to search for '%s' in %s", key_text, operand_text);
        JS_FreeCString(ctx, key_text);
        JS_FreeCString(ctx, operand_text);
        JS_FreeValue(ctx, key);
        JS_FreeValue(ctx, operand);
        return -1;
    }
    atom = JS_ValueToAtom(ctx, op1);`,
    ),
    quick('return JS_ThrowRangeError(ctx, "Date value is NaN");', 'return JS_ThrowRangeError(ctx, "Invalid time value");'),
    quick('"expecting hex digit"', '"URI malformed"'),
    quick('"malformed UTF-8"', '"URI malformed"'),
    quick(
      `            JS_ThrowTypeError(ctx, "circular reference");
            goto exception;`,
      `            JS_ThrowTypeError(ctx, "Converting circular structure to JSON");
            goto exception;`,
    ),
    quick(
      `        JS_ThrowSyntaxError(ctx, "Could not find export '%s' in module '%s'",
                            JS_AtomGetStr(ctx, buf1, sizeof(buf1), export_name),
                            JS_AtomGetStr(ctx, buf2, sizeof(buf2), m->module_name));`,
      `        JS_ThrowSyntaxError(ctx, "The requested module '%s' does not provide an export named '%s'",
                            JS_AtomGetStr(ctx, buf2, sizeof(buf2), m->module_name),
                            JS_AtomGetStr(ctx, buf1, sizeof(buf1), export_name));`,
    ),
    // one text for a token that does not belong where it is
    quick(
      `static int js_parse_expect(JSParseState *s, int tok)
{
    char buf[ATOM_GET_STR_BUF_SIZE];

    if (s->token.val == tok)
        return next_token(s);

    switch(s->token.val) {`,
      `static int js_parse_unexpected(JSParseState *s)
{
    char buf[ATOM_GET_STR_BUF_SIZE];

    switch(s->token.val) {`,
    ),
    quick(
      `static int js_parse_expect_semi(JSParseState *s)
{`,
      `static int js_parse_expect(JSParseState *s, int tok)
{
    return s->token.val == tok ? next_token(s) : js_parse_unexpected(s);
}

static int js_parse_expect_semi(JSParseState *s)
{`,
    ),
    quick(`        return js_parse_error(s, "expecting '%c'", ';');`, '        return js_parse_unexpected(s);'),
    quick(
      `        return js_parse_error(s, "unexpected token in expression: '%.*s'",
                              (int)(s->buf_ptr - s->token.ptr), s->token.ptr);`,
      '        return js_parse_unexpected(s);',
    ),
    // Promise.any's error: a message, and no frames
    quick(
      `    JS_DefinePropertyValueConst(ctx, obj, JS_ATOM_errors, errors,
                               JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
    return obj;
}

/* Array */`,
      `    JS_DefinePropertyValue(ctx, obj, JS_ATOM_stack, JS_NewString(ctx, "AggregateError: All promises were rejected"),
                           JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
    JS_DefinePropertyValue(ctx, obj, JS_ATOM_message, JS_NewString(ctx, "All promises were rejected"),
                           JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
    JS_DefinePropertyValueConst(ctx, obj, JS_ATOM_errors, errors,
                               JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
    return obj;
}

/* Array */`,
    ),
  ],
};
