// Diffie-Hellman over primes: the classes `DiffieHellman` and `DiffieHellmanGroup`. The kernel
// computes the powers and the primes. Next: groups.js; crates/crypto/src/rsa.rs, `power`.
'use strict';

const { bytesOf, request, toBuffer } = require('./bytes.js');
const { Fault, coded, faultOf, opensslError, thrown } = require('./faults.js');
const { groupPrime } = require('./groups.js');
const { computeSync } = require('./jobs.js');

const RANDOM_PRIME = 4;
const CHECK_PRIME = 5;
const POWER = 22;

// The flags that OpenSSL's DH_check returns.
const P_NOT_PRIME = 1;
const P_NOT_SAFE_PRIME = 2;
const NOT_SUITABLE_GENERATOR = 8;
const MODULUS_TOO_SMALL = 128;

const LEAST_BITS = 512;
// The most bits of a private exponent: at least twice the strength of the largest group. A longer
// exponent would not be harder to find.
const EXPONENT_BITS = 512;

const { hex } = native.encodings;
const numberOf = (bytes) => BigInt(`0x0${native.decode(bytes, 0, bytes.length, hex)}`);

function bytesOfNumber(number) {
  const text = number.toString(16);
  return new Uint8Array(native.encode(text.length % 2 === 0 ? text : `0${text}`, hex));
}

function certain(command, ...fields) {
  const result = computeSync(command, request(...fields));
  if (typeof result === 'number') throw thrown(faultOf(result));
  return result;
}

const isPrime = (number) => certain(CHECK_PRIME, bytesOfNumber(number))[0] === 1;
const dhError = (number, reason) => {
  const error = opensslError(number, 'Diffie-Hellman routines', reason);
  return Object.assign(error, { code: error.code.replace('ERR_OSSL_', 'ERR_OSSL_DH_') });
};

function check(prime, generator) {
  let flags = 0;
  if (prime.toString(2).length < LEAST_BITS) flags |= MODULUS_TOO_SMALL;
  if (generator <= 1n || generator >= prime - 1n) flags |= NOT_SUITABLE_GENERATOR;
  if (!isPrime(prime)) flags |= P_NOT_PRIME;
  else if (!isPrime((prime - 1n) / 2n)) flags |= P_NOT_SAFE_PRIME;
  return flags;
}

function generatorFrom(value) {
  const generator = typeof value === 'number' ? BigInt(value) : numberOf(bytesOf(value));
  if (generator < 2n) throw dhError('02800065', 'bad generator');
  return generator;
}

class Exchange {
  #prime;
  #generator;
  #public;
  #private;

  constructor(prime, generator, verifyError) {
    this.#prime = prime;
    this.#generator = generator;
    this.verifyError = verifyError;
  }

  generateKeys() {
    this.#private ??= this.#exponent();
    this.#public = this.#power(bytesOfNumber(this.#generator), this.#private);
    return this.getPublicKey();
  }

  #exponent() {
    const bits = Math.min(this.#prime.toString(2).length - 1, EXPONENT_BITS);
    const bytes = new Uint8Array(Math.max(1, Math.ceil(bits / 8)));
    native.random(bytes);
    bytes[0] &= 0xff >> (bytes.length * 8 - bits);
    return bytesOfNumber(numberOf(bytes) | 1n);
  }

  #power(base, exponent) {
    const result = computeSync(POWER, request(base, exponent, bytesOfNumber(this.#prime)));
    if (typeof result === 'number') {
      if (faultOf(result) === Fault.Memory) throw thrown(Fault.Memory);
      throw coded(Error, 'ERR_CRYPTO_OPERATION_FAILED', 'Failed to compute shared secret');
    }
    return result;
  }

  computeSecret(other) {
    if (this.#private === undefined) throw coded(Error, 'ERR_CRYPTO_OPERATION_FAILED', 'Failed to compute shared secret');
    const key = numberOf(bytesOf(other));
    if (key <= 1n) throw coded(RangeError, 'ERR_CRYPTO_INVALID_KEYLEN', 'Supplied key is too small');
    if (key >= this.#prime - 1n) throw coded(RangeError, 'ERR_CRYPTO_INVALID_KEYLEN', 'Supplied key is too large');
    return toBuffer(this.#power(bytesOf(other), this.#private));
  }

  getPrime() {
    return toBuffer(bytesOfNumber(this.#prime));
  }

  getGenerator() {
    return toBuffer(bytesOfNumber(this.#generator));
  }

  getPublicKey() {
    return toBuffer(this.#given(this.#public, 'public'));
  }

  getPrivateKey() {
    return toBuffer(this.#given(this.#private, 'private'));
  }

  #given(key, name) {
    if (key !== undefined) return key.slice();
    throw coded(Error, 'ERR_CRYPTO_INVALID_STATE', `No ${name} key - did you forget to generate one?`);
  }

  setPublicKey(key) {
    this.#public = bytesOf(key).slice();
  }

  setPrivateKey(key) {
    this.#private = bytesOf(key).slice();
  }
}

class DiffieHellman extends Exchange {
  constructor(sizeOrPrime, generator) {
    if (typeof sizeOrPrime === 'number') {
      if (sizeOrPrime < 2 || (typeof generator === 'number' && generator < 2)) throw dhError('0280007E', 'modulus too small');
      if (sizeOrPrime < LEAST_BITS) throw coded(TypeError, 'ERR_INVALID_ARG_VALUE', 'Invalid DH parameters');
      const prime = certain(RANDOM_PRIME, sizeOrPrime, true, new Uint8Array(0), new Uint8Array(0));
      super(numberOf(prime), generatorFrom(generator), 0);
      return;
    }
    const [prime, base] = [numberOf(bytesOf(sizeOrPrime)), generatorFrom(generator)];
    super(prime, base, check(prime, base));
  }
}

class DiffieHellmanGroup extends Exchange {
  constructor(name) {
    const prime = groupPrime(name);
    if (prime === undefined) throw coded(Error, 'ERR_CRYPTO_UNKNOWN_DH_GROUP', 'Unknown DH group');
    super(numberOf(prime), 2n, 0);
  }
}

module.exports = { DiffieHellman, DiffieHellmanGroup };
