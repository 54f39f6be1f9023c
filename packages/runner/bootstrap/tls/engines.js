// The engines of OpenSSL, which are shared libraries of the machine. The sandbox loads none, so
// each engine fails as an engine that OpenSSL does not find. Next: secure-context.js.
'use strict';

const { opensslError } = require('../crypto/faults.js');

const NOT_FOUND = 'error:13000084:engine routines::dso not found';
const NO_ENGINE = 'error:13000074:engine routines::no such engine';

function engineError() {
  const error = opensslError('12800067', 'DSO support routines', 'could not load the shared library');
  const { message } = error;
  // As in Node, this error has no facts besides the stack.
  for (const fact of ['library', 'reason', 'code']) delete error[fact];
  error.opensslErrorStack = [NOT_FOUND, message, message, NO_ENGINE, NOT_FOUND, message];
  return error;
}

// Adds the methods that load an engine to the prototype of a context.
function addEngineMethods(prototype) {
  for (const name of ['setClientCertEngine', 'setEngineKey']) {
    prototype[name] = {
      [name]() {
        throw engineError();
      },
    }[name];
  }
}

module.exports = { addEngineMethods };
