/* Error messages of V8 that quote the program (expressions.c) or a value. No function of this
   file runs code of the program: a value is described from its own data. Next: messages-values.c
   and messages-texts.c. */

static JSValue cf_throw_text(JSContext *ctx, JSErrorEnum type, DynBuf *text)
{
    JSStackFrame *sf = ctx->rt->current_stack_frame;
    bool add_backtrace = !ctx->rt->in_out_of_memory && (!sf || !JS_GetFunctionBytecode(sf->cur_func));
    JSValue error;

    dbuf_putc(text, 0);
    error = dbuf_error(text) ? JS_EXCEPTION : JS_MakeError2(ctx, type, add_backtrace, (char *)text->buf);
    dbuf_free(text);
    return JS_Throw(ctx, JS_IsException(error) ? cf_memory_error() : error);
}

static const char *cf_typeof(JSContext *ctx, JSValueConst value)
{
    if (JS_IsUndefined(value))
        return "undefined";
    if (JS_IsBool(value))
        return "boolean";
    if (JS_IsNumber(value))
        return "number";
    if (JS_IsBigInt(value))
        return "bigint";
    if (JS_IsString(value))
        return "string";
    if (JS_IsSymbol(value))
        return "symbol";
    return JS_IsFunction(ctx, value) ? "function" : "object";
}

#define CF_NO_ITERATOR " is not iterable (cannot read property Symbol(Symbol.iterator))"

static void cf_put_typed(JSContext *ctx, DynBuf *out, JSValueConst value);

/* Throws V8's error for a property of null or undefined. `verb` is "read" or "set". */
static JSValue cf_throw_property_of_nothing(JSContext *ctx, JSValueConst value, JSAtom prop, const char *verb)
{
    JSValue name = JS_AtomToValue(ctx, prop);
    DynBuf out;

    js_dbuf_init(ctx, &out);
    if (prop == JS_ATOM_Symbol_iterator && verb[0] == 'r') {
        cf_put_typed(ctx, &out, value);
        dbuf_putstr(&out, CF_NO_ITERATOR);
    } else {
        const char *nothing = JS_IsNull(value) ? "null" : "undefined";
        dbuf_printf(&out, "Cannot %s properties of %s (%sing '", verb, nothing, verb[0] == 'r' ? "read" : "sett");
        cf_put_plainly(ctx, &out, name);
        dbuf_putstr(&out, "')");
    }
    JS_FreeValue(ctx, name);
    return cf_throw_text(ctx, JS_TYPE_ERROR, &out);
}

/* Appends V8's text for a value without a known expression: `number 5`, `string "a"`, `object
   null`. */
static void cf_put_typed(JSContext *ctx, DynBuf *out, JSValueConst value)
{
    dbuf_putstr(out, cf_typeof(ctx, value));
    if (JS_IsString(value)) {
        dbuf_putstr(out, " \"");
        cf_put_value(ctx, out, value);
        dbuf_putc(out, '"');
    } else if (JS_IsNull(value) || JS_IsBool(value) || JS_IsNumber(value)) {
        dbuf_putc(out, ' ');
        cf_put_value(ctx, out, value);
    }
}

static bool cf_put_path_within(JSContext *ctx, DynBuf *out, JSObject *holder, JSObject *function,
                               const char *prefix, const char *middle)
{
    for (uint32_t i = 0; i < holder->shape->prop_count; i++) {
        JSShapeProperty *prs = &get_shape_prop(holder->shape)[i];
        JSProperty *pr = &holder->prop[i];
        bool getter = (prs->flags & JS_PROP_TMASK) == JS_PROP_GETSET;
        if (prs->atom == JS_ATOM_NULL)
            continue;
        if (getter ? pr->u.getset.getter != function
                   : (prs->flags & JS_PROP_TMASK) != JS_PROP_NORMAL || JS_VALUE_GET_TAG(pr->u.value) != JS_TAG_OBJECT ||
                     JS_VALUE_GET_OBJ(pr->u.value) != function)
            continue;
        const char *name = JS_AtomToCString(ctx, prs->atom);
        dbuf_printf(out, "%s%s%s%s", getter ? "get " : "", prefix, middle, name ? name : "");
        JS_FreeCString(ctx, name);
        return true;
    }
    return false;
}

