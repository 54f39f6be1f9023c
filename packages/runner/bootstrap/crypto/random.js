// Random bytes and primes. The bytes come from the kernel at each call, because two processes of
// one image, or two clones, must never receive equal bytes. This file keeps no bytes;
// random-kept.js records the bytes that Node keeps. Next: jobs.js; crates/crypto/src/prime.rs.
'use strict';

const { bytesOf, request, toArrayBuffer } = require('./bytes.js');
const { coded, reported, Fault } = require('./faults.js');
const { CryptoJob } = require('./jobs.js');
const { seen } = require('./random-kept.js');

const RANDOM_PRIME = 4;
const CHECK_PRIME = 5;

class RandomBytesJob extends CryptoJob {
  static provider = 'RANDOMBYTESREQUEST';

  #target;

  constructor(mode, buffer, offset, size) {
    super(mode);
    this.#target = bytesOf(buffer).subarray(offset, offset + size);
    seen(this.#target);
  }

  immediate() {
    native.random(this.#target);
  }
}

const outOfRange = (name) => coded(RangeError, 'ERR_OUT_OF_RANGE', `invalid ${name}`);

class RandomPrimeJob extends CryptoJob {
  static provider = 'RANDOMPRIMEREQUEST';

  constructor(mode, bits, safe, add, rem) {
    const [modulus, remainder] = [add, rem].map((value) => (value === undefined ? undefined : bigIntOf(bytesOf(value))));
    if (modulus !== undefined) {
      if (modulus.toString(2).length > bits) throw outOfRange('options.add');
      if (remainder !== undefined && modulus <= remainder) throw outOfRange('options.rem');
    }
    super(mode);
    this.command = RANDOM_PRIME;
    this.request = request(bits, safe, bytesOf(modulus === 0n ? undefined : add), bytesOf(rem));
  }

  value(bytes) {
    return toArrayBuffer(bytes);
  }

  failure(fault) {
    if (fault === Fault.TooLong) return new Error('error:0180007B:bignum routines::bits too large');
    return reported(fault, 'could not generate prime');
  }
}

class CheckPrimeJob extends CryptoJob {
  static provider = 'CHECKPRIMEREQUEST';

  constructor(mode, candidate) {
    super(mode);
    this.command = CHECK_PRIME;
    this.request = request(bytesOf(candidate));
  }

  value(bytes) {
    return bytes[0] === 1;
  }
}

const bigIntOf = (bytes) => BigInt(`0x0${native.decode(bytes, 0, bytes.length, native.encodings.hex)}`);

module.exports = { RandomBytesJob, RandomPrimeJob, CheckPrimeJob };
