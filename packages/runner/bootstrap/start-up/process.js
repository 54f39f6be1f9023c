// What: the `process` object as Node's C++ makes it before any of its scripts runs (node_process_object.cc): versions, the class of the
// object, and the properties that differ from process to process.
// Why those are lazy: a start may not cost JavaScript; refresh.js lists them.
// Next: refresh.js, then Node's internal/bootstrap/node, which adds the rest.
'use strict';

const context = require('../context.js');
const { recorded } = require('../internal-bindings/shapes.js');
const { defineProcessState } = require('./refresh.js');

module.exports = function makeProcess(getInternalBinding) {
  // Node's `process` is an instance of a class that nobody can construct again.
  function process() {}
  const prototype = Object.create(Object.prototype, {
    constructor: { value: process, writable: true, configurable: true },
  });
  process.prototype = prototype;
  const object = Object.create(prototype);

  const { version, versions, release, arch } = recorded('__process');
  const constant = (key, value) => Object.defineProperty(object, key, { value, enumerable: true });
  constant('version', version);
  constant('versions', Object.freeze(versions));
  constant('arch', arch ?? 'x64');
  constant('platform', 'linux');
  constant('release', Object.freeze(release));

  const { exit_info_private_symbol: exitInfo } = getInternalBinding('util').privateSymbols;
  object[exitInfo] = native.loop.exitInfo;
  context.symbols = getInternalBinding('symbols');
  defineProcessState(object);
  return object;
};
