/* Makes the text of err.stack at the first read. The patch `error-stack` captures the frames.
   The text is made in one of three ways, in Node's order. The first way is the program's own
   Error.prepareStackTrace. The second way is the bootstrap's callback, for errors that the
   bootstrap's header function selects. The third way is header and frames in V8's format,
   without call site objects. */

static const char *cf_frame_name(JSContext *ctx, JSValueConst func)
{
    const char *name = get_func_name(ctx, func);
    if (name && (!name[0] || !strcmp(name, "<eval>"))) {
        JS_FreeCString(ctx, name);
        return NULL;
    }
    return name;
}

/* Sets file, line and column of a frame. Returns false for native code. */
static bool cf_frame_position(JSContext *ctx, const JSStackTraceFrame *f, JSAtom *file, int *line, int *col)
{
    JSFunctionBytecode *b;

    if (f->combinator)
        return false;
    if (JS_IsUndefined(f->func)) {
        *file = f->filename;
        *line = f->line_num;
        *col = f->col_num;
        return true;
    }
    b = JS_GetFunctionBytecode(f->func);
    if (!b)
        return false;
    *file = b->filename;
    *line = b->line_num;
    *col = b->col_num;
    if (f->pc != UINT32_MAX)
        *line = find_line_num(ctx, b, f->pc, col);
    return true;
}

/* Appends the result of V8's GetTypeName: the name of a function, else the constructor's name,
   else the tag. Runs no code of the program. Returns false if no name is found. */
static bool cf_put_type(JSContext *ctx, DynBuf *out, JSValueConst receiver)
{
    const char *text = NULL;
    JSValue name;

    if (!JS_IsObject(receiver)) {
        dbuf_putstr(out, JS_IsString(receiver) ? "String" : JS_IsNumber(receiver) ? "Number" : JS_IsBool(receiver) ? "Boolean"
                    : JS_IsSymbol(receiver) ? "Symbol" : "BigInt");
        return true;
    }
    if (JS_IsFunction(ctx, receiver) && (text = get_func_name(ctx, receiver)) && text[0]) {
        dbuf_putstr(out, text);
        JS_FreeCString(ctx, text);
        return true;
    }
    JS_FreeCString(ctx, text);
    if (JS_VALUE_GET_OBJ(receiver)->class_id == JS_CLASS_GENERATOR) {
        JSGeneratorData *s = JS_VALUE_GET_OBJ(receiver)->u.generator_data;
        text = s && s->state != JS_GENERATOR_STATE_COMPLETED ? get_func_name(ctx, s->func_state.frame.cur_func) : NULL;
        dbuf_putstr(out, text && text[0] ? text : "Generator");
        JS_FreeCString(ctx, text);
        return true;
    }
    name = cf_constructor_name(ctx, JS_UNDEFINED, 1, &receiver);
    text = JS_ToCString(ctx, name);
    if (!text || !text[0] || !strcmp(text, "Object")) {
        JSValueConst tag = cf_plain_property(JS_VALUE_GET_OBJ(receiver), JS_ATOM_Symbol_toStringTag);
        if (JS_IsString(tag) && !JS_IsEmptyString(tag)) {
            JS_FreeCString(ctx, text);
            text = JS_ToCString(ctx, tag);
        }
    }
    dbuf_putstr(out, text && text[0] ? text : "Object");
    JS_FreeCString(ctx, text);
    JS_FreeValue(ctx, name);
    return true;
}

#define CF_METHODS_LOOKED_AT 500

/* Returns the name of the receiver's property that has the function. Returns NULL if no property
   or more than one property has the function. */
static const char *cf_method_name(JSContext *ctx, JSValueConst receiver, JSValueConst func)
{
    JSObject *p = JS_IsObject(receiver) ? JS_VALUE_GET_OBJ(receiver) : NULL, *wanted = JS_VALUE_GET_OBJ(func);
    JSAtom found = JS_ATOM_NULL;
    int looked_at = 0;

    for (; p && p->class_id != JS_CLASS_PROXY; p = p->shape->proto) {
        for (uint32_t i = 0; i < p->shape->prop_count && looked_at < CF_METHODS_LOOKED_AT; i++, looked_at++) {
            JSShapeProperty *prs = &get_shape_prop(p->shape)[i];
            JSProperty *pr = &p->prop[i];
            int kind = prs->flags & JS_PROP_TMASK;
            bool is_it = kind == JS_PROP_GETSET ? pr->u.getset.getter == wanted || pr->u.getset.setter == wanted
                : kind == JS_PROP_NORMAL && JS_VALUE_GET_TAG(pr->u.value) == JS_TAG_OBJECT &&
                  JS_VALUE_GET_OBJ(pr->u.value) == wanted;
            if (prs->atom == JS_ATOM_NULL || !is_it || prs->atom == found)
                continue;
            if (found != JS_ATOM_NULL)
                return NULL;
            found = prs->atom;
        }
    }
    return found == JS_ATOM_NULL ? NULL : JS_AtomToCString(ctx, found);
}

