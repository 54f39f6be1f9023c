// Signatures: the classes `Sign` and `Verify`, which digest their input piece by piece, and
// `SignJob`, which receives the whole input. Next: crates/crypto/src/sign.rs.
'use strict';

const { bytesOf, request, toArrayBuffer, toBuffer } = require('./bytes.js');
const { digestNamed } = require('./digests.js');
const { Fault, coded, faultOf, opensslError, thrown } = require('./faults.js');
const { Hash } = require('./hash.js');
const { CryptoJob, computeSync } = require('./jobs.js');
const { keyArgument } = require('./key-input.js');

const SIGN = 20;
const VERIFY = 21;
const ABSENT = -100;
const P1363 = 1;
const MODE_SIGN = 0;

// The kernel's numbers of two kinds of keys (crates/crypto/src/key/mod.rs).
const EDWARDS = 4;
const MONTGOMERY = 5;

const PROVIDER = 'Provider routines';

function signingFailure(fault, signs) {
  if (fault === Fault.Padding) return opensslError('1C8000A5', PROVIDER, 'illegal or unsupported padding mode');
  if (fault === Fault.KeyType) return opensslError('1C8000AE', PROVIDER, 'digest not allowed');
  if (fault === Fault.SaltLength) return opensslError('1C8000AC', PROVIDER, 'pss saltlen too small');
  if (fault === Fault.DigestTooBig || fault === Fault.DataTooLarge) return thrown(fault, undefined, true);
  return thrown(fault, signs ? 'Sign operation failed' : 'Verify operation failed');
}

// Throws if the salt length for an RSA key is below -4, the least of OpenSSL's special values.
function checkOptions(key, { saltLength }) {
  if (key.kind <= 2 && saltLength !== undefined && saltLength < -4)
    throw opensslError('1C800070', PROVIDER, 'invalid salt length');
}

function fieldsFor(key, digest, isDigest, data, { padding, saltLength, encoding }) {
  return [key.der, key.isPrivate, digest?.id, isDigest, data, padding ?? ABSENT, saltLength ?? ABSENT, encoding === P1363];
}

class Signing {
  #hash;
  #digest;

  init(name) {
    this.#digest = digestNamed(name);
    if (this.#digest === undefined) throw coded(TypeError, 'ERR_CRYPTO_INVALID_DIGEST', 'Invalid digest');
    this.#hash = new Hash(this.#digest.name, undefined, this.#digest.id);
  }

  #feed() {
    if (this.#hash === undefined) throw coded(Error, 'ERR_CRYPTO_INVALID_STATE', 'Not initialised');
    return this.#hash;
  }

  update(data, encoding) {
    this.#feed().update(data, encoding);
  }

  // Passes the digest of the input to the kernel. Returns the kernel's reply, or throws the error
  // of a fault.
  settle(command, key, options, ...more) {
    const data = this.#feed().digest();
    this.#hash = undefined;
    if (key.kind === EDWARDS || key.kind === MONTGOMERY) {
      throw coded(Error, 'ERR_CRYPTO_UNSUPPORTED_OPERATION', 'Unsupported crypto operation');
    }
    checkOptions(key, options);
    const result = computeSync(command, request(...fieldsFor(key, this.#digest, true, data, options), ...more));
    const fault = faultOf(result);
    if (fault !== undefined) throw signingFailure(fault, command === SIGN);
    return result;
  }
}

class Sign extends Signing {
  sign(data, format, type, passphrase, namedCurve, padding, saltLength, encoding) {
    const key = keyArgument(data, format, type, passphrase, namedCurve, true);
    return toBuffer(this.settle(SIGN, key, { padding, saltLength, encoding }));
  }
}

class Verify extends Signing {
  verify(data, format, type, passphrase, namedCurve, signature, padding, saltLength, encoding) {
    const key = keyArgument(data, format, type, passphrase, namedCurve, false);
    return this.settle(VERIFY, key, { padding, saltLength, encoding }, bytesOf(signature))[0] === 1;
  }
}

class SignJob extends CryptoJob {
  static provider = 'SIGNREQUEST';

  #signs;

  // prettier-ignore
  constructor(
    mode,
    signMode,
    data,
    format,
    type,
    passphrase,
    namedCurve,
    message,
    name,
    saltLength,
    padding,
    encoding,
    context,
    signature,
  ) {
    const signs = signMode === MODE_SIGN;
    const key = keyArgument(data, format, type, passphrase, namedCurve, signs);
    const digest = name === undefined || name === null ? undefined : digestNamed(name);
    if (name !== undefined && name !== null && digest === undefined) {
      throw coded(TypeError, 'ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${name}`);
    }
    if (key.kind === EDWARDS && digest !== undefined) throw opensslError('1C80007A', PROVIDER, 'invalid digest');
    if (key.kind === MONTGOMERY) throw thrown(Fault.KeyType);
    const options = { padding, saltLength, encoding };
    checkOptions(key, options);
    super(mode);
    this.#signs = signs;
    this.command = signs ? SIGN : VERIFY;
    const more = signs ? [] : [bytesOf(signature)];
    this.request = request(...fieldsFor(key, digest, false, bytesOf(message), options), ...more);
  }

  value(bytes) {
    return this.#signs ? toArrayBuffer(bytes) : bytes[0] === 1;
  }

  failure(fault) {
    return signingFailure(fault, this.#signs);
  }
}

module.exports = { Sign, Verify, SignJob };
