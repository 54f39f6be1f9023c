// The settings of sessions (crypto_context.cc). The settings go to the edge process with each
// session. Next: ../internal-bindings/tls_wrap.js.
'use strict';

const { External } = require('../engine-gaps/external.js');
const { keyFrom } = require('../crypto/key-input.js');
const { coded, opensslError } = require('../crypto/faults.js');
const { bytesOf } = require('../crypto/bytes.js');
const keys = require('../crypto/keys.js');
const { TLS12, TLS13, chosen, chosen13 } = require('./ciphers.js');
const { Certificate, blocksOf, toPem } = require('./certificate.js');
const { sessionError } = require('./errors.js');
const { openStore } = require('./pkcs12.js');
const { addEngineMethods } = require('./engines.js');
const roots = require('./roots.js');
const securityLevel = require('./security-level.js');

const TLS1_2 = 0x303;
const TLS1_3 = 0x304;
const PEM = 1;
const VERSIONS = { __proto__: null, 769: 'TLSv1', 770: 'TLSv1.1', 771: 'TLSv1.2', 772: 'TLSv1.3' };
// OpenSSL's options that refuse a version (SSL_OP_NO_TLSv1_2, SSL_OP_NO_TLSv1_3).
const NO_TLS1_2 = 0x0800_0000;
const NO_TLS1_3 = 0x2000_0000;
const TICKET_KEYS_SIZE = 48;
const METHODS = { __proto__: null, TLSv1_: 0x301, TLSv1_1_: 0x302, TLSv1_2_: 0x303 };

// A name of a signature scheme in OpenSSL's lists.
const SIGNATURE = /^(?:(?:rsa|rsa-pss|pss|ecdsa|dsa)\+sha(?:1|224|256|384|512)|ed25519|ed448|(?:rsa|ecdsa)_\w+)$/;

const { utf8, latin1 } = native.encodings;
const textOf = (value) => {
  const bytes = typeof value === 'string' ? new Uint8Array(native.encode(value, utf8)) : bytesOf(value);
  return native.decode(bytes, 0, bytes.length, latin1);
};

const operationFailed = (message) => coded(Error, 'ERR_CRYPTO_OPERATION_FAILED', message);

class SecureContextState {
  min = TLS1_2;
  max = TLS1_3;
  suites = TLS12;
  suites13 = TLS13;
  groups;
  // Certificates in PEM.
  ca = [];
  // Whether the authorities of the process are trusted too.
  hasRoots = false;
  allowsPartial = false;
  // Lists of revoked certificates in PEM.
  crl = [];
  // [{ certificate, chain, isAlone, key }]
  identities = [];
  key;
  // The names of signature schemes.
  sigalgs;
  sessionTimeout = 300;
  #ticketKeys;
  options = 0;
  securityLevel = securityLevel.DEFAULT;

