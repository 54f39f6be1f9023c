/* Runs through a function's bytecode up to an instruction, with the steps of expressions.c, and
   records the expressions of the instruction's operands. Next: messages.c. */

/* Returns the offset of the first goto after `pos` that leads back to `pos`, or -1. Such a goto
   means that the operands of `pos` are computed later in the bytecode. */
static int cf_goto_back_to(CfReader *r, int pos)
{
    const uint8_t *code = r->b->byte_code_buf;
    for (int at = pos; at < r->b->byte_code_len; at += short_opcode_info(code[at]).size) {
        int distance = code[at] == OP_goto ? get_i32(code + at + 1) : code[at] == OP_goto8 ? get_i8(code + at + 1)
            : code[at] == OP_goto16 ? get_i16(code + at + 1) : 0;
        if (distance < 0 && at + 1 + distance == pos)
            return at;
        if (++r->steps > CF_STEPS_MAX)
            break;
    }
    return -1;
}

static bool cf_is_noted(CfReader *r, int pos)
{
    for (int i = 0; i < r->jump_count; i++)
        if (r->jumps[i].target == pos)
            return true;
    return false;
}

static int cf_run_to(CfReader *r, int pos, int at);

/* Follows the jump over a destructuring pattern to the pattern's value and back, because the
   pattern precedes the value in the bytecode. */
static void cf_fill_gap(CfReader *r, int pos)
{
    int source = r->jump_count ? cf_goto_back_to(r, pos) : -1;
    if (source < 0)
        return;
    CfJump over = r->jumps[r->jump_count - 1];
    if (over.target <= pos || over.target > source || over.depth > r->stack_size || ++r->nesting > CF_NESTING_MAX)
        return;
    cf_meet(r, over.target);
    cf_run_to(r, over.target, source);
    cf_note_jump(r, over.target); /* adds an entry, which `over` then replaces */
    if (r->jump_count && r->jumps[r->jump_count - 1].target == over.target)
        r->jumps[r->jump_count - 1] = over;
    r->dead = false;
    r->nesting--;
}

/* Runs from `pos` up to the instruction that contains `at`. Returns the instruction's offset, or
   -1. */
static int cf_run_to(CfReader *r, int pos, int at)
{
    while (pos < r->b->byte_code_len && !r->failed) {
        int size = short_opcode_info(r->b->byte_code_buf[pos]).size;
        if (r->dead && !cf_is_noted(r, pos))
            cf_fill_gap(r, pos);
        cf_meet(r, pos);
        if (r->depth == 0 && r->jump_count == 0)
            r->count = 0;
        if (r->count == 0)
            cf_expression(r, X_OTHER, 0, 0, NULL);
        if (at < pos + size)
            return pos;
        if (++r->steps > CF_STEPS_MAX)
            break;
        cf_step(r, pos);
        pos += size;
    }
    return -1;
}

/* Reads up to the instruction that contains `at`. Returns the instruction's offset, or -1. The
   stack then has the instruction's operands. */
static int cf_read_expressions(CfReader *r, JSContext *ctx, JSFunctionBytecode *b, int at)
{
    memset(r, 0, sizeof(*r));
    r->ctx = ctx;
    r->b = b;
    r->stack_size = b->stack_size + 8;
    if (b->byte_code_len > CF_BYTECODE_MAX || at < 0 || at >= b->byte_code_len)
        return -1;
    r->stack = js_malloc_rt(ctx->rt, r->stack_size * sizeof(r->stack[0]));
    return r->stack ? cf_run_to(r, 0, at) : -1;
}

static void cf_end_reading(CfReader *r)
{
    js_free_rt(r->ctx->rt, r->expressions);
    js_free_rt(r->ctx->rt, r->stack);
}

/* Returns the expression of the entry `below` places under the top of the stack; 0 means "no
   name". */
static int cf_expression_at(CfReader *r, int below)
{
    return r->depth > below ? r->stack[r->depth - 1 - below] : 0;
}

