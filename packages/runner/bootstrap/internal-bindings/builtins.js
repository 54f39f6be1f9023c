// The list of Node's library files and their compilation (node_builtins.cc). Next:
// ../start-up/builtins.js.
'use strict';

const context = require('../context.js');
const { ids, compileBuiltin } = require('../start-up/builtins.js');

module.exports = function builtins(binding) {
  binding.builtinIds = ids;
  // The table of process.binding('natives') is empty, because the image has no sources.
  binding.natives = {};
  binding.config = buildFile('lib/config.json');
  binding.hasCachedBuiltins = () => true;
  binding.compileFunction = compileBuiltin;
  binding.setInternalLoaders = (internalBinding, requireBuiltin) => {
    context.internalBinding = internalBinding;
    context.requireBuiltin = requireBuiltin;
  };
};
