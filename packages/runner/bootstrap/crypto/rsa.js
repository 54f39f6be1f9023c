// Encryption with RSA: `publicEncrypt`, `publicDecrypt`, `privateEncrypt`, `privateDecrypt`, and
// Web Crypto's job. Next: crates/crypto/src/asymmetric.rs, `rsa_cipher`.
'use strict';

const { bytesOf, request, toArrayBuffer, toBuffer } = require('./bytes.js');
const { digestNamed } = require('./digests.js');
const { Fault, coded, faultOf, opensslError, thrown } = require('./faults.js');
const { CryptoJob, computeSync } = require('./jobs.js');
const { keyArgument } = require('./key-input.js');

const RSA_CIPHER = 18;
const OAEP = 4;
const MODE_ENCRYPT = 0;

const messageOf = (key, usePrivate, encrypt, padding, digest, label, data) =>
  request(key.der, key.isPrivate, usePrivate, encrypt, padding, digest.id, bytesOf(label), data);

function failure(fault, { usePrivate, encrypt }) {
  if (fault === Fault.KeyType) return opensslError('1C8000A5', 'Provider routines', 'illegal or unsupported padding mode');
  if (fault === Fault.DataLength && !encrypt) return opensslError('0200006C', 'rsa routines', 'data greater than mod len', true);
  if (fault === Fault.DataTooLarge && !encrypt) {
    return opensslError('02000084', 'rsa routines', 'data too large for modulus', true);
  }
  if (fault === Fault.Padding && !usePrivate) return opensslError('0200008A', 'rsa routines', 'invalid padding', true);
  return thrown(fault);
}

function cipherFunction(usePrivate, encrypt) {
  return (data, format, type, passphrase, namedCurve, buffer, padding, oaepHash, oaepLabel) => {
    const key = keyArgument(data, format, type, passphrase, namedCurve, usePrivate);
    if (key.kind > 2) throw thrown(Fault.KeyType);
    const digest = digestNamed(oaepHash ?? 'sha1');
    if (digest === undefined) throw coded(Error, 'ERR_OSSL_EVP_INVALID_DIGEST', 'Invalid digest used');
    const input = bytesOf(buffer);
    const result = computeSync(RSA_CIPHER, messageOf(key, usePrivate, encrypt, padding, digest, oaepLabel, input));
    const fault = faultOf(result);
    if (fault !== undefined) throw failure(fault, { usePrivate, encrypt });
    return toBuffer(result);
  };
}

class RSACipherJob extends CryptoJob {
  static provider = 'CIPHERREQUEST';

  command = RSA_CIPHER;

  constructor(mode, cipherMode, handle, data, variant, name, label) {
    super(mode);
    const encrypt = cipherMode === MODE_ENCRYPT;
    const key = keyArgument(handle);
    this.request = messageOf(key, !encrypt, encrypt, OAEP, digestNamed(name), label, bytesOf(data));
  }

  value(bytes) {
    return toArrayBuffer(bytes);
  }
}

module.exports = {
  publicEncrypt: cipherFunction(false, true),
  privateDecrypt: cipherFunction(true, false),
  privateEncrypt: cipherFunction(true, true),
  publicDecrypt: cipherFunction(false, false),
  RSACipherJob,
};
