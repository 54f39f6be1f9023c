// What: who answers `import()` and `import.meta` of code that `node:vm` compiled, by the name it was compiled with, and which module is the main one.
// Why by name: that is what the engine knows of the code that calls. Node asks V8 for the symbol that it attached to the code.
// Why only the newest: the engine does not say when code is gone, and a process may compile any amount of it.
// Next: modules.js asks, bindings/contextify.js and bindings/module_wrap.js tell.
'use strict';

const context = require('../context.js');

const KEPT = 1024;

// Name → { option, wrap }: the symbol that Node's library knows the code by, and the ModuleWrap of a module.
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
