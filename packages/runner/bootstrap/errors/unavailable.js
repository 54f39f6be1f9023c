// Functions and classes in place of bindings of Node that this guest does not implement. These
// functions throw only when they are called, because `require('tls')` must succeed: many programs
// load a module without calling its functions. The error names the missing function, with a code
// that programs can test for.
// Next: ../internal-bindings/shapes.js, which installs the functions.
'use strict';

const context = require('../context.js');

function unavailableError(name) {
  const { ERR_FEATURE_UNAVAILABLE_ON_PLATFORM } = context.requireBuiltin('internal/errors').codes;
  return new ERR_FEATURE_UNAVAILABLE_ON_PLATFORM(name);
}

// Makes the error of a TLS session in a runtime without the option `network`.
function tlsUnavailableError() {
  const error = new Error(
    'TLS needs the option `network` of the runtime, for example `network: {}`, because another process encrypts.',
  );
  error.code = 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM';
  return error;
}

// Makes a function that throws when it is called. The message names `binding.name`: `The feature
// fs.open is unavailable on the current platform, ...`
function unavailableFunction(binding, name) {
  const feature = `${binding}.${name}`;
  const missing = function () {
    throw unavailableError(feature);
  };
  Object.defineProperty(missing, 'name', { value: name, configurable: true });
  return missing;
}

module.exports = { tlsUnavailableError, unavailableError, unavailableFunction };
