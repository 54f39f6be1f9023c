// Edits of quickjs.c: the parser's errors.
const quick = (find, replace, count = 1) => ({ file: 'quickjs.c', find, replace, count });
const text = (find, replace, count = 1) => quick(`js_parse_error(s, "${find}")`, `js_parse_error(s, "${replace}")`, count);
const ATOM = (name) => `JS_AtomGetStr(ctx, (char[ATOM_GET_STR_BUF_SIZE]){ 0 }, ATOM_GET_STR_BUF_SIZE, ${name})`;

export default {
  title: "V8's words for programs that do not parse",
  why: `What is left of the parser's messages after patches 88 and 89: those that depend on where in the grammar the parser is ("missing ) after argument
list", "await is only valid in async functions and the top level bodies of modules").`,
  edits: [
    quick(
      `        return js_parse_unexpected(s);
    }
    return next_token(s);
}
`,
      `        if (s->last_ptr - s->buf_start >= 5 && !memcmp(s->last_ptr - 5, "await", 5) &&
            (s->last_ptr - s->buf_start == 5 || !lre_js_is_ident_next(s->last_ptr[-6])))
            return js_parse_error(s, "await is only valid in async functions and the top level bodies of modules");
        return js_parse_unexpected(s);
    }
    return next_token(s);
}

/* between the arguments of a call */
static int js_parse_expect_argument_end(JSParseState *s)
{
    if (s->token.val == ',')
        return next_token(s);
    return js_parse_error(s, "missing ) after argument list");
}
`,
    ),
    quick(
      "                /* accept a trailing comma before the ')' */\n                if (js_parse_expect(s, ','))\n                    return -1;",
      "                /* accept a trailing comma before the ')' */\n                if (js_parse_expect_argument_end(s))\n                    return -1;",
    ),
    quick(
      "                    /* accept a trailing comma before the ')' */\n                    if (js_parse_expect(s, ','))\n                        return -1;",
      "                    /* accept a trailing comma before the ')' */\n                    if (js_parse_expect_argument_end(s))\n                        return -1;",
    ),
    quick(
      `        return js_parse_error(s, "Unexpected identifier '%s'",`,
      `        if (s->token.u.ident.is_reserved && s->token.u.ident.atom >= JS_ATOM_implements && s->token.u.ident.atom <= JS_ATOM_static)
            return js_parse_error(s, "Unexpected strict mode reserved word");
        return js_parse_error(s, "Unexpected identifier '%s'",`,
    ),
    quick(
      /static int js_parse_error_reserved_identifier\(JSParseState \*s\)\n\{[\s\S]*?\n\}\n/g,
      `static int js_parse_error_reserved_identifier(JSParseState *s)
{
    JSContext *ctx = s->ctx;
    JSAtom atom = s->token.u.ident.atom;
    if (atom == JS_ATOM_await || atom == JS_ATOM_enum)
        return js_parse_error(s, "Unexpected reserved word");
    if (atom == JS_ATOM_yield && !s->cur_func->is_strict_mode)
        return js_parse_error(s, "Unexpected identifier 'yield'");
    if (s->cur_func->is_strict_mode && ((atom >= JS_ATOM_implements && atom <= JS_ATOM_static) || atom == JS_ATOM_let || atom == JS_ATOM_yield))
        return js_parse_error(s, "Unexpected strict mode reserved word");
    return js_parse_error(s, "Unexpected token '%s'", ${ATOM('atom')});
}
`,
    ),
    quick(
      '    default:\n        return js_parse_error(s, "Unexpected token \'%.*s\'",\n',
      `    case TOK_PRIVATE_NAME: {
        JSContext *ctx = s->ctx;
        return js_parse_error(s, "Private field '%s' must be declared in an enclosing class", ${ATOM('s->token.u.ident.atom')});
    }
    case TOK_AWAIT:
    case TOK_ENUM:
        return js_parse_error(s, "Unexpected reserved word");
    default:
        if (s->token.val == '@' || s->token.val == '\\\\' || s->token.val == '#')
            return js_parse_error(s, "Invalid or unexpected token");
        if (s->token.val == TOK_YIELD && !s->cur_func->is_strict_mode)
            return js_parse_error(s, "Unexpected identifier 'yield'");
        if (s->token.val >= TOK_IMPLEMENTS && s->token.val <= TOK_YIELD && s->token.val != TOK_LET && s->cur_func && s->cur_func->is_strict_mode)
            return js_parse_error(s, "Unexpected strict mode reserved word");
        return js_parse_error(s, "Unexpected token '%.*s'",
`,
    ),
    quick(
      /( unexpected_eof:\n    )js_parse_error\(s, "Invalid or unexpected token"\)/g,
      '$1js_parse_error(s, "Unexpected end of input")',
    ),
    quick(
      `                s->col_num = max_int(1, s->mark - s->eol);
                js_parse_error(s, "Invalid or unexpected token");`,
      `                const uint8_t *digits = s->token.ptr;
                s->col_num = max_int(1, s->mark - s->eol);
                while (lre_js_is_ident_next(*digits) && !(digits[0] == '_' && digits[1] == '_') && *digits < 0x80)
                    digits++;
                if (*digits == '_')
                    js_parse_error(s, "Only one underscore is allowed as numeric separator");
                else if (digits > s->token.ptr && digits[-1] == '_')
                    js_parse_error(s, "Numeric separators are not allowed at the end of numeric literals");
                else
                js_parse_error(s, "Invalid or unexpected token");`,
    ),
    // declarations
    quick(
      `                js_parse_unexpected(s);
                goto fail;
            }

            if (is_private) {
                if (find_private_class_field(`,
      `                js_parse_error(s, "Classes may not have a%s field named '%s'", is_static ? " static" : "", ${ATOM('name')});
                goto fail;
            }

            if (is_private) {
                if (find_private_class_field(`,
    ),
    quick(
      `        if (!(decl_mask & DECL_MASK_OTHER)) {
            js_parse_error(s, "Lexical declaration`,
      `        if (!(decl_mask & DECL_MASK_OTHER)) {
            if (s->token.val == TOK_CONST)
                js_parse_unexpected(s);
            else
            js_parse_error(s, "Lexical declaration`,
    ),
    quick(
      '                if (js_parse_destructuring_element(s, tok, false, true, skip_bits & SKIP_HAS_ELLIPSIS, true, export_flag) < 0)\n                    return -1;\n            } else {\n                return js_parse_unexpected(s);',
      `                if (js_parse_destructuring_element(s, tok, false, true, skip_bits & SKIP_HAS_ELLIPSIS, true, export_flag) < 0)
                    return -1;
            } else if (s->token.val == '[' || s->token.val == '{') {
                return js_parse_error(s, "Missing initializer in destructuring declaration");
            } else {
                return js_parse_unexpected(s);`,
    ),
    text("'undefined' already declared", "Identifier 'undefined' has already been declared"),
    quick(
      '"\\"use strict\\" not allowed in function with default or destructuring parameter"',
      '"Illegal \'use strict\' directive in function with non-simple parameter list"',
    ),
    text('invalid function name in strict code', 'Unexpected eval or arguments in strict mode'),
    text('invalid argument name in strict code', 'Unexpected eval or arguments in strict mode'),
    quick(
      `            if (rest && s->token.val != ')') {
                js_parse_expect(s, ')');
                goto fail;`,
      `            if (rest && s->token.val != ')') {
                js_parse_error(s, "Rest parameter must be last formal parameter");
                goto fail;`,
    ),
    quick(
      'js_parse_error(s, "invalid number of arguments for getter or setter")',
      'js_parse_error(s, func_type == JS_PARSE_FUNC_GETTER ? "Getter must not have any formal parameters." : "Setter must have exactly one formal parameter.")',
    ),
    quick(
      '                    js_parse_error(s, "private class field is already defined");',
      `                    js_parse_error(s, "Identifier '%s' has already been declared", ${ATOM('name')});`,
    ),
    quick(
      `JS_ThrowSyntaxErrorAtom(ctx, "undefined private field '%s'",`,
      `JS_ThrowSyntaxErrorAtom(ctx, "Private field '%s' must be declared in an enclosing class",`,
    ),
    quick('"%s are not allowed in %s",', '"%s are not allowed in %s.",'),
    // expressions
    text('invalid lvalue in strict mode', 'Unexpected eval or arguments in strict mode'),
    text("expected '}' after template expression", 'Missing } in template expression'),
    text('new.target only allowed within functions', 'new.target expression is not allowed here'),
    // a token that no caller of get_lvalue has stands for the prefix operators
    quick(
      '            if (js_parse_unary(s, 0))\n                return -1;\n            if (get_lvalue(s, &opcode, &scope, &name, &label, NULL, true, op))',
      '            if (js_parse_unary(s, 0))\n                return -1;\n            if (get_lvalue(s, &opcode, &scope, &name, &label, NULL, true, 1))',
    ),
    quick(
      '        } else if (tok == TOK_INC || tok == TOK_DEC) {',
      '        } else if (tok == 1) {\n            return js_parse_error(s, "Invalid left-hand side expression in prefix operation");\n        } else if (tok == TOK_INC || tok == TOK_DEC) {',
    ),
    quick(
      `            name == JS_ATOM_hash_constructor) {
            js_parse_unexpected(s);`,
      `            name == JS_ATOM_hash_constructor) {
            js_parse_error(s, name == JS_ATOM_hash_constructor ? "Classes may not have a field named 'constructor'"
                           : name == JS_ATOM_prototype ? "Classes may not have a static property named 'prototype'"
                           : prop_type == PROP_TYPE_GET || prop_type == PROP_TYPE_SET ? "Class constructor may not be an accessor"
                           : prop_type == PROP_TYPE_STAR ? "Class constructor may not be a generator"
                           : "Class constructor may not be an async method");`,
    ),
    // statements
    quick(
      'js_parse_error(s, "Label has already been declared")',
      `js_parse_error(s, "Label '%s' has already been declared", ${ATOM('label_name')})`,
    ),
    quick(
      'js_parse_error(s, "break/continue label not found")',
      `js_parse_error(s, "Undefined label '%s'", JS_AtomGetStr(s->ctx, (char[ATOM_GET_STR_BUF_SIZE]){ 0 }, ATOM_GET_STR_BUF_SIZE, name))`,
    ),
    quick(
      '                        js_parse_error(s, "invalid switch statement");',
      '                        js_parse_unexpected(s);',
    ),
    quick(`return js_parse_error(s, "'for await' loop should be used with 'of'");`, 'return js_parse_unexpected(s);'),
    quick(
      'js_parse_error(s, "a declaration in the head of a for-%s loop can\'t have an initializer",',
      'js_parse_error(s, "for-%s loop variable declaration may not have an initializer.",',
    ),
    quick(
      `return js_parse_error(s, "expected 'of' or 'in' in for control expression");`,
      `return s->token.val == ',' ? js_parse_error(s, "Invalid left-hand side in for-of loop: Must have a single binding.")
                                   : js_parse_error(s, "Invalid left-hand side in for-loop");`,
    ),
    quick(
      `js_parse_error(s, "function declarations can't appear in single-statement context");`,
      `js_parse_error(s, s->cur_func->is_strict_mode
                    ? "In strict mode code, functions can only be declared at top level or inside a block."
                    : "In non-strict mode code, functions can only be declared at top level, inside a block, or as the body of an if statement.");`,
    ),
    quick(
      `            js_parse_error(s, "class declarations can't appear in single-statement context");`,
      '            js_parse_unexpected(s);',
    ),
    // import
    quick(
      `            if (js_parse_expect(s, '('))
                return -1;
            if (!accept_lparen)`,
      `            if (s->token.val != '(' && !s->is_module)
                return js_parse_error(s, "Cannot use import statement outside a module");
            if (js_parse_expect(s, '('))
                return -1;
            if (!accept_lparen)`,
    ),
  ],
};
