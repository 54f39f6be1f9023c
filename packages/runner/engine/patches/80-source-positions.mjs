export default {
  title: 'positions of calls, property reads and throws, as V8 has them',
  why: `People and models read the line and the caret below it. The engine notes a position before the arguments of a call are compiled, so a call's
frame points at its last argument. Here a call has the position of the name that is called (of the parenthesis when there is none), \`new\` that of
the keyword, a property read that of the property's name, \`throw\` that of the keyword. The position is noted right before the instruction.`,
  edits: [
    {
      // the engine's own column is that of the last white space or name before the token
      file: 'quickjs.c',
      find: `    s->token.col_num = max_int(1, s->mark - s->eol);
    s->buf_ptr = p;`,
      replace: `    s->token.col_num = (int)(s->token.ptr - s->token.line_start) + 1;
    s->buf_ptr = p;`,
    },
    {
      file: 'quickjs.c',
      find: `    FuncCallType call_type;
    int optional_chaining_label;
    bool accept_lparen = (parse_flags & PF_POSTFIX_CALL) != 0;
`,
      replace: `    FuncCallType call_type;
    int optional_chaining_label;
    bool accept_lparen = (parse_flags & PF_POSTFIX_CALL) != 0;
    /* the last token that could name what is called; call_named: nothing came after it */
    int call_line_num = s->token.line_num, call_col_num = s->token.col_num;
    bool call_named = s->token.val == TOK_IDENT || s->token.val == TOK_NEW || s->token.val == TOK_SUPER;
`,
    },
    {
      file: 'quickjs.c',
      find: `                /* new operator on an object */
                emit_op(s, OP_dup);
                emit_op(s, OP_call_constructor);`,
      replace: `                /* new operator on an object */
                emit_op(s, OP_dup);
                emit_source_loc_at(s, call_line_num, call_col_num);
                emit_op(s, OP_call_constructor);`,
    },
    {
      file: 'quickjs.c',
      find: `            /* function call */
        parse_func_call:
            if (next_token(s))
                return -1;
`,
      replace: `            /* function call */
        parse_func_call:
            if (!call_named) {
                call_line_num = s->token.line_num;
                call_col_num = s->token.col_num;
            }
            if (next_token(s))
                return -1;
`,
    },
    {
      file: 'quickjs.c',
      find: `                /* apply function call */
                switch(opcode) {`,
      replace: `                /* apply function call */
                emit_source_loc_at(s, call_line_num, call_col_num);
                switch(opcode) {`,
    },
    {
      file: 'quickjs.c',
      find: `            emit_func_call:
                switch(opcode) {`,
      replace: `            emit_func_call:
                emit_source_loc_at(s, call_line_num, call_col_num);
                switch(opcode) {`,
    },
    {
      file: 'quickjs.c',
      find: `            call_type = FUNC_CALL_NORMAL;
        } else if (s->token.val == '.') {
            if (next_token(s))
                return -1;
        parse_property:
`,
      replace: `            call_type = FUNC_CALL_NORMAL;
            call_named = false;
        } else if (s->token.val == '.') {
            if (next_token(s))
                return -1;
        parse_property:
            if (call_type != FUNC_CALL_NEW) {
                call_line_num = s->token.line_num;
                call_col_num = s->token.col_num;
                call_named = true;
            }
`,
    },
    {
      file: 'quickjs.c',
      find: `                    emit_op(s, OP_get_field);
                    emit_atom(s, s->token.u.ident.atom);
                }
            }
            if (next_token(s))`,
      replace: `                    emit_source_loc(s);
                    emit_op(s, OP_get_field);
                    emit_atom(s, s->token.u.ident.atom);
                }
            }
            if (next_token(s))`,
    },
    {
      file: 'quickjs.c',
      find: `        parse_array_access:
            prev_op = get_prev_opcode(fd);
`,
      replace: `        parse_array_access:
            if (call_type != FUNC_CALL_NEW)
                call_named = false;
            prev_op = get_prev_opcode(fd);
`,
    },
    {
      file: 'quickjs.c',
      find: `    case TOK_THROW:
        if (next_token(s))
            goto fail;
        if (s->got_lf) {
            js_parse_error(s, "line terminator not allowed after throw");
            goto fail;
        }
        emit_source_loc(s);
        if (js_parse_expr(s))
            goto fail;
        emit_op(s, OP_throw);`,
      replace: `    case TOK_THROW:
        {
            int throw_line_num = s->token.line_num, throw_col_num = s->token.col_num;
            if (next_token(s))
                goto fail;
            if (s->got_lf) {
                js_parse_error(s, "line terminator not allowed after throw");
                goto fail;
            }
            emit_source_loc(s);
            if (js_parse_expr(s))
                goto fail;
            emit_source_loc_at(s, throw_line_num, throw_col_num);
        }
        emit_op(s, OP_throw);`,
    },
    {
      file: 'quickjs.c',
      find: `        if (next_token(s))
            return -1;
        if (js_parse_unary(s, PF_POW_FORBIDDEN))
            return -1;
        emit_op(s, OP_await);
        s->cur_func->has_await = true;`,
      replace: `        {
            int await_line_num = s->token.line_num, await_col_num = s->token.col_num;
            if (next_token(s))
                return -1;
            if (js_parse_unary(s, PF_POW_FORBIDDEN))
                return -1;
            emit_source_loc_at(s, await_line_num, await_col_num);
        }
        emit_op(s, OP_await);
        s->cur_func->has_await = true;`,
    },
  ],
};