static bool cf_ends_with_word(const char *text, const char *word)
{
    size_t n = strlen(text), m = strlen(word);
    return n >= m && !strcmp(text + n - m, word) && (n == m || text[n - m - 1] == '.' || text[n - m - 1] == ' ');
}

/* Returns whether a name is an identifier. V8 puts the receiver's type only before a name that
   is an identifier. Any other name was chosen by a program and stays unchanged. */
static bool cf_is_identifier(const char *name)
{
    for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
        bool letter = (*c | 32) - 'a' < 26u || *c == '_' || *c == '$' || *c >= 0x80;
        if (!letter && (c == (const unsigned char *)name || *c - '0' >= 10u))
            return false;
    }
    return name[0] != 0;
}

static void cf_put_method_call(JSContext *ctx, DynBuf *out, const JSStackTraceFrame *f, const char *name)
{
    const char *method = cf_method_name(ctx, f->receiver, f->func);
    DynBuf type;

    js_dbuf_init(ctx, &type);
    cf_put_type(ctx, &type, f->receiver);
    if (!name || cf_is_identifier(name)) {
        dbuf_put(out, type.buf, type.size);
        dbuf_putc(out, '.');
    }
    dbuf_putstr(out, name ? name : method ? method : "<anonymous>");
    if (name && method && !cf_ends_with_word(name, method))
        dbuf_printf(out, " [as %s]", method);
    dbuf_free(&type);
    JS_FreeCString(ctx, method);
}

static void cf_print_frame(JSContext *ctx, DynBuf *out, const JSStackTraceFrame *f)
{
    JSAtom file;
    int line, col;
    JSValueConst receiver = f->receiver;
    bool is_method = !f->is_constructor && !JS_IsUndefined(receiver) && !JS_IsNull(receiver) && !JS_IsUndefined(f->func) &&
        !(JS_IsObject(receiver) && JS_VALUE_GET_OBJ(receiver) == JS_VALUE_GET_OBJ(ctx->global_obj));

    dbuf_putstr(out, "    at ");
    if (f->is_async)
        dbuf_putstr(out, "async ");
    if (f->combinator) {
        dbuf_printf(out, "Promise.%s (index %u)", f->combinator, f->pc);
        return;
    }
    const char *name = JS_IsUndefined(f->func) ? NULL : cf_frame_name(ctx, f->func);
    /* Names of accessors and of private methods are already complete. */
    is_method = is_method && !(name && (name[0] == '#' || !strncmp(name, "get ", 4) || !strncmp(name, "set ", 4)));
    if (is_method) {
        cf_put_method_call(ctx, out, f, name);
    } else {
        if (f->is_constructor)
            dbuf_putstr(out, "new ");
        if (name || f->is_constructor)
            dbuf_putstr(out, name ? name : "<anonymous>");
    }
    bool has_name = name || is_method || f->is_constructor;
    if (has_name)
        dbuf_putstr(out, " (");
    if (cf_frame_position(ctx, f, &file, &line, &col)) {
        const char *path = JS_AtomToCString(ctx, file);
        dbuf_printf(out, "%s:%d:%d", path && path[0] ? path : "<anonymous>", line, col);
        JS_FreeCString(ctx, path);
    } else {
        dbuf_putstr(out, "<anonymous>");
    }
    if (has_name)
        dbuf_putc(out, ')');
    JS_FreeCString(ctx, name);
}

static JSValue cf_call_site(JSContext *ctx, const JSStackTraceFrame *f)
{
    JSCallSiteData data;
    JSAtom file;
    const char *name;
    JSValue site;

    memset(&data, 0, sizeof(data));
    data.func = js_dup(f->func);
    data.constructor = f->is_constructor;
    name = JS_IsUndefined(f->func) ? NULL : cf_frame_name(ctx, f->func);
    data.func_name = name ? JS_NewString(ctx, name) : JS_NULL;
    JS_FreeCString(ctx, name);
    data.native = !cf_frame_position(ctx, f, &file, &data.line_num, &data.col_num);
    if (data.native)
        data.line_num = data.col_num = -1;
    data.filename = data.native ? JS_NULL : JS_AtomToString(ctx, file);
    site = js_new_callsite(ctx, &data);
    if (JS_IsException(site)) {
        JS_FreeValue(ctx, data.func);
        JS_FreeValue(ctx, data.func_name);
        JS_FreeValue(ctx, data.filename);
    }
    return site;
}

