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
  title: 'messages that quote the program and its values',
  why: `The rest of V8's words: those that name an expression ("a.b.c is not a function", "Cannot destructure property 'x' of 'y'"), an object ("#<Foo>") or a
value. The engine's throw sites hand over what they know; shim/expressions.c and shim/messages.c make the sentence.`,
  edits: [
    quick(
      '/* in the shim */\nstatic JSValue cf_throw_not_callable(JSContext *ctx, bool constructor);\n',
      `/* in the shim */
static JSValue cf_throw_not_callable(JSContext *ctx, JSValueConst value, bool constructor);
static JSValue cf_throw_not_object(JSContext *ctx);
static JSValue cf_throw_incompatible(JSContext *ctx, int class_id, JSValueConst value);
static JSValue cf_throw_nullish_receiver(JSContext *ctx);
static JSValue cf_throw_not_destructurable(JSContext *ctx, JSValueConst value);
static JSValue cf_throw_regexp(JSContext *ctx, JSValueConst pattern, int flags, const char *engine);
static JSValue cf_throw_circular(JSContext *ctx, JSValueConst stack, JSObject *p);
`,
    ),
    quick(
      'static int JS_ThrowTypeErrorReadOnly(JSContext *ctx, int flags, JSAtom atom)\n{',
      `static JSValue cf_throw_about(JSContext *ctx, JSErrorEnum type, const char *pattern, JSAtom prop, JSValueConst value);
static int cf_refuse(JSContext *ctx, int flags, const char *pattern, JSAtom prop, JSValueConst value);
static JSValue cf_throw_property_of_nothing(JSContext *ctx, JSValueConst value, JSAtom prop, const char *verb);
static JSValue cf_throw_bad_index(JSContext *ctx, JSValueConst value);
static JSValue cf_throw_wrong_brand(JSContext *ctx, JSValueConst method);

static int JS_ThrowTypeErrorReadOnly(JSContext *ctx, int flags, JSAtom atom)
{`,
    ),
    quick(
      /JS_ThrowTypeErrorAtom\(ctx, "Cannot read properties of (null|undefined) \(reading '%s'\)", (prop|atom)\)/g,
      (_text, nothing, prop) => `cf_throw_property_of_nothing(ctx, JS_${nothing.toUpperCase()}, ${prop}, "read")`,
      4,
    ),
    quick(
      /JS_ThrowTypeErrorAtom\(ctx, "Cannot set properties of (null|undefined) \(setting '%s'\)", prop\)/g,
      (_text, nothing) => `cf_throw_property_of_nothing(ctx, JS_${nothing.toUpperCase()}, prop, "set")`,
      2,
    ),
    // what is called or constructed
    quick(
      '                ret_val = JS_ThrowTypeError(ctx, "must be called with new");',
      `                ret_val = p->u.cfunc.c_function.constructor_or_func == js_promise_constructor
                    ? JS_ThrowTypeError(ctx, "Promise constructor cannot be invoked without 'new'")
                    : cf_throw_about(ctx, JS_TYPE_ERROR, "Constructor %f requires 'new'", JS_ATOM_NULL, JS_UNDEFINED);`,
    ),
    quick(
      /(static JSValue js_function_bind\([\s\S]{0,250}?    )if \(check_function\(ctx, this_val\)\)\n        return JS_EXCEPTION;/g,
      '$1if (!JS_IsFunction(ctx, this_val))\n        return JS_ThrowTypeError(ctx, "Bind must be called on a function");',
    ),
    quick(
      /(static JSValue js_array_sort\([\s\S]{0,450}?        )if \(check_function\(ctx, asc.method\)\)\n/g,
      `$1if (!JS_IsFunction(ctx, asc.method))
            return cf_throw_about(ctx, JS_TYPE_ERROR, "The comparison function must be either a function or undefined: %v", JS_ATOM_NULL, asc.method);
        if (check_function(ctx, asc.method))\n`,
    ),
    quick(
      'static JSValue js_promise_then(JSContext *ctx, JSValueConst this_val,\n                               int argc, JSValueConst *argv);\n',
      `static JSValue js_promise_then(JSContext *ctx, JSValueConst this_val,
                               int argc, JSValueConst *argv);
static JSValue js_promise_constructor(JSContext *ctx, JSValueConst new_target, int argc, JSValueConst *argv);
`,
    ),
    quick(
      `    JSObject *p;
    JSAtom name;

    if (JS_TAG_OBJECT != JS_VALUE_GET_TAG(func_obj))
        goto fini;
    p = JS_VALUE_GET_OBJ(func_obj);
    if (!js_class_has_bytecode(p->class_id))
        goto fini;
    name = p->u.func.function_bytecode->func_name;
    if (name == JS_ATOM_NULL)
        goto fini;
    return JS_ThrowTypeErrorAtom(ctx, "%s is not a constructor", name);
fini:
    return cf_throw_not_callable(ctx, true);
`,
      '    return cf_throw_not_callable(ctx, func_obj, true);\n',
    ),
    quick(
      'static JSValue JS_ThrowTypeErrorNotAFunction(JSContext *ctx)\n',
      'static JSValue JS_ThrowTypeErrorNotAFunction(JSContext *ctx, JSValueConst value)\n',
    ),
    quick('return cf_throw_not_callable(ctx, false);', 'return cf_throw_not_callable(ctx, value, false);'),
    quick('return JS_ThrowTypeErrorNotAFunction(caller_ctx);', 'return JS_ThrowTypeErrorNotAFunction(caller_ctx, func_obj);'),
    quick(
      '        not_a_function:\n            return JS_ThrowTypeErrorNotAFunction(ctx);',
      '        not_a_function:\n            return JS_ThrowTypeErrorNotAFunction(ctx, func_obj);',
    ),
    quick(
      'static int check_function(JSContext *ctx, JSValueConst obj)\n{\n    if (likely(JS_IsFunction(ctx, obj)))\n        return 0;\n    JS_ThrowTypeErrorNotAFunction(ctx);',
      'static int check_function(JSContext *ctx, JSValueConst obj)\n{\n    if (likely(JS_IsFunction(ctx, obj)))\n        return 0;\n    JS_ThrowTypeErrorNotAFunction(ctx, obj);',
    ),
    quick(/JS_ThrowTypeErrorNotAFunction\(ctx\);/g, 'JS_ThrowTypeErrorNotAFunction(ctx, JS_UNDEFINED);', 2),
    quick(
      'static JSValue JS_ThrowTypeErrorNotAnObject(JSContext *ctx)\n{\n    return JS_ThrowTypeError(ctx, "not an object");',
      'static JSValue JS_ThrowTypeErrorNotAnObject(JSContext *ctx)\n{\n    return cf_throw_not_object(ctx);',
    ),
    quick(
      '        JS_ThrowTypeErrorInvalidClass(ctx, class_id);\n    }\n    return p;',
      '        cf_throw_incompatible(ctx, class_id, obj);\n    }\n    return p;',
    ),
    about('Type', 'parent class must be constructor', 'Class extends value %v is not a constructor or null', 'parent_class'),
    about('Type', "constructor requires 'new'", "Constructor %f requires 'new'", undefined, undefined, 4),
    quick('"abstract class not constructable"', '"Abstract class Iterator not directly constructable"'),
    about('Type', 'not a object', 'CreateListFromArrayLike called on non-object'),
    quick(`"'this' can be initialized only once"`, '"Super constructor may only be called once"'),
    quick(
      '"derived class constructor must return an object or undefined"',
      '"Derived constructors may only return object or undefined"',
    ),
    quick(
      `                JS_ThrowTypeError(ctx, "Class constructor %s cannot be invoked without 'new'", class_name ? class_name : "");`,
      `                if (class_name && class_name[0])
                    JS_ThrowTypeError(ctx, "Class constructor %s cannot be invoked without 'new'", class_name);
                else
                    JS_ThrowTypeError(ctx, "Class constructors cannot be invoked without 'new'");`,
    ),
    // properties
    quick(
      `        JS_ThrowTypeErrorAtom(ctx, "Cannot assign to read only property '%s' of object '#<Object>'", atom);`,
      `        cf_throw_about(ctx, JS_TYPE_ERROR, "Cannot assign to read only property '%p' of object '%v'", atom, object);`,
    ),
    quick(
      'static int JS_ThrowTypeErrorReadOnly(JSContext *ctx, int flags, JSAtom atom)\n{',
      'static int JS_ThrowTypeErrorReadOnly(JSContext *ctx, int flags, JSAtom atom, JSValueConst object)\n{',
    ),
    quick(
      /JS_ThrowTypeErrorReadOnly\(ctx, flags, JS_ATOM_length\)/g,
      'JS_ThrowTypeErrorReadOnly(ctx, flags, JS_ATOM_length, JS_MKPTR(JS_TAG_OBJECT, p))',
      3,
    ),
    quick(
      'ret = JS_ThrowTypeErrorReadOnly(ctx, flags, prop);',
      `ret = JS_IsString(this_obj)
                ? cf_refuse(ctx, flags, "Cannot assign to read only property '%p' of string '%v'", prop, this_obj)
                : JS_ThrowTypeErrorReadOnly(ctx, flags, prop, this_obj);`,
    ),
    quick(
      /JS_ThrowTypeErrorReadOnly\(ctx, JS_PROP_THROW, prop\)/g,
      'JS_ThrowTypeErrorReadOnly(ctx, JS_PROP_THROW, prop, ctx->global_obj)',
      2,
    ),
    quick(
      'static int call_setter(JSContext *ctx, JSObject *setter,\n',
      'static int call_setter(JSContext *ctx, JSAtom prop, JSObject *setter,\n',
    ),
    quick('return call_setter(ctx, pr->u.getset.setter,', 'return call_setter(ctx, prop, pr->u.getset.setter,', 2),
    quick('ret = call_setter(ctx, setter, this_obj, val, flags);', 'ret = call_setter(ctx, prop, setter, this_obj, val, flags);'),
    about(
      'Type',
      'Cannot set property of #<Object> which has only a getter',
      'Cannot set property %p of %v which has only a getter',
      'this_obj',
      'prop',
    ),
    quick(
      'return JS_ThrowTypeErrorOrFalse(ctx, flags, "property is not configurable");',
      'return cf_refuse(ctx, flags, "Cannot redefine property: %p", prop, JS_UNDEFINED);',
      2,
    ),
    quick(
      'ret = JS_ThrowTypeErrorOrFalse(ctx, flags, "not an object");',
      `ret = cf_refuse(ctx, flags, "Cannot create property '%p' on %t '%v'", prop, this_obj);`,
    ),
    quick(
      `        JS_ThrowTypeError(ctx, "Cannot delete property '%s' of #<Object>", ${name('prop')});`,
      `        if (JS_IsObject(obj) && JS_VALUE_GET_OBJ(obj)->class_id == JS_CLASS_PROXY)
            cf_throw_about(ctx, JS_TYPE_ERROR, "'deleteProperty' on proxy: trap returned falsish for property '%p'", prop, obj);
        else
            cf_throw_about(ctx, JS_TYPE_ERROR, "Cannot delete property '%p' of %v", prop, obj);`,
    ),
    about('Type', 'Property description must be an object', 'Property description must be an object: %v', 'desc'),
    about('Type', 'Getter must be a function', 'Getter must be a function: %v', 'getter'),
    about('Type', 'Setter must be a function', 'Setter must be a function: %v', 'setter'),
    about(
      'Type',
      'Invalid property descriptor. Cannot both specify accessors and a value or writable attribute',
      'Invalid property descriptor. Cannot both specify accessors and a value or writable attribute, %v',
      'desc',
    ),
    about(
      'Type',
      'object prototype may only be an Object or null',
      'Object prototype may only be an Object or null: %v',
      'proto',
    ),
    quick(
      '        not_obj:\n            JS_ThrowTypeErrorNotAnObject(ctx);\n            return -1;\n        }\n        proto = NULL;',
      `        not_obj:
            if (throw_flag && (JS_IsNull(obj) || JS_IsUndefined(obj)))
                cf_throw_about(ctx, JS_TYPE_ERROR, "%f called on null or undefined", JS_ATOM_NULL, obj);
            else if (!throw_flag && !JS_IsObject(obj))
                JS_ThrowTypeErrorNotAnObject(ctx);
            else
                cf_throw_about(ctx, JS_TYPE_ERROR, "Object prototype may only be an Object or null: %v", JS_ATOM_NULL, proto_val);
            return -1;
        }
        proto = NULL;`,
    ),
    quick(
      '        if (throw_flag) {\n            JS_ThrowTypeError(ctx, "object is not extensible");',
      '        if (throw_flag) {\n            cf_throw_about(ctx, JS_TYPE_ERROR, "%v is not extensible", JS_ATOM_NULL, obj);',
    ),
    quick('"circular prototype chain"', '"Cyclic __proto__ value"'),
    quick(
      "\"'Immutable prototype object \\'Object.prototype\\' cannot have their prototype set'\"",
      '"Immutable prototype object \'Object.prototype\' cannot have their prototype set"',
    ),
    about('Type', 'revoked proxy', "Cannot perform '%p' on a proxy that has been revoked", 'JS_UNDEFINED', 'name'),
    quick(
      'static JSValue JS_ThrowTypeErrorRevokedProxy(JSContext *ctx)\n{',
      'static JSValue JS_ThrowTypeErrorRevokedProxy(JSContext *ctx, JSAtom name)\n{',
    ),
    quick(
      'static JSValue JS_ThrowTypeErrorRevokedProxy(JSContext *ctx);',
      'static JSValue JS_ThrowTypeErrorRevokedProxy(JSContext *ctx, JSAtom name);',
    ),
    quick(
      '    if (s->is_revoked) {\n        JS_ThrowTypeErrorRevokedProxy(ctx);\n        return NULL;',
      '    if (s->is_revoked) {\n        JS_ThrowTypeErrorRevokedProxy(ctx, name);\n        return NULL;',
    ),
    quick(/JS_ThrowTypeErrorRevokedProxy\(ctx\);/g, 'JS_ThrowTypeErrorRevokedProxy(ctx, JS_ATOM_apply);', 5),
    about(
      'Type',
      'proxy: cannot set property',
      "'set' on proxy: trap returned falsish for property '%p'",
      'JS_UNDEFINED',
      'atom',
    ),
    quick(
      '                    JS_ThrowTypeError(ctx, "invalid brand on object");',
      '                    cf_throw_wrong_brand(ctx, sp[-1]);',
    ),
    quick(
      'prop = js_symbol_to_atom(ctx, name);\n    p = JS_VALUE_GET_OBJ(obj);\n    prs = find_own_property(&pr, p, prop);\n    if (!prs) {\n        JS_ThrowTypeErrorPrivateNotFound(ctx, prop);\n    fail:',
      'prop = js_symbol_to_atom(ctx, name);\n    p = JS_VALUE_GET_OBJ(obj);\n    prs = find_own_property(&pr, p, prop);\n    if (!prs) {\n        JS_ThrowTypeErrorAtom(ctx, "Cannot write private member %s to an object whose class did not declare it", prop);\n    fail:',
    ),
    quick(
      `JS_ThrowTypeError(ctx, "invalid 'in' operand");`,
      `{
            JSValue name = JS_IsSymbol(op2) ? JS_AtomToString(ctx, js_symbol_to_atom(ctx, op2)) : JS_NewString(ctx, "#private");
            const char *text = JS_ToCString(ctx, name), *operand = JS_IsSymbol(op1) ? NULL : JS_ToCString(ctx, op1);
            JS_ThrowTypeError(ctx, "Cannot use 'in' operator to search for '%s' in %s", text ? text : "", operand ? operand : "Symbol()");
            JS_FreeCString(ctx, text);
            JS_FreeCString(ctx, operand);
            JS_FreeValue(ctx, name);
        }`,
    ),
    quick(
      '                if (type == JS_THROW_VAR_RO)\n',
      `                if (type == JS_THROW_VAR_RO && !__JS_AtomIsTaggedInt(atom) && string_get(rt->atom_array[atom], 0) == '#')
                    JS_ThrowTypeErrorAtom(ctx, "Private method '%s' is not writable", atom);
                else
                if (type == JS_THROW_VAR_RO)\n`,
    ),
    quick(
      /(JSValue JS_NewProxy\([\s\S]{0,400}?)return JS_ThrowTypeErrorNotAnObject\(ctx\);/g,
      '$1return JS_ThrowTypeError(ctx, "Cannot create proxy with a non-object as target or handler");',
    ),
    // this
    about('Type', 'null or undefined are forbidden', '%f called on null or undefined'),
    quick(
      '        return JS_ThrowTypeError(ctx, "Cannot convert undefined or null to object");',
      '        return cf_throw_nullish_receiver(ctx);',
    ),
    about('Type', 'not a Date object', 'this is not a Date object.', undefined, undefined, 2),
    quick(
      '    return JS_ThrowTypeError(ctx, "not a boolean");',
      `    return cf_throw_about(ctx, JS_TYPE_ERROR, "%f requires that 'this' be a Boolean", JS_ATOM_NULL, this_val);`,
    ),
    quick(
      '    return JS_ThrowTypeError(ctx, "not a number");',
      `    return cf_throw_about(ctx, JS_TYPE_ERROR, "%f requires that 'this' be a Number", JS_ATOM_NULL, this_val);`,
    ),
    quick(
      '    return JS_ThrowTypeError(ctx, "not a BigInt");',
      `    return cf_throw_about(ctx, JS_TYPE_ERROR, "%f requires that 'this' be a BigInt", JS_ATOM_NULL, this_val);`,
    ),
    quick(
      '        }\n    }\n    return JS_ThrowTypeError(ctx, "not a symbol");',
      `        }\n    }\n    return cf_throw_about(ctx, JS_TYPE_ERROR, "%f requires that 'this' be a Symbol", JS_ATOM_NULL, this_val);`,
    ),
    quick(
      '    if (!JS_IsSymbol(argv[0]))\n        return JS_ThrowTypeError(ctx, "not a symbol");',
      '    if (!JS_IsSymbol(argv[0]))\n        return cf_throw_about(ctx, JS_TYPE_ERROR, "%v is not a symbol", JS_ATOM_NULL, argv[0]);',
    ),
    quick(
      'return JS_ThrowTypeError(ctx, "not a generator");',
      'return cf_throw_about(ctx, JS_TYPE_ERROR, magic == GEN_MAGIC_NEXT ? "next method called on incompatible receiver %v" : "return method called on incompatible receiver %v", JS_ATOM_NULL, this_val);',
    ),
    quick(
      '        JS_ThrowTypeErrorInvalidClass(ctx, JS_CLASS_REGEXP);\n',
      '        cf_throw_incompatible(ctx, JS_CLASS_REGEXP, obj);\n',
    ),
    quick('"cannot invoke a running generator"', '"Generator is already running"'),
    quick('"not a TypedArray"', '"this is not a typed array."'),
    // iteration and destructuring
    quick(
      `                    const char *nothing = JS_IsNull(sp[-1]) ? "null" : "undefined";
                    JS_ThrowTypeError(ctx, "Cannot destructure '%s' as it is %s.", nothing, nothing);
`,
      '                    cf_throw_not_destructurable(ctx, sp[-1]);\n',
    ),
    quick(
      '        JS_FreeValue(ctx, enum_obj);\n        return JS_ThrowTypeErrorNotAnObject(ctx);\n    }\n    return enum_obj;',
      '        JS_FreeValue(ctx, enum_obj);\n        return JS_ThrowTypeError(ctx, "Result of the Symbol.iterator method is not an object");\n    }\n    return enum_obj;',
    ),
    quick(
      '        JS_ThrowTypeError(ctx, "iterator must return an object");',
      '        cf_throw_about(ctx, JS_TYPE_ERROR, "Iterator result %v is not an object", JS_ATOM_NULL, obj);',
      2,
    ),
    quick(
      /(        if \(!JS_IsObject\(item\)\) \{\n +)JS_ThrowTypeErrorNotAnObject\(ctx\);/g,
      '$1cf_throw_about(ctx, JS_TYPE_ERROR, "Iterator value %v is not an entry object", JS_ATOM_NULL, item);',
      2,
    ),
    // conversions
    quick(/JS_ThrowTypeError\(ctx, "toPrimitive"\)/g, 'JS_ThrowTypeError(ctx, "Cannot convert object to primitive value")', 2),
    quick(
      '        if (flag != TON_FLAG_NUMERIC) {\n            JS_FreeValue(ctx, val);\n            return JS_ThrowTypeError(ctx, "Cannot mix BigInt and other types, use explicit conversions");',
      `        if (flag != TON_FLAG_NUMERIC) {
            JSStackFrame *sf = ctx->rt->current_stack_frame;
            JS_FreeValue(ctx, val);
            if (sf && !JS_GetFunctionBytecode(sf->cur_func))
                return JS_ThrowTypeError(ctx, "Cannot convert a BigInt value to a number");
            return JS_ThrowTypeError(ctx, "Cannot mix BigInt and other types, use explicit conversions");`,
    ),
    quick('"bigint argument with unary +"', '"Cannot convert a BigInt value to a number"', 2),
    quick('"BigInt operands are forbidden for >>>"', '"BigInts have no unsigned right shift, use >> instead"'),
    quick('"BigInt division by zero"', '"Division by zero"'),
    quick('"BigInt negative exponent"', '"Exponent must be non-negative"'),
    quick(
      '        JS_FreeValue(ctx, val);\n        return JS_ThrowTypeError(ctx, "cannot convert to BigInt");',
      '        cf_throw_about(ctx, JS_TYPE_ERROR, "Cannot convert %v to a BigInt", JS_ATOM_NULL, val);\n        JS_FreeValue(ctx, val);\n        return JS_EXCEPTION;',
    ),
    quick('"operand \'prototype\' property is not an object"', '"Function has non-object prototype in instanceof check"'),
    quick(
      '        if (!JS_IsException(obj_proto))\n            JS_ThrowTypeError(ctx, "Function has non-object prototype in instanceof check");',
      `        if (!JS_IsException(obj_proto))
            cf_throw_about(ctx, JS_TYPE_ERROR, "Function has non-object prototype '%v' in instanceof check", JS_ATOM_NULL, obj_proto);`,
    ),
    quick(
      'JSValue key = JS_IsSymbol(op1) ? JS_NewString(ctx, "symbol") : JS_ToString(ctx, op1), operand = JS_ToString(ctx, op2);',
      'JSValue key = JS_IsSymbol(op1) ? js_symbol_descriptive_string(ctx, op1) : JS_ToString(ctx, op1), operand = JS_ToString(ctx, op2);',
    ),
    quick(
      'static __exception int js_operator_in(',
      `static JSValue js_symbol_descriptive_string(JSContext *ctx, JSValueConst symbol)
{
    JSValue description = JS_AtomToString(ctx, js_symbol_to_atom(ctx, symbol));
    return JS_ConcatString3(ctx, "Symbol(", description, ")");
}

static __exception int js_operator_in(`,
    ),
  ],
};
