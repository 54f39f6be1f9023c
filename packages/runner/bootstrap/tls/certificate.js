// Certificates (crypto_x509.cc): the handle of `X509Certificate`, and the objects of
// `getPeerCertificate`. A certificate is parsed in the guest, so that a wrong certificate harms
// only its program. Next: names.js, the texts of names; ../internal-bindings/tls_wrap.js.
'use strict';

const { bytesOf, toBuffer } = require('../crypto/bytes.js');
const { opensslError } = require('../crypto/faults.js');
const { digestNamed } = require('../crypto/digests.js');
const system = require('../crypto/system.js');
const keys = require('../crypto/keys.js');
const der = require('./der.js');
const names = require('./names.js');

const { base64, latin1 } = native.encodings;
const DER = 0;
const SPKI = 2;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const BLOCK = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----([^-]*)-----END/g;

// The object identifiers of extensions and attributes.
const BASIC_CONSTRAINTS = '2.5.29.19';
const KEY_USAGE = '2.5.29.15';
const EXTENDED_KEY_USAGE = '2.5.29.37';
const ALTERNATIVE_NAMES = '2.5.29.17';
const INFORMATION_ACCESS = '1.3.6.1.5.5.7.1.1';
// The signature algorithms: OpenSSL's name, and the digest.
const ALGORITHMS = {
  __proto__: null,
  '1.2.840.113549.1.1.5': ['sha1WithRSAEncryption', 'sha1'],
  '1.2.840.113549.1.1.11': ['sha256WithRSAEncryption', 'sha256'],
  '1.2.840.113549.1.1.12': ['sha384WithRSAEncryption', 'sha384'],
  '1.2.840.113549.1.1.13': ['sha512WithRSAEncryption', 'sha512'],
  '1.2.840.113549.1.1.10': ['rsassaPss', undefined],
  '1.2.840.10045.4.3.2': ['ecdsa-with-SHA256', 'sha256'],
  '1.2.840.10045.4.3.3': ['ecdsa-with-SHA384', 'sha384'],
  '1.2.840.10045.4.3.4': ['ecdsa-with-SHA512', 'sha512'],
  '1.3.101.112': ['ED25519', undefined],
};
const NIST_CURVES = { __proto__: null, prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };

// Returns the certificates of a text in PEM, as DER.
function blocksOf(text) {
  const found = [];
  for (const [, body] of text.matchAll(BLOCK)) found.push(new Uint8Array(native.encode(body.replace(/\s/g, ''), base64)));
  return found;
}

function toPem(bytes, label = 'CERTIFICATE') {
  const body = native.decode(bytes, 0, bytes.length, base64).replace(/.{1,64}/g, '$&\n');
  return `-----BEGIN ${label}-----\n${body}-----END ${label}-----\n`;
}

const same = (left, right) => left.length === right.length && left.every((byte, i) => byte === right[i]);

class Certificate {
  #der;
  #parts;
  #extensions = { __proto__: null };
  #issuer;