static JSValue cf_call_sites(JSContext *ctx, const JSStackTrace *st)
{
    JSValue array = JS_NewArray(ctx);
    for (int i = 0; i < st->count && !JS_IsException(array); i++) {
        JSValue site = cf_call_site(ctx, &st->frames[i]);
        if (JS_IsException(site) || JS_DefinePropertyValueUint32(ctx, array, i, site, JS_PROP_C_W_E) < 0) {
            JS_FreeValue(ctx, array);
            return JS_EXCEPTION;
        }
    }
    return array;
}

/* Calls prepare(error, callSites) as V8 does, with `receiver` as `this`. */
static JSValue cf_call_prepare(JSContext *ctx, JSValueConst prepare, JSValueConst receiver,
                               JSValueConst error, const JSStackTrace *st)
{
    JSValue sites = cf_call_sites(ctx, st);
    if (JS_IsException(sites))
        return sites;
    JSValueConst args[2] = { error, sites };
    JSValue result = JS_Call(ctx, prepare, receiver, 2, args);
    JS_FreeValue(ctx, sites);
    return result;
}

/* Returns Error.prepareStackTrace if the property is a function other than Node's default, else
   undefined. Runs no code of the program. */
static JSValue cf_user_prepare(JSContext *ctx)
{
    JSProperty *pr;
    JSShapeProperty *prs;

    if (!JS_IsObject(ctx->error_ctor))
        return JS_UNDEFINED;
    prs = find_own_property(&pr, JS_VALUE_GET_OBJ(ctx->error_ctor), js_atom_prepare_stack_trace);
    if (!prs || (prs->flags & JS_PROP_TMASK) != JS_PROP_NORMAL || !JS_IsFunction(ctx, pr->u.value))
        return JS_UNDEFINED;
    if (js_same_value(ctx, pr->u.value, cf_image.default_prepare))
        return JS_UNDEFINED;
    return js_dup(pr->u.value);
}

/* Returns the first line of the stack, or undefined if the bootstrap's callback must make the
   whole text. */
static JSValue cf_stack_header(JSContext *ctx, JSValueConst error)
{
    JSValue header;
    if (JS_IsFunction(ctx, cf_image.header_fn)) {
        header = JS_Call(ctx, cf_image.header_fn, JS_UNDEFINED, 1, &error);
        if (JS_IsString(header) || (JS_IsUndefined(header) && JS_IsFunction(ctx, cf_image.prepare_callback)))
            return header;
    } else {
        header = js_error_toString(ctx, error, 0, NULL);
    }
    if (JS_IsException(header)) {
        if (JS_IsUncatchableError(ctx->rt->current_exception))
            return header;
        JS_FreeValue(ctx, JS_GetException(ctx));
    } else if (JS_IsString(header)) {
        return header;
    }
    JS_FreeValue(ctx, header);
    return JS_NewString(ctx, "Error");
}

static JSValue cf_format_stack(JSContext *ctx, JSValueConst error, JSStackTrace *st)
{
    JSValue prepare, header, text;
    DynBuf out;

    prepare = cf_user_prepare(ctx);
    if (!JS_IsUndefined(prepare)) {
        JSValue result = cf_call_prepare(ctx, prepare, ctx->error_ctor, error, st);
        JS_FreeValue(ctx, prepare);
        return result;
    }
    header = cf_stack_header(ctx, error);
    if (JS_IsException(header))
        return header;
    if (JS_IsUndefined(header))
        return cf_call_prepare(ctx, cf_image.prepare_callback, JS_UNDEFINED, error, st);
    if (!st->count)
        return header;
    js_dbuf_init(ctx, &out);
    for (int i = 0; i < st->count; i++) {
        /* A frame without a function is the position of a syntax error. The position is only for
           reports, because V8's stacks do not contain it. */
        if (JS_IsUndefined(st->frames[i].func) && !st->frames[i].combinator)
            continue;
        dbuf_putc(&out, '\n');
        cf_print_frame(ctx, &out, &st->frames[i]);
    }
    text = dbuf_error(&out) ? JS_ThrowOutOfMemory(ctx) : JS_NewStringLen(ctx, (char *)out.buf, out.size);
    dbuf_free(&out);
    if (JS_IsException(text)) {
        JS_FreeValue(ctx, header);
        return text;
    }
    return JS_ConcatString(ctx, header, text);
}