/* Appends the path of a builtin function from the global object, such as "Map.prototype.get". */
static bool cf_put_path(JSContext *ctx, DynBuf *out, JSValueConst value)
{
    JSObject *global = JS_VALUE_GET_OBJ(ctx->global_obj), *function = JS_VALUE_GET_OBJ(value);
    bool found = false;

    for (uint32_t i = 0; i < global->shape->prop_count && !found; i++) {
        JSShapeProperty *prs = &get_shape_prop(global->shape)[i];
        JSProperty *pr = &global->prop[i];
        if (prs->atom == JS_ATOM_NULL || (prs->flags & JS_PROP_TMASK) != JS_PROP_NORMAL ||
            JS_VALUE_GET_TAG(pr->u.value) != JS_TAG_OBJECT)
            continue;
        JSObject *holder = JS_VALUE_GET_OBJ(pr->u.value);
        const char *name = JS_AtomToCString(ctx, prs->atom);
        if (holder != global && name) {
            JSValueConst prototype = cf_plain_property(holder, JS_ATOM_prototype);
            found = cf_put_path_within(ctx, out, holder, function, name, ".") ||
                (JS_VALUE_GET_TAG(prototype) == JS_TAG_OBJECT &&
                 cf_put_path_within(ctx, out, JS_VALUE_GET_OBJ(prototype), function, name, ".prototype."));
        }
        JS_FreeCString(ctx, name);
    }
    return found;
}

/* Returns the C function that is running, or undefined if the engine runs bytecode. */
static JSValueConst cf_running_builtin(JSContext *ctx)
{
    JSStackFrame *sf = ctx->rt->current_stack_frame;
    if (!sf || JS_VALUE_GET_TAG(sf->cur_func) != JS_TAG_OBJECT || JS_VALUE_GET_OBJ(sf->cur_func)->class_id != JS_CLASS_C_FUNCTION)
        return JS_UNDEFINED;
    return sf->cur_func;
}

/* Throws a message made from a pattern. A property's name replaces %p, and the running builtin %f.
   A value without its type replaces %v, a value with its type %c, and the value's type %t. */
static JSValue cf_throw_about(JSContext *ctx, JSErrorEnum type, const char *pattern, JSAtom prop, JSValueConst value)
{
    DynBuf out;
    JSValueConst function = cf_running_builtin(ctx);

    js_dbuf_init(ctx, &out);
    for (; *pattern; pattern++) {
        if (*pattern != '%') {
            dbuf_putc(&out, *pattern);
            continue;
        }
        switch (*++pattern) {
        case 'p': {
            JSValue name = JS_AtomToValue(ctx, prop);
            cf_put_plainly(ctx, &out, name);
            JS_FreeValue(ctx, name);
            break;
        }
        case 'v': cf_put_plainly(ctx, &out, value); break;
        case 'c': cf_put_typed(ctx, &out, value); break;
        case 't': dbuf_putstr(&out, cf_typeof(ctx, value)); break;
        case 'f':
            if (JS_IsUndefined(function) || JS_VALUE_GET_OBJ(function)->is_constructor || !cf_put_path(ctx, &out, function)) {
                const char *name = get_func_name(ctx, function);
                dbuf_putstr(&out, name ? name : "function");
                JS_FreeCString(ctx, name);
            }
            break;
        }
    }
    return cf_throw_text(ctx, type, &out);
}

/* Throws a message as cf_throw_about() does, but only in strict code; in sloppy code the program
   continues. */
static int cf_refuse(JSContext *ctx, int flags, const char *pattern, JSAtom prop, JSValueConst value)
{
    if ((flags & JS_PROP_THROW) || ((flags & JS_PROP_THROW_STRICT) && is_strict_mode(ctx))) {
        cf_throw_about(ctx, JS_TYPE_ERROR, pattern, prop, value);
        return -1;
    }
    return false;
}

