// What: functions and classes that stand where Node has a binding that this guest does not implement (yet).
// Why they throw at use: `require('tls')` must load, as a program often only looks at a module; calling into it must say plainly
// which function is missing, with a code that programs can test for.
// Next: bindings/shapes.js, which puts them there.
'use strict';

const context = require('../context.js');

function unavailableError(name) {
  const { ERR_FEATURE_UNAVAILABLE_ON_PLATFORM } = context.requireBuiltin('internal/errors').codes;
  return new ERR_FEATURE_UNAVAILABLE_ON_PLATFORM(name);
}

// `binding.name` is what the message says: `The feature fs.open is unavailable on the current platform, ...`
function unavailableFunction(binding, name) {
  const feature = `${binding}.${name}`;
  const missing = function () {
    throw unavailableError(feature);
  };
  Object.defineProperty(missing, 'name', { value: name, configurable: true });
  return missing;
}

module.exports = { unavailableError, unavailableFunction };
