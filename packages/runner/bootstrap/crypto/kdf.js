// The jobs that derive bytes (PBKDF2, scrypt, HKDF), and the jobs for Web Crypto's digests and
// message authentication codes. Next: jobs.js; crates/crypto/src/command.rs for the fields of the
// requests.
'use strict';

const { bytesOf, request, toArrayBuffer } = require('./bytes.js');
const { digestNamed } = require('./digests.js');
const { Fault, coded, reported } = require('./faults.js');
const { invalidDigest } = require('./hash.js');
const { CryptoJob } = require('./jobs.js');

const PBKDF2 = 1;
const HKDF = 2;
const SCRYPT = 3;
const DIGEST = 6;
const HMAC = 7;

const MODE_SIGN = 0;

class BitsJob extends CryptoJob {
  static provider = 'DERIVEBITSREQUEST';

  value(bytes) {
    return toArrayBuffer(bytes);
  }

  failure(fault) {
    return reported(fault, 'Deriving bits failed');
  }
}

// Throws, because OpenSSL refuses to derive zero bytes.
function deriveNothing() {
  throw new Error('Deriving bits failed');
}

class PBKDF2Job extends BitsJob {
  static provider = 'PBKDF2REQUEST';

  constructor(mode, password, salt, iterations, length, name) {
    const digest = digestNamed(name);
    if (digest === undefined) throw invalidDigest(name);
    super(mode);
    if (length === 0) this.immediate = deriveNothing;
    this.command = PBKDF2;
    this.request = request(digest.id, bytesOf(password), bytesOf(salt), iterations, length);
  }

  failure(fault) {
    if (fault === Fault.Unsupported) return new Error('error:1C8000B7:Provider routines::xof digests not allowed');
    return super.failure(fault);
  }
}

class HKDFJob extends BitsJob {
  constructor(mode, name, key, salt, info, length) {
    const digest = digestNamed(name);
    if (digest === undefined) throw invalidDigest(name);
    if (length > 255 * digest.length) throw coded(RangeError, 'ERR_CRYPTO_INVALID_KEYLEN', 'Invalid key length');
    super(mode);
    if (length === 0) this.immediate = deriveNothing;
    this.command = HKDF;
    this.request = request(digest.id, bytesOf(key), bytesOf(salt), bytesOf(info), length);
  }
}

const MEMORY_LIMIT = 'error:030000AC:digital envelope routines::memory limit exceeded';

class ScryptJob extends BitsJob {
  static provider = 'SCRYPTREQUEST';

  constructor(mode, password, salt, N, r, p, maxmem, length) {
    const problem = costProblem(N, r, p, maxmem);
    if (problem !== undefined) throw coded(RangeError, 'ERR_CRYPTO_INVALID_SCRYPT_PARAMS', problem);
    if (length === 0) {
      super(mode);
      this.immediate = () => new ArrayBuffer(0);
      return;
    }
    super(mode);
    this.command = SCRYPT;
    this.request = request(bytesOf(password), bytesOf(salt), N, r, p, Math.min(maxmem, Number.MAX_SAFE_INTEGER), length);
  }
}

// Returns the message of the first rule of OpenSSL that the costs break, or undefined. The file
// crates/crypto/src/scrypt.rs repeats the rules, because a program can make requests without this
// file.
function costProblem(N, r, p, maxmem) {
  if (N < 2 || (BigInt(N) & (BigInt(N) - 1n)) !== 0n) return 'Invalid scrypt params';
  const tooMuch = p > (2 ** 30 - 1) / r || (16 * r <= 63 && N >= 2 ** (16 * r));
  const needed = 128 * r * p + 128 * r * (N + 2);
  return tooMuch || needed > maxmem ? `Invalid scrypt params: ${MEMORY_LIMIT}` : undefined;
}

class HashJob extends BitsJob {
  static provider = 'HASHREQUEST';

  constructor(mode, name, data, bits) {
    const digest = digestNamed(name);
    if (digest === undefined) throw invalidDigest(name);
    super(mode);
    const length = bits === undefined ? undefined : bits / 8;
    if (length === 0) {
      this.immediate = () => new ArrayBuffer(0);
      return;
    }
    this.command = DIGEST;
    this.request = request(digest.id, bytesOf(data), length);
  }
}

class HmacJob extends CryptoJob {
  static provider = 'SIGNREQUEST';

  #signature;

  constructor(mode, signMode, name, key, data, signature) {
    const digest = digestNamed(name);
    if (digest === undefined) throw invalidDigest(name);
    super(mode);
    this.#signature = signMode === MODE_SIGN ? undefined : bytesOf(signature).slice();
    this.command = HMAC;
    this.request = request(digest.id, bytesOf(key), bytesOf(data));
  }

  value(code) {
    if (this.#signature === undefined) return toArrayBuffer(code);
    return code.length === this.#signature.length && equalInConstantTime(code, this.#signature);
  }
}

// Compares two views of equal length. The time depends only on the length.
function equalInConstantTime(left, right) {
  let difference = 0;
  for (let i = 0; i < left.length; i++) difference |= left[i] ^ right[i];
  return difference === 0;
}

module.exports = { PBKDF2Job, HKDFJob, ScryptJob, HashJob, HmacJob, equalInConstantTime };