static JSValue cf_throw_not_object(JSContext *ctx)
{
    DynBuf out;
    JSValueConst function = cf_running_builtin(ctx);

    js_dbuf_init(ctx, &out);
    if (!JS_IsUndefined(function) && !JS_VALUE_GET_OBJ(function)->is_constructor && cf_put_path(ctx, &out, function)) {
        dbuf_putstr(&out, " called on non-object");
    } else {
        out.size = 0;
        dbuf_putstr(&out, "not an object");
    }
    return cf_throw_text(ctx, JS_TYPE_ERROR, &out);
}

static JSValue cf_throw_incompatible(JSContext *ctx, int class_id, JSValueConst value)
{
    JSValueConst function = cf_running_builtin(ctx);
    DynBuf out;

    js_dbuf_init(ctx, &out);
    dbuf_putstr(&out, "Method ");
    if (!JS_IsUndefined(function) && !JS_VALUE_GET_OBJ(function)->is_constructor && cf_put_path(ctx, &out, function)) {
        dbuf_putstr(&out, " called on incompatible receiver ");
        cf_put_plainly(ctx, &out, value);
        return cf_throw_text(ctx, JS_TYPE_ERROR, &out);
    }
    dbuf_free(&out);
    return JS_ThrowTypeErrorInvalidClass(ctx, class_id);
}

static JSValue cf_throw_nullish_receiver(JSContext *ctx)
{
    JSValueConst function = cf_running_builtin(ctx);
    DynBuf out;

    js_dbuf_init(ctx, &out);
    if (!JS_IsUndefined(function) && cf_put_path(ctx, &out, function) && memmem(out.buf, out.size, ".prototype.", 11)) {
        dbuf_putstr(&out, " called on null or undefined");
    } else {
        out.size = 0;
        dbuf_putstr(&out, "Cannot convert undefined or null to object");
    }
    return cf_throw_text(ctx, JS_TYPE_ERROR, &out);
}

/* Begins reading the failing instruction. Returns false if no bytecode is running, or if the
   instruction cannot be read. The caller must always call cf_end_reading. */
static bool cf_read_failing(JSContext *ctx, CfReader *r, int *pos)
{
    JSStackFrame *sf = ctx->rt->current_stack_frame;
    JSFunctionBytecode *b = sf ? JS_GetFunctionBytecode(sf->cur_func) : NULL;

    memset(r, 0, sizeof(*r));
    r->ctx = ctx;
    if (!b || !sf->cur_pc)
        return false;
    *pos = cf_read_expressions(r, ctx, b, sf->cur_pc - b->byte_code_buf - 1);
    return *pos >= 0 && !r->failed;
}

/* Returns the depth of an instruction's callee below the top of the stack; negative if the
   instruction calls nothing. */
static int cf_callee_depth(const uint8_t *code)
{
    switch (code[0]) {
    case OP_call0: case OP_call1: case OP_call2: case OP_call3: return code[0] - OP_call0;
    case OP_call: case OP_tail_call: case OP_call_method: case OP_tail_call_method: return get_u16(code + 1);
    case OP_eval: return get_u16(code + 1);
    case OP_call_constructor: return get_u16(code + 1) + 1;
    case OP_apply: return 2;
    case OP_init_ctor: return 0;
    }
    return -1;
}

static JSValue cf_throw_not_callable(JSContext *ctx, JSValueConst value, bool constructor)
{
    JSValueConst function = cf_running_builtin(ctx);
    CfReader r;
    DynBuf out;
    int pos;

    js_dbuf_init(ctx, &out);
    if (cf_read_failing(ctx, &r, &pos) && cf_callee_depth(r.b->byte_code_buf + pos) >= 0) {
        const uint8_t *code = r.b->byte_code_buf + pos;
        int callee = cf_expression_at(&r, cf_callee_depth(code));
        constructor |= code[0] == OP_call_constructor || code[0] == OP_init_ctor;
        if (code[0] == OP_init_ctor || r.expressions[callee].kind == X_SUPER) {
            const char *name = get_func_name(ctx, ctx->rt->current_stack_frame->cur_func);
            dbuf_putstr(&out, "Super constructor ");
            cf_put_plainly(ctx, &out, js_same_value(ctx, value, ctx->function_proto) ? JS_NULL : value);
            dbuf_printf(&out, name && name[0] ? " of %s" : " of anonymous class", name);
            JS_FreeCString(ctx, name);
        } else {
            cf_put_expression(&r, &out, callee, 0);
        }
    } else if (constructor) {
        const char *name = JS_IsFunction(ctx, value) ? get_func_name(ctx, value) : NULL;
        if (name)
            dbuf_putstr(&out, name);
        else
            cf_put_plainly(ctx, &out, value);
        JS_FreeCString(ctx, name);
    } else if (!JS_IsUndefined(function) &&
               JS_VALUE_GET_OBJ(function)->u.cfunc.c_function.constructor_or_func == js_promise_constructor) {
        dbuf_putstr(&out, "Promise resolver ");
        cf_put_plainly(ctx, &out, value);
    } else {
        cf_put_typed(ctx, &out, value);
    }
    cf_end_reading(&r);
    dbuf_printf(&out, " is not a %s", constructor ? "constructor" : "function");
    return cf_throw_text(ctx, JS_TYPE_ERROR, &out);
}