  constructor(bytes) {
    const outer = der.elementAt(bytes, 0);
    // A trusted certificate of OpenSSL has further data after the certificate.
    this.#der = outer.end === bytes.length ? bytes : der.wholeOf(outer);
    const [tbs, algorithm, signature] = der.childrenOf(outer);
    const fields = der.childrenOf(tbs);
    if (fields[0].tag === der.CONTEXT) fields.shift();
    const [serial, , issuer, validity, subject, spki, ...rest] = fields;
    const [from, to] = der.childrenOf(validity).map(der.timeOf);
    this.#parts = { tbs, algorithm, signature, serial, issuer, from, to, subject, spki };
    for (const { tag, ...place } of rest) {
      if (tag !== 0xa3) continue;
      for (const extension of der.childrenOf(der.childrenOf(place)[0])) {
        const parts = der.childrenOf(extension);
        const value = parts[parts.length - 1];
        this.#extensions[der.oidOf(parts[0])] = der.elementAt(value.bytes, value.start, value.end);
      }
    }
  }
  // Parses PEM or DER. Throws Node's error for other bytes.
  static parse(value) {
    const bytes = bytesOf(value);
    const text = native.decode(bytes, 0, bytes.length, latin1);
    const [block] = blocksOf(text);
    try {
      return new Certificate(block ?? bytes.slice());
    } catch {
      if (block === undefined && bytes[0] !== der.SEQUENCE) throw opensslError('0480006C', 'PEM routines', 'no start line', true);
      throw opensslError('068000A8', 'asn1 encoding routines', 'wrong tag', true);
    }
  }
  get bytes() {
    return this.#der;
  }
  get subjectBytes() {
    return der.wholeOf(this.#parts.subject);
  }
  get issuerBytes() {
    return der.wholeOf(this.#parts.issuer);
  }
  get isSelfIssued() {
    return same(this.subjectBytes, this.issuerBytes);
  }
  // Sets the certificate of the issuer, from the peer's chain.
  setIssuer(certificate) {
    this.#issuer = certificate;
  }
  hasKey(spki) {
    return same(der.wholeOf(this.#parts.spki), spki);
  }
  toBuffer() {
    return Buffer.from(this.#der);
  }

  subject() {
    return names.lines(this.#parts.subject);
  }
  issuer() {
    return names.lines(this.#parts.issuer);
  }
  subjectAltName() {
    const extension = this.#extensions[ALTERNATIVE_NAMES];
    return extension === undefined ? undefined : names.alternatives(extension);
  }
  infoAccess() {
    const extension = this.#extensions[INFORMATION_ACCESS];
    return extension === undefined ? undefined : names.access(extension);
  }
  validFrom() {
    return timeText(this.#parts.from);
  }
  validTo() {
    return timeText(this.#parts.to);
  }
  validFromDate() {
    return new Date(this.#parts.from);
  }
  validToDate() {
    return new Date(this.#parts.to);
  }
  fingerprint() {
    return this.#digest('sha1');
  }
  fingerprint256() {
    return this.#digest('sha256');
  }
  fingerprint512() {
    return this.#digest('sha512');
  }
  #digest(name) {
    const { id, length } = digestNamed(name);
    return der.hexOf(system.digest(id, this.#der, length)).replace(/..(?!$)/g, '$&:');
  }
  keyUsage() {
    const extension = this.#extensions[EXTENDED_KEY_USAGE];
    return extension === undefined ? undefined : der.childrenOf(extension).map(der.oidOf);
  }
  serialNumber() {
    return der.integerOf(this.#parts.serial);
  }
  signatureAlgorithmOid() {
    return der.oidOf(der.childrenOf(this.#parts.algorithm)[0]);
  }
  signatureAlgorithm() {
    return ALGORITHMS[this.signatureAlgorithmOid()]?.[0];
  }
  raw() {
    return this.toBuffer();
  }
  pem() {
    return toPem(this.#der);
  }
  publicKey() {
    const handle = new keys.KeyObjectHandle();
    handle.init(keys.PUBLIC, der.wholeOf(this.#parts.spki), DER, SPKI);
    return handle;
  }
  checkCA() {
    const extension = this.#extensions[BASIC_CONSTRAINTS];
    if (extension === undefined) return false;
    const [flag] = der.childrenOf(extension);
    if (flag?.tag !== 1 || der.contentOf(flag)[0] === 0) return false;
    const usage = this.#extensions[KEY_USAGE];
    return usage === undefined || (der.contentOf(usage)[1] & 4) !== 0;
  }
  checkHost(name, flags) {
    return names.matchHost(this.#names(2), names.commonNames(this.#parts.subject), name, flags);
  }
  checkEmail(address) {
    const found = [...this.#names(1), ...names.emails(this.#parts.subject)];
    return found.some((one) => names.sameEmail(one, address)) ? address : undefined;
  }
  checkIP(address) {
    const extension = this.#extensions[ALTERNATIVE_NAMES];
    return extension !== undefined && names.hasAddress(extension, address) ? address : undefined;
  }
  #names(kind) {
    const extension = this.#extensions[ALTERNATIVE_NAMES];
    return extension === undefined ? [] : names.ofKind(extension, kind);
  }
  checkIssued(other) {
    return same(this.issuerBytes, other.subjectBytes);
  }
  checkPrivateKey(handle) {
    return this.hasKey(handle.as(keys.PUBLIC).der);
  }
  verify(handle) {
    const { Verify } = require('../crypto/sign.js');
    const digest = ALGORITHMS[this.signatureAlgorithmOid()]?.[1];
    if (digest === undefined) return false;
    try {
      const verify = new Verify();
      verify.init(digest);
      verify.update(der.wholeOf(this.#parts.tbs));
      const signature = der.contentOf(this.#parts.signature).subarray(1);
      return verify.verify(handle, undefined, undefined, undefined, undefined, signature, undefined, undefined, 0);
    } catch {
      return false;
    }
  }
  getIssuerCert() {
    return this.#issuer;
  }

  // Returns the object of `getPeerCertificate`. Most programs read two of its properties, so each
  // property is made at its first access.
  toLegacy() {
    let known;
    const fact = (name) => () => {
      known ??= this.#keyFacts();
      return known[name];
    };
    const properties = {
      subject: () => names.object(this.#parts.subject),
      issuer: () => names.object(this.#parts.issuer),
      subjectaltname: () => this.subjectAltName(),
      infoAccess: () => this.infoAccess(),
      ca: () => this.checkCA(),
      modulus: fact('modulus'),
      exponent: fact('exponent'),
      pubkey: fact('pubkey'),
      bits: fact('bits'),
      valid_from: () => this.validFrom(),
      valid_to: () => this.validTo(),
      fingerprint: () => this.fingerprint(),
      fingerprint256: () => this.fingerprint256(),
      fingerprint512: () => this.fingerprint512(),
      ext_key_usage: () => this.keyUsage(),
      serialNumber: () => this.serialNumber(),
      raw: () => this.toBuffer(),
      asn1Curve: fact('asn1Curve'),
      nistCurve: fact('nistCurve'),
    };
    const legacy = {};
    for (const name in properties) native.defineLazyProperty(legacy, name, properties[name]);
    return legacy;
  }
  #keyFacts() {
    const spki = der.wholeOf(this.#parts.spki);
    let handle;
    try {
      handle = this.publicKey();
    } catch {
      return { pubkey: Buffer.from(spki) };
    }
    const type = handle.getAsymmetricKeyType();
    if (type === 'rsa' || type === 'rsa-pss') {
      const [modulus, exponent] = handle.parts();
      const digits = der.hexOf(modulus);
      const bits = handle.keyDetail({}).modulusLength;
      const power = der.hexOf(exponent).replace(/^0+/, '');
      return { modulus: digits, bits, exponent: `0x${power}`, pubkey: Buffer.from(spki) };
    }
    if (type !== 'ec') return { pubkey: Buffer.from(spki) };
    const { namedCurve } = handle.keyDetail({});
    const key = der.childrenOf(der.elementAt(spki, 0))[1];
    const bits = Number(/\d{3}/.exec(namedCurve)?.[0] ?? 0);
    const nistCurve = NIST_CURVES[namedCurve];
    return { bits, pubkey: toBuffer(der.contentOf(key).slice(1)), asn1Curve: namedCurve, nistCurve };
  }
}

function timeText(milliseconds) {
  const date = new Date(milliseconds);
  const two = (number) => `${number}`.padStart(2, '0');
  const time = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(':');
  return `${MONTHS[date.getUTCMonth()]} ${`${date.getUTCDate()}`.padStart(2)} ${time} ${date.getUTCFullYear()} GMT`;
}

// Joins the certificates of a peer to a chain. Returns the peer's own certificate.
function chainOf(all) {
  const [own] = all;
  let last = own;
  for (const seen = new Set([own]); last !== undefined && !last.isSelfIssued; ) {
    const next = all.find((one) => !seen.has(one) && last.checkIssued(one));
    if (next === undefined) break;
    seen.add(next);
    last.setIssuer(next);
    last = next;
  }
  if (last?.isSelfIssued) last.setIssuer(last);
  return own;
}

// Returns the object of a certificate, with the objects of its issuers if `detailed` is set.
function legacyOf(certificate, detailed) {
  const legacy = certificate.toLegacy();
  if (!detailed) return legacy;
  const issuer = certificate.getIssuerCert();
  if (issuer === certificate) legacy.issuerCertificate = legacy;
  else if (issuer !== undefined) legacy.issuerCertificate = legacyOf(issuer, true);
  return legacy;
}

// Returns the certificate of a session's peer with its chain. The edge adds the authority that the
// peer has not sent. Returns undefined without a peer or a readable certificate.
function peerOf(facts) {
  if (facts === undefined || facts.chain.length === 0) return undefined;
  try {
    return chainOf(facts.chain.map((text) => new Certificate(new Uint8Array(native.encode(text, native.encodings.hex)))));
  } catch {
    return undefined;
  }
}

module.exports = { Certificate, blocksOf, toPem, legacyOf, peerOf };
