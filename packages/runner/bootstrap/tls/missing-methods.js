// The methods of a session that rustls does not have. A method that sets an option has no effect. A
// method that reads a fact returns undefined. Next: session.js.
'use strict';

const { coded } = require('../crypto/faults.js');
const { sessionError } = require('./errors.js');

const WITHOUT_EFFECT = [
  'enablePskCallback',
  'endParser',
  'getFinished',
  'getPeerFinished',
  'loadSession',
  'newSessionDone',
  'requestOCSP',
  'setOCSPResponse',
];

// The most bytes of a hint in OpenSSL.
const MAX_HINT = 256;

// Adds the missing methods to the prototype of a session.
function addMissingMethods(prototype) {
  for (const name of WITHOUT_EFFECT) prototype[name] = { [name]() {} }[name];
  // No session uses the hint, but a wrong hint fails as in Node.
  prototype.setPskIdentityHint = function setPskIdentityHint(hint) {
    if (Buffer.byteLength(hint) <= MAX_HINT) return;
    this.makeCallback(this.onerror, coded(Error, 'ERR_TLS_PSK_SET_IDENTITY_HINT_FAILED', 'Failed to set PSK identity hint'));
  };
  prototype.renegotiate = function renegotiate() {
    // TLS 1.3 has no renegotiation, also in OpenSSL.
    if (this.getProtocol() === 'TLSv1.3') throw sessionError('wrong ssl version');
    const error = new Error('renegotiate is not available in this sandbox');
    error.code = 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM';
    throw error;
  };
}

module.exports = { addMissingMethods };
