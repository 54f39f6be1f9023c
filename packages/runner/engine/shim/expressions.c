/* Reads the text of an expression out of the bytecode that computes the expression. The message
   "object.method is not a function" needs `object.method`, but the engine has only a value. V8
   prints a part of its syntax tree. The shim interprets the function's bytecode once, with
   expressions in place of values, up to the failed instruction. This method also works for
   functions without source text, and runs only after an operation has failed. Next: messages.c,
   which makes messages of these texts. */

typedef enum CfKind {
    X_OTHER, X_NAME, X_INT, X_STRING, X_CONST, X_WORD, X_FIELD, X_ELEMENT, X_CALL, X_LIST, X_BINARY, X_UNARY,
    X_NULLISH, X_UNDEFINED_TEST, X_SUPER, X_DESTRUCTURED
} CfKind;

/* The meaning of `left` and `right` depends on the kind: an expression, an atom, a number, an index
   of a constant, or a count. */
typedef struct CfExpression {
    uint8_t kind;
    bool optional; /* a read from this expression is written with ?. */
    int left, right;
    const char *word;
} CfExpression;

typedef struct CfJump {
    int target, depth;
    int stack[16]; /* the entries at the top of the stack */
} CfJump;

#define CF_EXPRESSIONS_MAX 50000
#define CF_JUMPS_MAX 64
#define CF_BYTECODE_MAX (512 << 10)
#define CF_NESTING_MAX 16
#define CF_STEPS_MAX 300000

typedef struct CfReader {
    JSContext *ctx;
    JSFunctionBytecode *b;
    CfExpression *expressions;
    int count, size;
    int *stack;
    int depth, stack_size;
    CfJump jumps[CF_JUMPS_MAX];
    int jump_count;
    int steps, nesting; /* for cf_run_to, the only loop that may run over a part more than once */
    bool dead, failed;
} CfReader;

static int cf_expression(CfReader *r, CfKind kind, int left, int right, const char *word)
{
    if (r->count == r->size) {
        int size = r->size ? r->size * 2 : 64;
        CfExpression *grown = size > CF_EXPRESSIONS_MAX ? NULL : js_realloc_rt(r->ctx->rt, r->expressions, size * sizeof(*grown));
        if (!grown) {
            r->failed = true;
            return 0;
        }
        r->expressions = grown;
        r->size = size;
    }
    r->expressions[r->count] = (CfExpression){ .kind = kind, .left = left, .right = right, .word = word };
    return r->count++;
}

static void cf_push_expression(CfReader *r, int expression)
{
    if (r->depth == r->stack_size)
        r->failed = true;
    else
        r->stack[r->depth++] = expression;
}

static int cf_pop_expression(CfReader *r)
{
    if (r->depth == 0) {
        r->failed = true;
        return 0;
    }
    return r->stack[--r->depth];
}

/* Reorders the upper `taken` entries. Each letter of `order` names an entry; the lowest is 'a'. */
static void cf_shuffle(CfReader *r, int taken, const char *order)
{
    int held[5];
    if (r->depth < taken) {
        r->failed = true;
        return;
    }
    r->depth -= taken;
    memcpy(held, r->stack + r->depth, taken * sizeof(held[0]));
    for (; *order; order++)
        cf_push_expression(r, held[*order - 'a']);
}

static void cf_note_jump(CfReader *r, int target)
{
    if (r->jump_count == CF_JUMPS_MAX || target < 0)
        return;
    CfJump *jump = &r->jumps[r->jump_count++];
    jump->target = target;
    jump->depth = r->depth;
    for (int i = 0; i < (int)countof(jump->stack) && i < r->depth; i++)
        jump->stack[i] = r->stack[r->depth - 1 - i];
}

/* Merges the stacks of all jumps to `pos` into the present stack. Entries that differ become
   entries without a name. */
static void cf_meet(CfReader *r, int pos)
{
    int kept = 0;
    for (int i = 0; i < r->jump_count; i++) {
        CfJump *jump = &r->jumps[i];
        if (jump->target != pos) {
            if (jump->target > pos)
                r->jumps[kept++] = *jump;
            continue;
        }
        if (r->dead && jump->depth <= r->stack_size) {
            r->depth = jump->depth;
            for (int j = 0; j < (int)countof(jump->stack) && j < jump->depth; j++)
                r->stack[r->depth - 1 - j] = jump->stack[j];
            r->dead = false;
        } else if (jump->depth == r->depth) {
            for (int j = 0; j < (int)countof(jump->stack) && j < jump->depth; j++)
                if (r->stack[r->depth - 1 - j] != jump->stack[j])
                    r->stack[r->depth - 1 - j] = 0;
        }
    }
    r->jump_count = kept;
    r->dead = false;
}

