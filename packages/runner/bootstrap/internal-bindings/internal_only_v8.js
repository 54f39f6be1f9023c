// V8's search for objects by class. The real Node exposes this binding only to its own files, so
// the build cannot read the binding's shape.
'use strict';

const { unavailableFunction } = require('../errors/unavailable.js');

module.exports = function internalOnlyV8(binding) {
  binding.queryObjects = unavailableFunction('v8', 'queryObjects');
};
