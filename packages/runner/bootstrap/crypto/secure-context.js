// The settings of TLS connections (crypto_context.cc), without TLS. A context accepts the settings
// of a client, so that `https`, `tls` and `fetch` reach the connection. A server fails when it
// makes its context. Next: ../internal-bindings/tls_wrap.js.
'use strict';

const { tlsUnavailableError } = require('../errors/unavailable.js');

// Makes the class `SecureContext` with the methods and constants of the skeleton `Missing`.
function secureContextClass(Missing) {
  class SecureContext {
    // Only servers set this text, and every server of Node's library sets the text.
    setSessionIdContext() {
      throw tlsUnavailableError();
    }
  }
  for (const name of Object.getOwnPropertyNames(Missing.prototype)) {
    if (name in SecureContext.prototype) continue;
    Object.defineProperty(SecureContext.prototype, name, {
      value: { [name]() {} }[name],
      writable: true,
      configurable: true,
    });
  }
  return Object.assign(SecureContext, Missing);
}

module.exports = { secureContextClass };
