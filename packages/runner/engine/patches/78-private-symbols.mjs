// Edits of quickjs.c: the functions of a Proxy that get a guard.
const guards = [
  ['JSValue js_proxy_get', 'JS_UNDEFINED'],
  ['int js_proxy_has', 'find_own_property1(JS_VALUE_GET_OBJ(obj), atom) != NULL'],
  ['int js_proxy_get_own_property', 'false'],
  ['int js_proxy_delete_property', 'true'],
];

export default {
  title: 'private symbols pass proxies by',
  why: `Node marks objects with V8's private symbols and reads the marks back. On a proxy they belong to the proxy itself: no trap may see them, and the
target does not lend its own. (The ordinary lookup of a proxy's own properties comes first in the engine, so only what is not there gets here.)`,
  edits: [
    ...guards.map(([name, result]) => ({
      file: 'quickjs.c',
      find: new RegExp(`(\\nstatic ${name}\\((?:[^;{]*)\\)\\n\\{\\n(?:    [^\\n]*;[^\\n]*\\n)+)`, 'g'),
      replace: `$1\n    if (js_is_private_symbol(ctx, ${/own_property/.test(name) ? 'prop' : 'atom'}))\n        return ${result};\n`,
    })),
    {
      file: 'quickjs.c',
      find: /(\nstatic int js_proxy_set\((?:[^;{]*)\)\n\{\n(?: {4}[^\n]*;[^\n]*\n)+)/g,
      replace: `$1
    if (js_is_private_symbol(ctx, atom)) {
        JSProperty *own = add_property(ctx, JS_VALUE_GET_OBJ(obj), atom, JS_PROP_C_W_E);
        if (!own)
            return -1;
        own->u.value = js_dup(value);
        return true;
    }
`,
    },
    // marks go on frozen objects too
    {
      file: 'quickjs.c',
      find: `    if (p == JS_VALUE_GET_OBJ(obj)) {
        if (unlikely(!p->extensible)) {`,
      replace: `    if (p == JS_VALUE_GET_OBJ(obj)) {
        if (unlikely(!p->extensible) && JS_AtomGetKind(ctx, prop) != JS_ATOM_KIND_PRIVATE) {`,
    },
    {
      file: 'quickjs.c',
      find: 'static int js_proxy_has(',
      replace: `static bool js_is_private_symbol(JSContext *ctx, JSAtom atom)
{
    return JS_AtomGetKind(ctx, atom) == JS_ATOM_KIND_PRIVATE;
}

static int js_proxy_has(`,
    },
  ],
};
