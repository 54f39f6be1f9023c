// `util.types`: the kind of an object, by the engine's class and by nothing that a program can
// forge (node_types.cc). The tests are C in the shim, because util.inspect runs about twenty tests
// for each object.
'use strict';

const { External } = require('../engine-gaps/external.js');

module.exports = function types(binding) {
  Object.assign(binding, native.types);
  binding.isExternal = External.is;
};
