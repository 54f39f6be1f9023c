// What: compiles a file of Node's library by its id, with the parameters that Node's C++ gives that kind of file (node_builtins.cc).
// Why at build time only: a process has no source text (`buildFile` answers with nothing then). preload.js compiles every file that
// may still be asked for, so that `compileBuiltin` finds it here.
// Next: bindings/builtins.js, the binding through which Node's loader asks.
'use strict';

const ids = JSON.parse(buildFile('lib/ids.json'));

// Compiled but not yet run: what preload.js put aside for a later `require`.
const ready = new Map();

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

// Files of Node's library for which this guest has its own: id → function with the parameters MODULE.
const replaced = new Map();

function replaceBuiltin(id, body) {
  replaced.set(id, body);
}

function compileBuiltin(id) {
  const own = replaced.get(id);
  if (own !== undefined) return own;
  const compiled = ready.get(id);
  if (compiled !== undefined) {
    ready.delete(id);
    return compiled;
  }
  const source = sourceOf(id);
  if (source === undefined) throw new Error(`No such built-in module: ${id}`);
  return native.compileFunction(source, `node:${id}`, parametersOf(id));
}

// Compiles `id` without running it, unless it is compiled already.
function compileAhead(id) {
  if (!ready.has(id)) ready.set(id, compileBuiltin(id));
}

module.exports = { MODULE, ids, compileBuiltin, compileAhead, replaceBuiltin, sourceOf };
