// What: of Node's crypto binding, random bytes, comparison in constant time, and the questions its modules ask while they load.
// Everything else throws at use, until hashes, ciphers and keys come through the host.
// Why at each call from the host: two processes from one image, or two clones, must never see the same bytes.
'use strict';

const context = require('../context.js');

module.exports = function crypto(binding) {
  binding.getFipsCrypto = () => 0;
  binding.testFipsCrypto = () => false;
  binding.secureBuffer = (length) => new Uint8Array(length);
  binding.secureHeapUsed = () => undefined;
  binding.getCachedAliases = () => ({});
  binding.getHashes = () => [];
  binding.getCiphers = () => [];
  binding.getSSLCiphers = () => [];
  binding.getCurves = () => [];
  binding.getBundledRootCertificates = () => [];
  binding.startLoadingCertificatesOffThread = () => {};
  binding.getOpenSSLSecLevelCrypto = () => 1;

  // Classes that Node's JavaScript extends while it loads.
  binding.createNativeKeyObjectClass = (extend) =>
    extend(
      class NativeKeyObject {
        constructor(handle) {
          this.handle = handle;
        }
      },
    );
  binding.createCryptoKeyClass = (extend) =>
    extend(
      class NativeCryptoKey {
        #slots;
        constructor(...slots) {
          this.#slots = slots;
        }
        static slots(key) {
          return key.#slots;
        }
      },
    );

  binding.RandomBytesJob = class RandomBytesJob {
    constructor(mode, buffer, offset, size) {
      this.mode = mode;
      const start = ArrayBuffer.isView(buffer) ? buffer.byteOffset : 0;
      this.target = new Uint8Array(ArrayBuffer.isView(buffer) ? buffer.buffer : buffer, start + offset, size);
    }
    run() {
      if (this.mode === binding.kCryptoJobAsync) {
        native.enqueueTask(() => {
          native.random(this.target);
          this.ondone(undefined, undefined);
        });
        return undefined;
      }
      native.random(this.target);
      return [undefined, undefined];
    }
  };
  binding.timingSafeEqual = (a, b) => {
    const left = bytesOf(a);
    const right = bytesOf(b);
    if (left.length !== right.length) {
      const { ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH } = context.requireBuiltin('internal/errors').codes;
      throw new ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH();
    }
    let difference = 0;
    for (let i = 0; i < left.length; i++) difference |= left[i] ^ right[i];
    return difference === 0;
  };
};

const bytesOf = (value) =>
  ArrayBuffer.isView(value) ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : new Uint8Array(value);