static JSAtom cf_variable_name(CfReader *r, const JSOpCode *info, int op, const uint8_t *operand, int second)
{
    JSFunctionBytecode *b = r->b;
    int index;
    switch (info->fmt) {
    case OP_FMT_none_loc: index = op == OP_get_loc0_loc1 ? second : (op - OP_get_loc0) % 4; goto local;
    case OP_FMT_loc8: index = operand[0]; goto local;
    case OP_FMT_loc: index = get_u16(operand); goto local;
    case OP_FMT_none_arg: index = (op - OP_get_arg0) % 4; goto argument;
    case OP_FMT_arg: index = get_u16(operand); goto argument;
    case OP_FMT_none_var_ref: index = (op - OP_get_var_ref0) % 4; goto outer;
    case OP_FMT_var_ref: index = get_u16(operand); goto outer;
    default: return JS_ATOM_NULL;
    }
local:
    return b->vardefs && index < b->var_count ? b->vardefs[b->arg_count + index].var_name : JS_ATOM_NULL;
argument:
    return b->vardefs && index < b->arg_count ? b->vardefs[index].var_name : JS_ATOM_NULL;
outer:
    return b->closure_var && index < b->closure_var_count ? b->closure_var[index].var_name : JS_ATOM_NULL;
}

static void cf_push_variable(CfReader *r, JSAtom name)
{
    cf_push_expression(r, name == JS_ATOM_NULL ? 0 : cf_expression(r, X_NAME, 0, name, NULL));
}

static const char *cf_operator(int op)
{
    switch (op) {
    case OP_mul: return "*";
    case OP_div: return "/";
    case OP_mod: return "%";
    case OP_add: return "+";
    case OP_sub: return "-";
    case OP_shl: return "<<";
    case OP_sar: return ">>";
    case OP_shr: return ">>>";
    case OP_and: return "&";
    case OP_xor: return "^";
    case OP_or: return "|";
    case OP_pow: return "**";
    case OP_lt: return "<";
    case OP_lte: return "<=";
    case OP_gt: return ">";
    case OP_gte: return ">=";
    case OP_instanceof: return "instanceof";
    case OP_in: return "in";
    case OP_eq: return "==";
    case OP_neq: return "!=";
    case OP_strict_eq: return "===";
    case OP_strict_neq: return "!==";
    case OP_neg: return "-";
    case OP_plus: return "+";
    case OP_not: return "~";
    case OP_lnot: return "!";
    case OP_typeof: return "typeof";
    }
    return NULL;
}

static const struct { uint8_t op, taken; const char *order; } cf_shuffles[] = {
    { OP_nip, 2, "b" }, { OP_nip1, 3, "bc" }, { OP_dup, 1, "aa" }, { OP_dup1, 2, "aab" }, { OP_dup2, 2, "abab" },
    { OP_dup3, 3, "abcabc" }, { OP_insert2, 2, "bab" }, { OP_insert3, 3, "cabc" }, { OP_insert4, 4, "dabcd" },
    { OP_perm3, 3, "bac" }, { OP_perm4, 4, "cabd" }, { OP_perm5, 5, "dabce" }, { OP_swap, 2, "ba" }, { OP_swap2, 4, "cdab" },
    { OP_rot3l, 3, "bca" }, { OP_rot3r, 3, "cab" }, { OP_rot4l, 4, "bcda" }, { OP_rot5l, 5, "bcdea" },
    { OP_to_propkey, 1, "a" }, { OP_to_propkey2, 2, "ab" }, { OP_check_brand, 2, "ab" }, { OP_set_name, 1, "a" },
    { OP_set_home_object, 2, "ab" }, { OP_set_name_computed, 2, "ab" }, { OP_check_object, 1, "a" },
};

static void cf_step_call(CfReader *r, int arguments, bool method, bool has_result)
{
    int callee;
    for (int i = 0; i < arguments; i++)
        cf_pop_expression(r);
    callee = cf_pop_expression(r);
    if (method)
        cf_pop_expression(r);
    if (has_result)
        cf_push_expression(r, cf_expression(r, X_CALL, callee, 0, NULL));
    else
        r->dead = true;
}

static void cf_step_list(CfReader *r, int count)
{
    int first = r->count;
    if (count > r->depth) {
        r->failed = true;
        return;
    }
    r->depth -= count;
    for (int i = 0; i < count; i++)
        cf_expression(r, X_UNARY, r->stack[r->depth + i], 0, NULL);
    cf_push_expression(r, cf_expression(r, X_LIST, first, count, NULL));
}

static bool cf_is_undefined(CfReader *r, int expression)
{
    CfExpression *x = &r->expressions[expression];
    return x->kind == X_WORD && !strcmp(x->word, "undefined");
}

