// Compiles a file of Node's library by its id, with the parameters that Node's C++ passes to that
// kind of file (node_builtins.cc). A process has no source text, so compiling works only at build
// time. The file preload.js compiles in advance every file that a process may need, and
// `compileBuiltin` returns these functions. Next: ../internal-bindings/builtins.js, the binding
// that Node's loader uses.
'use strict';

const ids = JSON.parse(buildFile('lib/ids.json'));

// Compiled functions that have not run, by id. preload.js adds the functions for a later `require`.
const ready = new Map();

// Files that the image loads and `unload` can load again. Node loads the files at the first
// `require`, so a program with `--expose-internals` can replace functions of their bindings before.
const RELOADABLE = ['dns', 'dns/promises', 'internal/dns/callback_resolver', 'internal/dns/promises'];

const MODULE = ['exports', 'require', 'module', 'process', 'internalBinding', 'primordials'];
const MAIN = ['process', 'require', 'internalBinding', 'primordials'];
const REALM = ['process', 'getLinkedBinding', 'getInternalBinding', 'primordials'];
const PER_CONTEXT = ['exports', 'primordials', 'privateSymbols', 'perIsolateSymbols'];

function parametersOf(id) {
  if (id === 'internal/bootstrap/realm') return REALM;
  if (id.startsWith('internal/per_context/')) return PER_CONTEXT;
  if (id.startsWith('internal/main/') || id.startsWith('internal/bootstrap/')) return MAIN;
  return MODULE;
}

function sourceOf(id) {
  return buildFile(`lib/${id}.js`);
}

// Files of Node's library that this guest replaces: id → function with the parameters MODULE.
const replaced = new Map();

function replaceBuiltin(id, body) {
  replaced.set(id, body);
}

function compileBuiltin(id) {
  const own = replaced.get(id);
  if (own !== undefined) return own;
  const compiled = ready.get(id);
  if (compiled !== undefined) {
    if (!RELOADABLE.includes(id)) ready.delete(id);
    return compiled;
  }
  const source = sourceOf(id);
  if (source === undefined) throw new Error(`No such built-in module: ${id}`);
  return native.compileFunction(source, `node:${id}`, parametersOf(id));
}

// Compiles the file `id` without running the file, unless the file is already compiled.
function compileAhead(id) {
  if (!ready.has(id)) ready.set(id, compileBuiltin(id));
}

// Makes the next `require` of a reloadable file run the file again. `modules` is the map of Node's
// loader.
function unload(modules) {
  for (const id of RELOADABLE) {
    const module = modules.get(id);
    Object.assign(module, { exports: {}, loaded: false, exportKeys: undefined, module: undefined });
  }
}

module.exports = { MODULE, ids, compileBuiltin, compileAhead, replaceBuiltin, sourceOf, unload };
