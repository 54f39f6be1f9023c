// The facts of an established session that a program reads: protocol, suite, names, certificates.
// The edge process reports the facts once (crate `edge`, tls/engine.rs). Next: certificate.js,
// ../internal-bindings/tls_wrap.js.
'use strict';

const { legacyOf, peerOf } = require('./certificate.js');
const { verificationError } = require('./errors.js');

// Adds the methods to the prototype of a session. `of(wrap)` returns `{ facts, isServer, own }`.
// `facts` is undefined before the session is established, and `own` is the program's certificate.
function addFacts(prototype, of) {
  const factsOf = (wrap) => of(wrap).facts;
  const peerCertificate = (wrap) => {
    const facts = factsOf(wrap);
    if (facts === undefined) return undefined;
    facts.peer ??= peerOf(facts);
    return facts.peer;
  };
  const methods = {
    getALPNNegotiatedProtocol() {
      return factsOf(this)?.alpn ?? false;
    },
    isSessionReused() {
      return factsOf(this)?.reused ?? false;
    },
    getProtocol() {
      return factsOf(this)?.protocol ?? null;
    },
    getCipher() {
      const facts = factsOf(this);
      return facts && { name: facts.cipher, standardName: facts.standardName, version: facts.protocol };
    },
    getEphemeralKeyInfo() {
      const { facts, isServer } = of(this);
      if (isServer) return null;
      const [name, size] = facts?.group ?? [];
      return name === undefined ? {} : { type: 'ECDH', name, size };
    },
    getSharedSigalgs() {
      return factsOf(this)?.sigalgs ?? [];
    },
    verifyError() {
      const code = factsOf(this)?.verified;
      return code === undefined || code === null ? null : verificationError(code);
    },
    getPeerCertificate(abbreviated) {
      const certificate = peerCertificate(this);
      return certificate && legacyOf(certificate, abbreviated === true || abbreviated === 1);
    },
    getPeerX509Certificate() {
      return peerCertificate(this);
    },
    getCertificate() {
      return of(this).own?.toLegacy();
    },
    getX509Certificate() {
      return of(this).own;
    },
  };
  for (const [name, method] of Object.entries(methods)) prototype[name] = method;
}

module.exports = { addFacts };