NATIVE(cf_set_prepare_stack_trace)
{
    set_value(ctx, &cf_image.default_prepare, js_dup(argv[0]));
    set_value(ctx, &cf_image.header_fn, js_dup(argv[1]));
    set_value(ctx, &cf_image.prepare_callback, js_dup(argv[2]));
    return JS_UNDEFINED;
}

/* callSites(skip, limit): returns the current stack, innermost first, as plain objects */
NATIVE(cf_native_call_sites)
{
    int64_t skip, limit;
    JSValue array = JS_NewArray(ctx);
    uint32_t count = 0;

    if (JS_IsException(array) || cf_clamped(ctx, &skip, argv[0], 0, 0, INT32_MAX) ||
        cf_clamped(ctx, &limit, argv[1], JS_STACK_TRACE_MAX, 0, JS_STACK_TRACE_MAX))
        goto fail;
    for (JSStackFrame *sf = ctx->rt->current_stack_frame; sf && count < limit; sf = sf->prev_frame) {
        JSFunctionBytecode *b = JS_GetFunctionBytecode(sf->cur_func);
        JSStackTraceFrame f = { .func = sf->cur_func, .filename = JS_ATOM_NULL, .pc = UINT32_MAX,
                                .is_constructor = sf->is_constructor };
        JSAtom file = JS_ATOM_NULL;
        int line = 0, col = 0;
        if (js_is_hidden_frame(ctx->rt, sf) || skip-- > 0)
            continue;
        if (b && sf->cur_pc)
            f.pc = sf->cur_pc - b->byte_code_buf - 1;
        bool native = !cf_frame_position(ctx, &f, &file, &line, &col);
        const char *name = cf_frame_name(ctx, sf->cur_func);
        JSValue site = JS_NewObject(ctx);
        if (JS_IsException(site)) {
            JS_FreeCString(ctx, name);
            goto fail;
        }
        JS_SetPropertyStr(ctx, site, "functionName", JS_NewString(ctx, name ? name : ""));
        JS_SetPropertyStr(ctx, site, "scriptName", native ? JS_NewString(ctx, "") : JS_AtomToString(ctx, file));
        JS_SetPropertyStr(ctx, site, "lineNumber", js_int32(line));
        JS_SetPropertyStr(ctx, site, "columnNumber", js_int32(col));
        JS_SetPropertyStr(ctx, site, "isConstructor", js_bool(sf->is_constructor));
        JS_SetPropertyStr(ctx, site, "isNative", js_bool(native));
        JS_FreeCString(ctx, name);
        if (JS_DefinePropertyValueUint32(ctx, array, count++, site, JS_PROP_C_W_E) < 0)
            goto fail;
    }
    return array;
fail:
    JS_FreeValue(ctx, array);
    return JS_EXCEPTION;
}

/* errorPosition(error): returns [file, line, column] of the innermost frame in JavaScript, or
   undefined when the stack has been read */
NATIVE(cf_error_position)
{
    JSProperty *pr;
    JSShapeProperty *prs;

    if (!JS_IsObject(argv[0]))
        return JS_UNDEFINED;
    prs = find_own_property(&pr, JS_VALUE_GET_OBJ(argv[0]), JS_ATOM_stack);
    if (!prs || (prs->flags & JS_PROP_TMASK) != JS_PROP_AUTOINIT || js_autoinit_get_id(pr) != JS_AUTOINIT_ID_STACK)
        return JS_UNDEFINED;
    JSStackTrace *st = pr->u.init.opaque;
    for (int i = 0; i < st->count; i++) {
        JSAtom file;
        int line, col;
        if (cf_frame_position(ctx, &st->frames[i], &file, &line, &col)) {
            JSValue values[3] = { JS_AtomToString(ctx, file), js_int32(line), js_int32(col) };
            return cf_array(ctx, 3, values);
        }
    }
    return JS_UNDEFINED;
}

NATIVE(cf_function_location)
{
    JSFunctionBytecode *b = JS_IsObject(argv[0]) ? JS_GetFunctionBytecode(argv[0]) : NULL;
    if (!b)
        return JS_UNDEFINED;
    JSValue values[3] = { JS_AtomToString(ctx, b->filename), js_int32(b->line_num), js_int32(b->col_num) };
    return cf_array(ctx, 3, values);
}
