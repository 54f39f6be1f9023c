// The jobs that make keys. In Web Crypto's mode a job returns CryptoKeys. Otherwise a job returns
// handles of key objects, or the keys in the requested encodings. Next: jobs.js;
// crates/crypto/src/asymmetric.rs, `generate`.
'use strict';

const { request } = require('./bytes.js');
const { newCryptoKey } = require('./classes.js');
const { curveNamed } = require('./curves.js');
const { digestNamed } = require('./digests.js');
const { Fault, coded, reported } = require('./faults.js');
const { CryptoJob } = require('./jobs.js');
const { invalidCurve } = require('./key-input.js');
const { delivered } = require('./key-output.js');
const { KeyObjectHandle, PUBLIC, described } = require('./keys.js');
const { unavailableError } = require('../errors/unavailable.js');

const GENERATE = 17;
const WEB_CRYPTO = 2;

class SecretKeyGenJob extends CryptoJob {
  static provider = 'KEYGENREQUEST';

  #mode;
  #bits;
  #key;

  constructor(mode, bits, algorithm, usages, extractable) {
    super(mode);
    this.#mode = mode;
    this.#bits = bits;
    this.#key = [algorithm, usages, extractable];
  }

  immediate() {
    const bytes = new Uint8Array(this.#mode === WEB_CRYPTO ? Math.ceil(this.#bits / 8) : Math.floor(this.#bits / 8));
    native.random(bytes);
    const spare = bytes.length * 8 - this.#bits;
    if (this.#mode === WEB_CRYPTO && spare > 0) bytes[bytes.length - 1] &= 0xff << spare;
    const handle = new KeyObjectHandle().setSecret(bytes);
    return this.#mode === WEB_CRYPTO ? newCryptoKey(handle, ...this.#key) : handle;
  }
}

class KeyPairGenJob extends CryptoJob {
  static provider = 'KEYPAIRGENREQUEST';

  command = GENERATE;
  #mode;
  #rest;

  // `rest` has the encodings of the public and the private key. In Web Crypto's mode `rest` has the
  // algorithm, the usages of each key, and whether the private key may be exported.
  constructor(mode, fields, rest) {
    super(mode);
    this.#mode = mode;
    this.#rest = rest;
    this.request = request(...fields);
  }

  value(bytes) {
    const secret = new KeyObjectHandle().set(described(bytes));
    const open = new KeyObjectHandle().set(secret.as(PUBLIC));
    if (this.#mode === WEB_CRYPTO) {
      const [algorithm, publicUsages, privateUsages, extractable] = this.#rest;
      return {
        publicKey: newCryptoKey(open, algorithm, publicUsages, true),
        privateKey: newCryptoKey(secret, algorithm, privateUsages, extractable),
      };
    }
    const [publicFormat, publicType, format, encoding, cipher, passphrase] = this.#rest;
    return [
      delivered(open, { format: publicFormat, encoding: publicType }),
      delivered(secret, { format, encoding, cipher, passphrase }),
    ];
  }

  failure(fault) {
    if (fault === Fault.Length) return new Error('error:1C8000AB:Provider routines::key size too small');
    if (fault === Fault.InvalidPrivateKey) return new Error('error:020000B2:rsa routines::pub exponent out of range');
    return reported(fault, 'Key generation job failed');
  }
}

const PSS = 1;

class RsaKeyPairGenJob extends KeyPairGenJob {
  constructor(mode, variant, bits, exponent, ...rest) {
    if (variant !== PSS || mode === WEB_CRYPTO) {
      super(mode, [1, bits, exponent], rest);
      return;
    }
    const [hash, mgf, saltLength, ...encodings] = rest;
    const [hashId, mgfId] = [
      ['Invalid digest', hash],
      ['Invalid MGF1 digest', mgf],
    ].map(([message, name]) => {
      if (name === undefined) return undefined;
      const digest = digestNamed(name);
      if (digest === undefined) throw coded(TypeError, 'ERR_CRYPTO_INVALID_DIGEST', `${message}: ${name}`);
      return digest.id;
    });
    super(mode, [2, bits, exponent, hashId, mgfId, saltLength], encodings);
  }
}

class EcKeyPairGenJob extends KeyPairGenJob {
  constructor(mode, name, paramEncoding, ...rest) {
    const curve = curveNamed(name);
    if (curve === undefined) throw invalidCurve();
    super(mode, [3, curve.id], rest);
  }
}

// Returns the kernel's kinds by OpenSSL's numbers, which are constants of the binding.
const nidKinds = ({ EVP_PKEY_ED25519, EVP_PKEY_X25519 }) =>
  new Map([
    [EVP_PKEY_ED25519, 4],
    [EVP_PKEY_X25519, 5],
  ]);

function nidJob(binding) {
  const kinds = nidKinds(binding);
  return class NidKeyPairGenJob extends KeyPairGenJob {
    constructor(mode, nid, ...rest) {
      if (!kinds.has(nid)) throw unavailableError('crypto.NidKeyPairGenJob');
      super(mode, [kinds.get(nid)], rest);
    }
  };
}

module.exports = { SecretKeyGenJob, RsaKeyPairGenJob, EcKeyPairGenJob, nidJob };
