// Shared secrets: the class `ECDH`, and `DHBitsJob` under `crypto.diffieHellman` and Web Crypto's
// ECDH and X25519. Next: crates/crypto/src/asymmetric.rs, `exchange`.
'use strict';

const { bytesOf, request, toArrayBuffer, toBuffer } = require('./bytes.js');
const { curveNamed } = require('./curves.js');
const { Fault, coded, faultOf, opensslError, reported, thrown } = require('./faults.js');
const { CryptoJob, computeSync } = require('./jobs.js');
const { invalidCurve, keyArgument } = require('./key-input.js');
const { inForm } = require('./key-output.js');
const keys = require('./keys.js');

const BUILD = 13;
const CONVERT = 16;
const GENERATE = 17;
const EXCHANGE = 19;
const EC = 3;

const mismatch = ['1C8000CB', 'Provider routines', 'mismatching domain parameters'];

class DHBitsJob extends CryptoJob {
  static provider = 'DERIVEBITSREQUEST';

  command = EXCHANGE;

  constructor(mode, ...parts) {
    const [other, own] = [keyArgument(...parts.slice(0, 5), false), keyArgument(...parts.slice(5, 10), true)];
    super(mode);
    this.request = request(own.der, other.der, other.isPrivate);
  }

  value(bytes) {
    return toArrayBuffer(bytes);
  }

  failure(fault) {
    if (fault === Fault.KeyType) return opensslError(...mismatch);
    if (fault === Fault.NeutralElement) return thrown(fault);
    return reported(fault, 'Deriving bits failed');
  }
}

const failed = (message) => coded(Error, 'ERR_CRYPTO_OPERATION_FAILED', message);
const notAPoint = () => failed('Failed to convert Buffer to EC_POINT');

class ECDH {
  #curve;
  #point;
  #secret;

  constructor(name) {
    this.#curve = curveNamed(name);
    if (this.#curve === undefined) throw invalidCurve();
  }

  #take({ der }) {
    const handle = new keys.KeyObjectHandle().set({ kind: EC, isPrivate: true, der });
    const [, x, y] = handle.parts();
    this.#secret = handle;
    this.#point = Uint8Array.from([4, ...x, ...y]);
  }

  generateKeys() {
    const result = computeSync(GENERATE, request(EC, this.#curve.id));
    if (typeof result === 'number') throw failed('Failed to generate key');
    this.#take(keys.described(result));
  }

  computeSecret(other) {
    const point = keys.command(BUILD, EC, this.#curve.id, bytesOf(other), new Uint8Array(0));
    // Node's JavaScript makes its error from this string.
    if (typeof point === 'number' || this.#secret === undefined) return 'ERR_CRYPTO_ECDH_INVALID_PUBLIC_KEY';
    const { der } = keys.described(point);
    const result = computeSync(EXCHANGE, request(this.#secret.as(keys.PRIVATE).der, der, false));
    if (typeof result === 'number') throw thrown(faultOf(result), 'Failed to compute ECDH key');
    return toBuffer(result);
  }

  getPublicKey(form) {
    if (this.#point === undefined) throw failed('Failed to get ECDH public key');
    return toBuffer(inForm(this.#curve.id, this.#point.slice(), form));
  }

  getPrivateKey() {
    if (this.#secret === undefined) throw failed('Failed to get ECDH private key');
    return toBuffer(this.#secret.parts()[3].slice());
  }

  setPrivateKey(bytes) {
    const result = keys.command(BUILD, EC, this.#curve.id, new Uint8Array(0), bytesOf(bytes));
    if (typeof result === 'number' || bytesOf(bytes).length === 0) {
      throw coded(RangeError, 'ERR_CRYPTO_INVALID_KEYTYPE', 'Private key is not valid for specified curve.');
    }
    this.#take(keys.described(result));
  }

  setPublicKey(bytes) {
    const result = keys.command(CONVERT, this.#curve.id, bytesOf(bytes), false);
    if (typeof result === 'number') throw notAPoint();
    this.#point = result.slice();
  }
}

function ECDHConvertKey(bytes, name, form) {
  const curve = curveNamed(name);
  if (curve === undefined) throw invalidCurve();
  const point = keys.command(CONVERT, curve.id, bytesOf(bytes), false);
  if (typeof point === 'number') throw notAPoint();
  return toBuffer(inForm(curve.id, point.slice(), form));
}

module.exports = { DHBitsJob, ECDH, ECDHConvertKey };