/* Returns whether the appended values become the arguments of a call. */
static bool cf_spreads_arguments(const uint8_t *code)
{
    for (int i = 0; i < 4; i++) {
        code += short_opcode_info(code[0]).size;
        if (code[0] == OP_apply || code[0] == OP_apply_eval)
            return true;
    }
    return false;
}

static JSValue cf_throw_not_iterable(JSContext *ctx, JSValueConst value)
{
    bool nothing = JS_IsNull(value) || JS_IsUndefined(value);
    CfReader r;
    DynBuf out;
    int pos;

    js_dbuf_init(ctx, &out);
    if (cf_read_failing(ctx, &r, &pos)) {
        const uint8_t *code = r.b->byte_code_buf + pos;
        bool is_loop = code[0] == OP_for_of_start && (code[1] == OP_goto || code[1] == OP_goto8 || code[1] == OP_goto16);
        int x = cf_expression_at(&r, 0);
        if (code[0] == OP_append && cf_spreads_arguments(code) && !nothing) {
            dbuf_putstr(&out, "Spread syntax requires ...iterable[Symbol.iterator] to be a function");
        } else if ((code[0] == OP_for_of_start || code[0] == OP_for_await_of_start || code[0] == OP_append) &&
                   cf_has_text(&r, x) &&
                   !(code[0] == OP_for_of_start && code[1] == OP_drop) &&
                   !(nothing && !is_loop && r.expressions[x].kind == X_FIELD)) {
            bool is_call = r.expressions[x].kind == X_CALL;
            cf_put_expression(&r, &out, is_call ? r.expressions[x].left : x, 0);
            if (is_call)
                dbuf_putstr(&out, " is not a function or its return value");
            dbuf_putstr(&out, code[0] == OP_for_await_of_start ? " is not async iterable" : " is not iterable");
        }
    }
    cf_end_reading(&r);
    if (!out.size) {
        cf_put_typed(ctx, &out, value);
        dbuf_putstr(&out, CF_NO_ITERATOR);
    }
    return cf_throw_text(ctx, JS_TYPE_ERROR, &out);
}

/* Returns the first property that a destructuring pattern reads from the result of OP_to_object. */
static JSAtom cf_first_property(JSFunctionBytecode *b, int pos)
{
    const uint8_t *code = b->byte_code_buf + pos, *end = b->byte_code_buf + b->byte_code_len;
    for (int i = 0; i < 10 && code < end; i++, code += short_opcode_info(code[0]).size) {
        switch (code[0]) {
        case OP_get_field: case OP_get_field2: return get_u32(code + 1);
        case OP_get_length: return JS_ATOM_length;
        case OP_to_propkey: case OP_get_array_el: case OP_get_array_el2: case OP_copy_data_properties: case OP_drop: case OP_call:
            return JS_ATOM_NULL;
        }
    }
    return JS_ATOM_NULL;
}

