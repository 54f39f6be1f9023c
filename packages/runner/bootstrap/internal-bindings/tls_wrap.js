// The stream of a TLS socket (tls_wrap.cc), without TLS. The stream passes the calls of a
// connection to the socket below, so that a denied lookup or connection fails as for a plain
// socket. When the connection is made, the handshake fails with an error that says that TLS is
// unavailable. Next: ../crypto/secure-context.js.
'use strict';

const { tlsUnavailableError } = require('../errors/unavailable.js');
const { ERRNO } = require('../net/calls.js');
const { StreamBase } = require('../net/stream-base.js');

class TLSWrap extends StreamBase {
  #requests = [];
  #failed = false;
  #servername;

  constructor() {
    super('TLSWRAP', false);
  }
  // Starts the handshake. The failure follows in a later round of the loop, when the library has
  // finished its calls.
  start() {
    if (this.#failed) return;
    this.#failed = true;
    native.enqueueTask(() => {
      if (typeof this.onerror === 'function') this.makeCallback(this.onerror, tlsUnavailableError());
    });
  }
  startReading() {
    this.start();
    return 0;
  }
  stopReading() {
    return 0;
  }
  // Writes wait for the handshake.
  tryWrite() {
    return ERRNO.EAGAIN;
  }
  queueWrite(req) {
    req.dispatch(false);
    this.#requests.push(req);
    return 0;
  }
  queueShutdown(req) {
    return this.queueWrite(req);
  }
  destroySSL() {
    for (const req of this.#requests.splice(0)) req.finish(ERRNO.ECANCELED, this, undefined);
  }
  setServername(name) {
    this.#servername = name;
  }
  getServername() {
    return this.#servername;
  }
  getALPNNegotiatedProtocol() {
    return false;
  }
  getProtocol() {
    return null;
  }
  isSessionReused() {
    return false;
  }
  verifyError() {
    return null;
  }
}

// The methods that set an option or read a fact of a handshake. The methods have no effect.
const WITHOUT_EFFECT = [
  'certCbDone',
  'enableALPNCb',
  'enableCertCb',
  'enableKeylogCallback',
  'enablePskCallback',
  'enableSessionCallbacks',
  'enableTrace',
  'endParser',
  'getCertificate',
  'getCipher',
  'getEphemeralKeyInfo',
  'getFinished',
  'getPeerCertificate',
  'getPeerFinished',
  'getPeerX509Certificate',
  'getSession',
  'getSharedSigalgs',
  'getTLSTicket',
  'getX509Certificate',
  'loadSession',
  'newSessionDone',
  'receive',
  'requestOCSP',
  'setALPNProtocols',
  'setKeyCert',
  'setMaxSendFragment',
  'setOCSPResponse',
  'setPskIdentityHint',
  'setSession',
  'setVerifyMode',
  'writesIssuedByPrevListenerDone',
];
for (const name of WITHOUT_EFFECT) TLSWrap.prototype[name] = { [name]() {} }[name];
for (const name of ['exportKeyingMaterial', 'renegotiate']) {
  TLSWrap.prototype[name] = {
    [name]() {
      throw tlsUnavailableError();
    },
  }[name];
}

module.exports = function tlsWrap(binding) {
  binding.TLSWrap = TLSWrap;
  binding.wrap = () => new TLSWrap();
};
