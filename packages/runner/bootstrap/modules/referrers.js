// Finds the code that handles `import()` and `import.meta` of code that `node:vm` compiled, by the
// compiled name. Also stores the URL of the main module. Names are the keys, because the engine
// reports only the name of the calling code. In Node, V8 returns a symbol that is attached to the
// code. Only the newest entries are kept, because the engine does not report when code is freed,
// and a process may compile any amount of code. Next: linking.js, which calls this module;
// internal-bindings/contextify.js and module_wrap.js, which register code.
'use strict';

const context = require('../context.js');

const KEPT = 1024;

// Name → { option, wrap }: the symbol by which Node's library identifies the code, and the
// ModuleWrap of a module.
const special = new Map();
let main;

function remember(name, option, wrap) {
  const { source_text_module_default_hdo, vm_dynamic_import_default_internal } = context.symbols;
  special.delete(name);
  if (option === undefined || option === source_text_module_default_hdo || option === vm_dynamic_import_default_internal) return;
  special.set(name, { option, wrap });
  if (special.size > KEPT) special.delete(special.keys().next().value);
}

const optionFor = (name) => special.get(name)?.option;
const wrapFor = (name) => special.get(name)?.wrap;

function setMain(url) {
  main = url;
}

const isMain = (url) => url === main;

module.exports = { isMain, optionFor, remember, setMain, wrapFor };