static JSValue cf_throw_not_destructurable(JSContext *ctx, JSValueConst value)
{
    const char *nothing = JS_IsNull(value) ? "null" : "undefined";
    CfReader r;
    DynBuf out;
    int pos;

    js_dbuf_init(ctx, &out);
    if (cf_read_failing(ctx, &r, &pos)) {
        int x = cf_expression_at(&r, 0);
        CfExpression *value_x = &r.expressions[x];
        JSAtom first = cf_first_property(r.b, pos + 1);
        bool is_nested = (value_x->kind == X_FIELD || value_x->kind == X_ELEMENT) &&
                         r.expressions[value_x->left].kind == X_DESTRUCTURED;
        JSValue name = JS_AtomToValue(ctx, first == JS_ATOM_NULL ? JS_ATOM_empty_string : first);
        if (is_nested && first != JS_ATOM_NULL) {
            dbuf_printf(&out, "Cannot read properties of %s (reading '", nothing);
            cf_put_plainly(ctx, &out, name);
            dbuf_putstr(&out, "')");
        } else {
            dbuf_putstr(&out, "Cannot destructure ");
            if (first != JS_ATOM_NULL) {
                dbuf_putstr(&out, "property '");
                cf_put_plainly(ctx, &out, name);
                dbuf_putstr(&out, "' of ");
            }
            dbuf_putc(&out, '\'');
            if (cf_has_text(&r, x))
                cf_put_expression(&r, &out, x, 0);
            else
                cf_put_typed(ctx, &out, value);
            dbuf_printf(&out, "' as it is %s.", nothing);
        }
        JS_FreeValue(ctx, name);
    }
    cf_end_reading(&r);
    if (!out.size)
        dbuf_printf(&out, "Cannot destructure '%s' as it is %s.", nothing, nothing);
    return cf_throw_text(ctx, JS_TYPE_ERROR, &out);
}

/* Throws V8's error for an invalid length or index, which depends on the builtin. */
static JSValue cf_throw_bad_index(JSContext *ctx, JSValueConst value)
{
    JSValueConst function = cf_running_builtin(ctx);
    const char *name = get_func_name(ctx, function), *pattern = "Invalid value: not (convertible to) a safe integer";
    size_t len = name ? strlen(name) : 0;

    if (len && JS_VALUE_GET_OBJ(function)->is_constructor) {
        if (!strcmp(name, "ArrayBuffer") || !strcmp(name, "SharedArrayBuffer"))
            pattern = "Invalid array buffer length";
        else if (!strcmp(name, "DataView"))
            pattern = "Start offset %v is outside the bounds of the buffer";
        else if (len > 5 && !strcmp(name + len - 5, "Array"))
            pattern = "Invalid typed array length: %v";
    } else if (len && (!strncmp(name, "getInt", 6) || !strncmp(name, "setInt", 6) ||
                       !strncmp(name, "getUint", 7) || !strncmp(name, "setUint", 7) ||
                       !strncmp(name, "getFloat", 8) || !strncmp(name, "setFloat", 8) ||
                       !strncmp(name, "getBig", 6) || !strncmp(name, "setBig", 6))) {
        pattern = "Offset is outside the bounds of the DataView";
    }
    JS_FreeCString(ctx, name);
    return cf_throw_about(ctx, JS_RANGE_ERROR, pattern, JS_ATOM_NULL, value);
}

/* Throws V8's error for a wrong receiver of the private method `method`. The method's home
   object is a class or a prototype. */
static JSValue cf_throw_wrong_brand(JSContext *ctx, JSValueConst method)
{
    JSObject *home = JS_VALUE_GET_OBJ(method)->u.func.home_object;
    JSValueConst object = JS_MKPTR(JS_TAG_OBJECT, home);
    JSValue name = cf_constructor_name(ctx, JS_UNDEFINED, 1, &object);
    bool is_static = JS_IsFunction(ctx, object);
    JSValue result = cf_throw_about(ctx, JS_TYPE_ERROR,
                                    is_static ? "Receiver must be class %v" : "Receiver must be an instance of class %v",
                                    JS_ATOM_NULL, is_static ? cf_plain_property(home, JS_ATOM_name) : name);
    JS_FreeValue(ctx, name);
    return result;
}

static JSValue cf_throw_not_integer(JSContext *ctx, double value)
{
    return cf_throw_about(ctx, JS_RANGE_ERROR, "The number %v cannot be converted to a BigInt because it is not an integer",
                          JS_ATOM_NULL, js_number(value));
}
