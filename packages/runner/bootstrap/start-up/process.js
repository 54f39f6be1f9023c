// The `process` object as Node's C++ makes it before any script runs (node_process_object.cc):
// versions, the object's class, and the properties that differ between processes. The properties
// that differ are lazy, because a start must not run JavaScript; refresh.js lists these properties.
// Next: refresh.js, then Node's internal/bootstrap/node, which adds further properties.
'use strict';

const context = require('../context.js');
const { recorded } = require('../internal-bindings/shapes.js');
const { defineProcessState } = require('./refresh.js');

module.exports = function makeProcess(getInternalBinding) {
  // Node's `process` is an instance of a class that a program cannot construct.
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
