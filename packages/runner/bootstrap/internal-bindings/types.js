// What: `util.types`: which kind of object a value is, by the engine's class and not by anything a program can forge (node_types.cc).
// Why in C when the shim has it: util.inspect asks about twenty of these for each object.
'use strict';

const { External } = require('../engine-gaps/external.js');

module.exports = function types(binding) {
  Object.assign(binding, native.types);
  binding.isExternal = External.is;
};
