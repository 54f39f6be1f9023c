export default {
  title: 'properties made at their first access',
  why: `Node's C++ uses V8's lazy data properties (util.defineLazyProperties), and what differs from process to process (process.argv, process.pid) must not be
made at each start. This is one more kind of auto-init property: its value is what a function returns, and to every observer it is a data property.`,
  edits: [
    {
      file: 'quickjs.c',
      find: '    JS_AUTOINIT_ID_STACK,\n} JSAutoInitIDEnum;',
      replace:
        '    JS_AUTOINIT_ID_STACK,\n    JS_AUTOINIT_ID_CALL, /* opaque is the JSObject of a function */\n} JSAutoInitIDEnum;',
    },
    {
      file: 'quickjs.c',
      find: `    if (js_autoinit_get_id(pr) == JS_AUTOINIT_ID_STACK)
        js_free_stack_trace(rt, pr->u.init.opaque);
`,
      replace: `    if (js_autoinit_get_id(pr) == JS_AUTOINIT_ID_STACK)
        js_free_stack_trace(rt, pr->u.init.opaque);
    if (js_autoinit_get_id(pr) == JS_AUTOINIT_ID_CALL)
        JS_FreeValueRT(rt, JS_MKPTR(JS_TAG_OBJECT, pr->u.init.opaque));
`,
    },
    {
      file: 'quickjs.c',
      find: `    if (js_autoinit_get_id(pr) == JS_AUTOINIT_ID_STACK) {
        JSStackTrace *st = pr->u.init.opaque;
        int i;
`,
      replace: `    if (js_autoinit_get_id(pr) == JS_AUTOINIT_ID_CALL)
        JS_MarkValue(rt, JS_MKPTR(JS_TAG_OBJECT, pr->u.init.opaque), mark_func);
    if (js_autoinit_get_id(pr) == JS_AUTOINIT_ID_STACK) {
        JSStackTrace *st = pr->u.init.opaque;
        int i;
`,
    },
    {
      file: 'quickjs.c',
      find: '    func = js_autoinit_func_table[js_autoinit_get_id(pr)];\n',
      replace: `    if (js_autoinit_get_id(pr) == JS_AUTOINIT_ID_CALL) {
        /* the function may look at the property: it is a plain one by then */
        JSValue make = JS_MKPTR(JS_TAG_OBJECT, pr->u.init.opaque);
        JSValue obj = js_dup(JS_MKPTR(JS_TAG_OBJECT, p));
        prs->flags &= ~JS_PROP_TMASK;
        pr->u.value = JS_UNDEFINED;
        val = JS_Call(realm, make, obj, 0, NULL);
        JS_FreeValue(ctx, make);
        JS_FreeContext(realm);
        if (!JS_IsException(val)) {
            prs = find_own_property(&pr, p, prop);
            if (prs && (prs->flags & JS_PROP_TMASK) == JS_PROP_NORMAL)
                set_value(ctx, &pr->u.value, val);
            else
                JS_FreeValue(ctx, val);
        }
        JS_FreeValue(ctx, obj);
        return JS_IsException(val) ? -1 : 0;
    }
    func = js_autoinit_func_table[js_autoinit_get_id(pr)];
`,
    },
  ],
};
