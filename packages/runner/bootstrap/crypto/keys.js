// `KeyObjectHandle`: the key object of Node's library. A secret key is stored as bytes. An
// asymmetric key is stored as DER (SubjectPublicKeyInfo or PKCS#8), which the kernel has parsed and
// checked. Each use passes the key to the kernel, which stores no key. A key therefore uses only
// its program's memory, is freed with its object, and needs no work when a runtime is cloned. Next:
// key-input.js, which makes keys; key-output.js, which writes keys; classes.js, which makes the
// objects of programs.
'use strict';

const { bytesOf, fieldsOf, numberOf, request, toBuffer } = require('./bytes.js');
const { curveById } = require('./curves.js');
const { digestById } = require('./digests.js');
const { coded, faultOf, thrown } = require('./faults.js');
const { equalInConstantTime } = require('./kdf.js');
const { computeSync } = require('./jobs.js');
const { MAX_CHUNK, run } = require('./system.js');

const SECRET = 0;
const PUBLIC = 1;
const PRIVATE = 2;

const KEY_PUBLIC = 11;
const KEY_PARTS = 12;

// The kernel's kinds; the index is the number (crates/crypto/src/key/mod.rs).
const KINDS = [undefined, 'rsa', 'rsa-pss', 'ec', 'ed25519', 'x25519'];

// Runs a quick command of the kernel, or a job if the request is long. Returns bytes, or a fault.
function command(number, ...fields) {
  const bytes = request(...fields);
  return bytes.length <= MAX_CHUNK ? run(number, bytes) : computeSync(number, bytes);
}

// Runs a command that succeeds for every valid key. Throws the error of a fault.
function certain(number, ...fields) {
  const result = command(number, ...fields);
  if (typeof result === 'number') throw thrown(faultOf(result));
  return result;
}

class KeyObjectHandle {
  #type;
  #kind = 0;
  #bytes;

  init(type, data, format, encoding, passphrase, namedCurve) {
    const input = require('./key-input.js');
    if (type === SECRET) {
      this.#type = SECRET;
      this.#bytes = input.secretBytes(data, format);
      return;
    }
    const found =
      data instanceof KeyObjectHandle
        ? data.as(type)
        : input.keyFrom(data, format, encoding, passphrase, namedCurve, type === PRIVATE);
    this.set(found);
  }

  // Sets the key from the kernel's description: `{ kind, isPrivate, der }`.
  set({ kind, isPrivate, der }) {
    this.#type = isPrivate ? PRIVATE : PUBLIC;
    this.#kind = kind;
    this.#bytes = der;
    return this;
  }

  setSecret(bytes) {
    this.#type = SECRET;
    this.#bytes = bytes;
    return this;
  }

  /** Returns the key, or the public part of a private key if `type` is PUBLIC. */
  as(type) {
    const own = { kind: this.#kind, isPrivate: this.#type === PRIVATE, der: this.#bytes };
    return type === PUBLIC && own.isPrivate ? described(certain(KEY_PUBLIC, own.der)) : own;
  }

  get secretBytes() {
    return this.#type === SECRET ? this.#bytes : undefined;
  }

  getKeyType() {
    return this.#type;
  }

  getSymmetricKeySize() {
    return this.#bytes.length;
  }

  getAsymmetricKeyType() {
    return KINDS[this.#kind];
  }

  /**
   * Returns the parts of an asymmetric key: the fields of crates/crypto/src/key/parts.rs, without
   * the kind.
   */
  parts() {
    return fieldsOf(certain(KEY_PARTS, this.#bytes, this.#type === PRIVATE)).slice(1);
  }

  checkEcKeyData() {
    // A key was checked when it was made, so the check always succeeds.
    return true;
  }

  keyDetail(details) {
    const parts = this.parts();
    const type = this.getAsymmetricKeyType();
    if (type === 'ec') details.namedCurve = curveById(numberOf(parts[0])).name;
    if (type !== 'rsa' && type !== 'rsa-pss') return details;
    const [modulus, exponent] = parts;
    details.modulusLength = modulus.length * 8 - Math.clz32(modulus[0]) + 24;
    details.publicExponent = exponent.slice().buffer;
    const [hash, mgf, saltLength] = parts.slice(8).map(numberOf);
    if (hash === -1) return details;
    details.hashAlgorithm = digestById(hash).name;
    details.mgf1HashAlgorithm = digestById(mgf).name;
    details.saltLength = saltLength;
    return details;
  }

  equals(other) {
    const [left, right] = [this.#bytes, other.#bytes];
    return this.#type === other.#type && left.length === right.length && equalInConstantTime(left, right);
  }

  export(format, encoding, cipher, passphrase) {
    if (this.#type === SECRET) return toBuffer(this.#bytes.slice());
    const { exported } = require('./key-output.js');
    return exported(this.#bytes, this.#type === PRIVATE, { format, encoding, cipher, passphrase });
  }

  exportJwk(into) {
    return require('./key-output.js').toJwk(this, into);
  }

  rawPublicKey() {
    return toBuffer(this.#okp(0));
  }

  rawPrivateKey() {
    return toBuffer(this.#okp(1));
  }

  #okp(part) {
    if (this.#kind < 4) {
      const message = 'The selected key encoding is incompatible with the key type';
      throw coded(Error, 'ERR_CRYPTO_INCOMPATIBLE_KEY_OPTIONS', message);
    }
    return this.parts()[part].slice();
  }

  rawSeed() {
    throw coded(Error, 'ERR_CRYPTO_OPERATION_FAILED', 'Failed to get raw seed');
  }

  exportECPublicRaw(form) {
    return require('./key-output.js').ecPoint(this.parts(), form);
  }

  exportECPrivateRaw() {
    return toBuffer(this.parts()[3].slice());
  }
}

// Converts the kernel's description of a key to `{ kind, isPrivate, der }`.
function described(bytes) {
  const [kind, isPrivate, der] = fieldsOf(bytes);
  return { kind: numberOf(kind), isPrivate: numberOf(isPrivate) === 1, der: der.slice() };
}

module.exports = { KeyObjectHandle, described, command, certain, bytesOf, SECRET, PUBLIC, PRIVATE, KINDS };