static void cf_put_atom(CfReader *r, DynBuf *out, JSAtom atom)
{
    const char *text = JS_AtomToCString(r->ctx, atom);
    if (text)
        dbuf_putstr(out, text);
    else
        JS_FreeValue(r->ctx, JS_GetException(r->ctx));
    JS_FreeCString(r->ctx, text);
}

static bool cf_has_text(CfReader *r, int expression)
{
    CfExpression *x = &r->expressions[expression];
    if (x->kind == X_DESTRUCTURED)
        return cf_has_text(r, x->left);
    if (x->kind == X_NAME) {
        char buf[ATOM_GET_STR_BUF_SIZE];
        const char *name = JS_AtomGetStr(r->ctx, buf, sizeof(buf), x->right);
        return name[0] && name[0] != '<';
    }
    return expression != 0 && x->kind != X_NULLISH && x->kind != X_UNDEFINED_TEST && x->kind != X_SUPER;
}

static void cf_put_expression(CfReader *r, DynBuf *out, int expression, int nesting)
{
    CfExpression *x = &r->expressions[expression];

    if (nesting > CF_NESTING_MAX || !cf_has_text(r, expression)) {
        dbuf_putstr(out, "(intermediate value)");
        return;
    }
    nesting++;
    switch (x->kind) {
    case X_NAME:
        cf_put_atom(r, out, x->right);
        break;
    case X_INT:
        dbuf_printf(out, "%d", x->right);
        break;
    case X_STRING:
        dbuf_putc(out, '"');
        cf_put_atom(r, out, x->right);
        dbuf_putc(out, '"');
        break;
    case X_CONST: {
        JSValueConst value = x->right < r->b->cpool_count ? r->b->cpool[x->right] : JS_UNDEFINED;
        bool is_string = JS_IsString(value);
        const char *text = is_string || JS_IsNumber(value) || JS_IsBigInt(value) ? JS_ToCString(r->ctx, value) : NULL;
        dbuf_printf(out, is_string ? "\"%.100s\"" : "%.100s", text ? text : "(intermediate value)");
        JS_FreeCString(r->ctx, text);
        break;
    }
    case X_WORD:
        dbuf_putstr(out, x->word);
        break;
    case X_FIELD:
        cf_put_expression(r, out, x->left, nesting);
        dbuf_putstr(out, r->expressions[x->left].optional ? "?." : ".");
        cf_put_atom(r, out, x->right);
        break;
    case X_ELEMENT:
        cf_put_expression(r, out, x->left, nesting);
        if (r->expressions[x->right].kind == X_STRING) {
            dbuf_putstr(out, r->expressions[x->left].optional ? "?." : ".");
            cf_put_atom(r, out, r->expressions[x->right].right);
            break;
        }
        dbuf_putstr(out, r->expressions[x->left].optional ? "?.[" : "[");
        cf_put_expression(r, out, x->right, nesting);
        dbuf_putc(out, ']');
        break;
    case X_CALL:
        cf_put_expression(r, out, x->left, nesting);
        dbuf_putstr(out, "(...)");
        break;
    case X_LIST:
        dbuf_putc(out, '[');
        for (int i = 0; i < x->right && i < CF_NESTING_MAX; i++) {
            if (i)
                dbuf_putc(out, ',');
            cf_put_expression(r, out, r->expressions[x->left + i].left, nesting);
        }
        dbuf_putc(out, ']');
        break;
    case X_BINARY:
        dbuf_putc(out, '(');
        cf_put_expression(r, out, x->left, nesting);
        dbuf_printf(out, " %s ", x->word);
        cf_put_expression(r, out, x->right, nesting);
        dbuf_putc(out, ')');
        break;
    case X_UNARY:
        dbuf_printf(out, "(%s%s", x->word, x->word[1] ? " " : "");
        cf_put_expression(r, out, x->left, nesting);
        dbuf_putc(out, ')');
        break;
    case X_DESTRUCTURED:
        cf_put_expression(r, out, x->left, nesting);
        break;
    }
}
