// What: a binding that the real Node shows to its own files only, so that no shape of it can be read: V8's search for objects by class.
'use strict';

const { unavailableFunction } = require('../errors/unavailable.js');

module.exports = function internalOnlyV8(binding) {
  binding.queryObjects = unavailableFunction('v8', 'queryObjects');
};