  // Each context has its own keys, so that only its own sessions are resumed.
  get ticketKeys() {
    if (this.#ticketKeys === undefined) {
      this.#ticketKeys = new Uint8Array(TICKET_KEYS_SIZE);
      native.random(this.#ticketKeys);
    }
    return this.#ticketKeys;
  }
  set ticketKeys(bytes) {
    this.#ticketKeys = bytes.slice();
  }
}

// Makes the class `SecureContext` with the methods and constants of the skeleton.
function secureContextClass(skeleton) {
  class SecureContext {
    #state = new SecureContextState();
    #external;

    get _external() {
      this.#external ??= new External();
      return this.#external;
    }
    get state() {
      return this.#state;
    }
    init(method, min, max) {
      const state = this.#state;
      if (typeof method === 'string') {
        const name = method.replace(/(?:server_|client_)?method$/, '');
        if (!['TLS_', 'SSLv23_', ...Object.keys(METHODS)].includes(name)) {
          const disabled = name === 'SSLv2_' || name === 'SSLv3_';
          const error = new TypeError(disabled ? `${name.slice(0, 5)} methods disabled` : `Unknown method: ${method}`);
          error.code = 'ERR_TLS_INVALID_PROTOCOL_METHOD';
          throw error;
        }
        if (name in METHODS) state.min = state.max = METHODS[name];
        return;
      }
      state.min = min;
      state.max = max;
    }
    close() {}
    getMinProto() {
      return this.#state.min;
    }
    getMaxProto() {
      return this.#state.max;
    }
    setMinProto(version) {
      this.#state.min = version;
    }
    setMaxProto(version) {
      this.#state.max = version;
    }
    setCiphers(list) {
      this.#state.securityLevel = securityLevel.levelOf(list);
      this.#state.suites = chosen(list);
    }
    setOptions(options) {
      this.#state.options |= options;
    }
    setCipherSuites(list) {
      this.#state.suites13 = chosen13(list);
    }
    setECDHCurve(list) {
      if (list !== 'auto') this.#state.groups = list.split(':');
    }
    setSigalgs(list) {
      const names = list.split(':').map((name) => name.toLowerCase());
      if (!names.every((name) => SIGNATURE.test(name))) throw sessionError('no suitable signature algorithm');
      this.#state.sigalgs = names;
    }
    addCACert(value) {
      const text = textOf(value);
      const blocks = blocksOf(text);
      if (blocks.length === 0) return;
      // The session reads only the usual label.
      const isUsual = !/-----BEGIN (?:X509|TRUSTED) CERT/.test(text);
      this.#state.ca.push(
        isUsual
          ? text
          : readable(blocks)
              .map((certificate) => certificate.pem())
              .join(''),
      );
    }
    addRootCerts() {
      this.#state.hasRoots = true;
      // Warns of a wrong file.
      roots.extra();
    }
    setAllowPartialTrustChain() {
      this.#state.allowsPartial = true;
    }
    addCRL(value) {
      const text = textOf(value);
      if (!text.includes('-----BEGIN X509 CRL-----')) throw operationFailed('Failed to parse CRL');
      this.#state.crl.push(text);
    }
    setCert(value) {
      const blocks = blocksOf(textOf(value));
      if (blocks.length === 0) throw opensslError('0480006C', 'PEM routines', 'no start line', true);
      const certificate = new Certificate(blocks[0]);
      securityLevel.checkKey(certificate, this.#state.securityLevel);
      const chain = blocks.map((block) => toPem(block)).join('');
      this.#state.identities.push({ certificate, chain, isAlone: blocks.length === 1, key: undefined });
      if (this.#state.key !== undefined) this.#join(this.#state.key);
    }
    setKey(value, passphrase) {
      const text = typeof value === 'string' ? new Uint8Array(native.encode(value, utf8)) : bytesOf(value);
      // As in Node, an absent passphrase is an empty passphrase.
      const pass = new Uint8Array(native.encode(passphrase ?? '', utf8));
      const key = keyFrom(text, PEM, undefined, pass, undefined, true);
      this.#state.key = key;
      this.#join(key);
    }
    // Joins a key with its certificate.
    #join(key) {
      const { identities } = this.#state;
      if (identities.length === 0) return;
      const spki = new keys.KeyObjectHandle().set(key).as(keys.PUBLIC).der;
      const found = identities.find(({ certificate }) => certificate.hasKey(spki));
      if (found === undefined) throw opensslError('05800074', 'x509 certificate routines', 'key values mismatch', true);
      found.key = toPem(key.der, 'PRIVATE KEY');
    }
    // As in Node, the further certificates are sent to peers, and are trusted.
    loadPKCS12(value, passphrase) {
      const { key, certificates } = openStore(bytesOf(value), passphrase === undefined ? new Uint8Array(0) : bytesOf(passphrase));
      if (key === undefined) throw operationFailed('Unable to load private key from PFX data');
      const spki = new keys.KeyObjectHandle().set(key).as(keys.PUBLIC).der;
      const own = certificates.findIndex((bytes) => new Certificate(bytes).hasKey(spki));
      if (own === -1) throw operationFailed('Unable to load certificate from PFX data');
      const [certificate] = certificates.splice(own, 1);
      const more = certificates.map((bytes) => toPem(bytes));
      this.setCert(toPem(certificate) + more.join(''));
      this.#state.key = key;
      this.#join(key);
      this.#state.ca.push(...more);
    }
    getCertificate() {
      return this.#state.identities[0]?.certificate.toBuffer();
    }
    getIssuer() {
      return undefined;
    }
    getTicketKeys() {
      return Buffer.from(this.#state.ticketKeys);
    }
    setTicketKeys(bytes) {
      this.#state.ticketKeys = bytesOf(bytes);
    }
    setSessionTimeout(seconds) {
      this.#state.sessionTimeout = seconds;
    }
  }
  addEngineMethods(SecureContext.prototype);
  for (const name of Object.getOwnPropertyNames(skeleton.prototype)) {
    if (name in SecureContext.prototype) continue;
    const value = { [name]() {} }[name];
    Object.defineProperty(SecureContext.prototype, name, { value, writable: true, configurable: true });
  }
  return Object.assign(SecureContext, skeleton);
}

// Returns the settings of a context for a session.
function settingsOf(context, isServer) {
  const { options, suites, suites13, groups, allowsPartial, crl, sigalgs } = context.state;
  const min = (options & NO_TLS1_2) !== 0 ? Math.max(context.state.min, TLS1_3) : context.state.min;
  const max = (options & NO_TLS1_3) !== 0 ? Math.min(context.state.max || TLS1_2, TLS1_2) : context.state.max;
  return {
    isServer,
    minVersion: VERSIONS[min],
    maxVersion: VERSIONS[max],
    ciphers: [...suites13, ...suites],
    groups,
    ...authoritiesOf(context),
    partialChain: allowsPartial,
    crl,
    sigalgs,
    identities: identitiesOf(context),
    ticketKeys: isServer ? textOf(context.state.ticketKeys) : undefined,
  };
}

// Returns the authorities: without `ca`, the operator's authorities and the certificates in
// `moreCa`.
function authoritiesOf({ state: { ca, hasRoots } }) {
  if (!hasRoots) return { ca };
  const chosen = roots.chosen();
  return chosen === undefined ? { moreCa: [...roots.extra(), ...ca] } : { ca: [...chosen, ...ca] };
}

// Returns whether a program has passed another object as the context.
const isWrongContext = (context) => context !== undefined && context !== null && context.state === undefined;

// Returns the settings that another context of a server replaces, if the program has set one.
function choicesOf(context) {
  if (context === undefined || context === null) return {};
  const { ca } = authoritiesOf(context);
  const identities = identitiesOf(context);
  return ca === undefined ? { identities } : { identities, ca };
}

// Returns the certificates with their keys. As in OpenSSL, a certificate without a chain gets its
// issuers from `ca`.
const identitiesOf = ({ state: { identities, ca } }) =>
  identities
    .filter(({ key }) => key !== undefined)
    .map(({ certificate, chain, isAlone, key }) => ({ chain: isAlone ? chain + issuersOf(certificate, ca) : chain, key }));

// Returns the issuers of a certificate in PEM, to the end of the path.
function issuersOf(certificate, texts) {
  if (texts.length === 0) return '';
  const rest = new Set(readable(texts.flatMap(blocksOf)));
  let found = '';
  for (let last = certificate; !last.isSelfIssued; ) {
    const issuer = [...rest].find((one) => last.checkIssued(one));
    if (issuer === undefined) break;
    rest.delete(issuer);
    found += issuer.pem();
    last = issuer;
  }
  return found;
}

function readable(blocks) {
  const certificates = [];
  for (const block of blocks) {
    try {
      certificates.push(new Certificate(block));
    } catch {
      // The edge process ignores the certificate too.
    }
  }
  return certificates;
}

module.exports = { secureContextClass, settingsOf, choicesOf, isWrongContext };