static void cf_step(CfReader *r, int pos)
{
    const uint8_t *code = r->b->byte_code_buf + pos, *operand = code + 1;
    int op = code[0], left, right;
    const JSOpCode *info = &short_opcode_info(op);

    for (size_t i = 0; i < countof(cf_shuffles); i++) {
        if (cf_shuffles[i].op == op) {
            cf_shuffle(r, cf_shuffles[i].taken, cf_shuffles[i].order);
            return;
        }
    }
    switch (op) {
    case OP_push_i32: cf_push_expression(r, cf_expression(r, X_INT, 0, get_i32(operand), NULL)); return;
    case OP_push_i16: cf_push_expression(r, cf_expression(r, X_INT, 0, get_i16(operand), NULL)); return;
    case OP_push_i8: cf_push_expression(r, cf_expression(r, X_INT, 0, get_i8(operand), NULL)); return;
    case OP_push_const: cf_push_expression(r, cf_expression(r, X_CONST, 0, get_u32(operand), NULL)); return;
    case OP_push_const8: cf_push_expression(r, cf_expression(r, X_CONST, 0, operand[0], NULL)); return;
    case OP_push_atom_value: cf_push_expression(r, cf_expression(r, X_STRING, 0, get_u32(operand), NULL)); return;
    case OP_push_empty_string: cf_push_expression(r, cf_expression(r, X_STRING, 0, JS_ATOM_empty_string, NULL)); return;
    case OP_undefined: cf_push_expression(r, cf_expression(r, X_WORD, 0, 0, "undefined")); return;
    case OP_null: cf_push_expression(r, cf_expression(r, X_WORD, 0, 0, "null")); return;
    case OP_push_true: cf_push_expression(r, cf_expression(r, X_WORD, 0, 0, "true")); return;
    case OP_push_false: cf_push_expression(r, cf_expression(r, X_WORD, 0, 0, "false")); return;
    case OP_push_this: cf_push_expression(r, cf_expression(r, X_WORD, 0, 0, "this")); return;
    case OP_object: cf_push_expression(r, cf_expression(r, X_WORD, 0, 0, "{}")); return;
    case OP_define_field:
        cf_pop_expression(r);
        cf_pop_expression(r);
        cf_push_expression(r, cf_expression(r, X_WORD, 0, 0, "{(intermediate value)}"));
        return;
    case OP_get_var:
    case OP_get_var_undef:
        cf_push_variable(r, get_u32(operand));
        return;
    case OP_get_loc0_loc1:
        cf_push_variable(r, cf_variable_name(r, info, op, operand, 0));
        cf_push_variable(r, cf_variable_name(r, info, op, operand, 1));
        return;
    case OP_get_loc: case OP_get_loc_check: case OP_get_loc8:
    case OP_get_loc0: case OP_get_loc1: case OP_get_loc2: case OP_get_loc3:
    case OP_get_arg: case OP_get_arg0: case OP_get_arg1: case OP_get_arg2: case OP_get_arg3:
    case OP_get_var_ref: case OP_get_var_ref_check:
    case OP_get_var_ref0: case OP_get_var_ref1: case OP_get_var_ref2: case OP_get_var_ref3:
        cf_push_variable(r, cf_variable_name(r, info, op, operand, 0));
        return;
    case OP_set_loc: case OP_set_loc8: case OP_set_loc0: case OP_set_loc1: case OP_set_loc2: case OP_set_loc3:
    case OP_set_arg: case OP_set_arg0: case OP_set_arg1: case OP_set_arg2: case OP_set_arg3:
    case OP_set_var_ref: case OP_set_var_ref0: case OP_set_var_ref1: case OP_set_var_ref2: case OP_set_var_ref3:
        return;
    case OP_get_field:
        left = cf_pop_expression(r);
        cf_push_expression(r, cf_expression(r, X_FIELD, left, get_u32(operand), NULL));
        return;
    case OP_get_field2:
        left = cf_pop_expression(r);
        cf_push_expression(r, left);
        cf_push_expression(r, cf_expression(r, X_FIELD, left, get_u32(operand), NULL));
        return;
    case OP_get_length:
        left = cf_pop_expression(r);
        cf_push_expression(r, cf_expression(r, X_FIELD, left, JS_ATOM_length, NULL));
        return;
    case OP_get_array_el:
    case OP_get_private_field:
        right = cf_pop_expression(r);
        left = cf_pop_expression(r);
        cf_push_expression(r, cf_expression(r, X_ELEMENT, left, right, NULL));
        return;
    case OP_get_array_el2:
        right = cf_pop_expression(r);
        left = cf_pop_expression(r);
        cf_push_expression(r, left);
        cf_push_expression(r, cf_expression(r, X_ELEMENT, left, right, NULL));
        return;
    case OP_get_super_value:
        right = cf_pop_expression(r);
        cf_pop_expression(r);
        cf_pop_expression(r);
        if (right && r->expressions[right].kind == X_STRING)
            cf_push_expression(r, cf_expression(r, X_FIELD, 0, r->expressions[right].right, NULL));
        else
            cf_push_expression(r, cf_expression(r, X_ELEMENT, 0, right, NULL));
        return;
    case OP_get_super:
        cf_pop_expression(r);
        cf_push_expression(r, cf_expression(r, X_SUPER, 0, 0, NULL));
        return;
    case OP_to_object:
        left = cf_pop_expression(r);
        cf_push_expression(r, cf_expression(r, X_DESTRUCTURED, left, 0, NULL));
        return;
    case OP_is_undefined_or_null:
        left = cf_pop_expression(r);
        cf_push_expression(r, cf_expression(r, X_NULLISH, left, 0, NULL));
        return;
    case OP_is_undefined:
        left = cf_pop_expression(r);
        cf_push_expression(r, cf_expression(r, X_UNDEFINED_TEST, left, 0, NULL));
        return;
    case OP_call: case OP_tail_call: cf_step_call(r, get_u16(operand), false, op == OP_call); return;
    case OP_call0: case OP_call1: case OP_call2: case OP_call3: cf_step_call(r, op - OP_call0, false, true); return;
    case OP_call_method: case OP_tail_call_method: cf_step_call(r, get_u16(operand), true, op == OP_call_method); return;
    case OP_apply:
        cf_pop_expression(r);
        cf_pop_expression(r);
        left = cf_pop_expression(r);
        cf_push_expression(r, cf_expression(r, X_CALL, left, 0, NULL));
        return;
    case OP_array_from: cf_step_list(r, get_u16(operand)); return;
    case OP_if_true: case OP_if_false: case OP_if_true8: case OP_if_false8:
        left = cf_pop_expression(r);
        if (!r->failed && left && r->expressions[left].kind == X_NULLISH && r->depth && r->stack[r->depth - 1]) {
            CfExpression base = r->expressions[r->stack[r->depth - 1]];
            int copy = cf_expression(r, base.kind, base.left, base.right, base.word);
            if (copy)
                r->expressions[copy].optional = true;
            r->stack[r->depth - 1] = copy;
        }
        cf_note_jump(r, pos + 1 + (info->fmt == OP_FMT_label8 ? get_i8(operand) : get_i32(operand)));
        /* A destructuring declaration begins with a test of the constant `undefined`. The branch is
           always taken, so the code up to the target of the jump is dead. */
        if (!r->failed && r->expressions[left].kind == X_UNDEFINED_TEST && cf_is_undefined(r, r->expressions[left].left))
            r->dead = op == OP_if_true || op == OP_if_true8;
        return;
    case OP_goto: case OP_goto8: case OP_goto16:
        cf_note_jump(r, pos + 1 + (op == OP_goto8 ? get_i8(operand) : op == OP_goto16 ? get_i16(operand) : get_i32(operand)));
        r->dead = true;
        return;
    case OP_catch:
    case OP_gosub:
        cf_push_expression(r, 0);
        cf_note_jump(r, pos + 1 + get_i32(operand));
        if (op == OP_gosub)
            cf_pop_expression(r);
        return;
    case OP_return: case OP_return_undef: case OP_return_async: case OP_throw: case OP_throw_error: case OP_ret:
        r->depth -= min_int(r->depth, info->n_pop);
        r->dead = true;
        return;
    case OP_with_get_var: case OP_with_put_var: case OP_with_delete_var: case OP_with_make_ref: case OP_with_get_ref:
    case OP_with_get_ref_undef:
        r->failed = true;
        return;
    }
    if (cf_operator(op)) {
        right = cf_pop_expression(r);
        if (info->n_pop == 1) {
            cf_push_expression(r, cf_expression(r, X_UNARY, right, 0, cf_operator(op)));
        } else {
            left = cf_pop_expression(r);
            if (op == OP_strict_eq && cf_is_undefined(r, right))
                cf_push_expression(r, cf_expression(r, X_UNDEFINED_TEST, left, 0, NULL));
            else
                cf_push_expression(r, cf_expression(r, X_BINARY, left, right, cf_operator(op)));
        }
        return;
    }
    int pops = info->n_pop, pushes = info->n_push;
    if (info->fmt == OP_FMT_npop || info->fmt == OP_FMT_npop_u16)
        pops += get_u16(operand);
    if (op >= OP_push_minus1 && op <= OP_push_7) {
        cf_push_expression(r, cf_expression(r, X_INT, 0, op - OP_push_0, NULL));
        return;
    }
    while (pops-- > 0)
        cf_pop_expression(r);
    while (pushes-- > 0)
        cf_push_expression(r, 0);
}
