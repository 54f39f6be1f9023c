// What: Node's crypto binding: its classes and functions, each from a file of bootstrap/crypto/, over the kernel's calls (family 0x300).
// What has no file there (X.509, TLS contexts, the newest key types) throws at use.
// Next: crypto/jobs.js and crypto/hash.js.
'use strict';

const { cachedAliases, listed } = require('../crypto/digests.js');
const { timingSafeEqual } = require('../crypto/compare.js');
const { Hash, Hmac, oneShotDigest } = require('../crypto/hash.js');
const kdf = require('../crypto/kdf.js');
const random = require('../crypto/random.js');

module.exports = function crypto(binding) {
  binding.getFipsCrypto = () => 0;
  binding.testFipsCrypto = () => false;
  binding.secureBuffer = (length) => new Uint8Array(length);
  binding.secureHeapUsed = () => undefined;
  binding.getCachedAliases = cachedAliases;
  binding.getHashes = listed;
  binding.getCiphers = () => [];
  binding.getSSLCiphers = () => [];
  binding.getCurves = () => [];
  binding.getBundledRootCertificates = () => [];
  binding.startLoadingCertificatesOffThread = () => {};
  binding.getOpenSSLSecLevelCrypto = () => 1;

  const { PBKDF2Job, HKDFJob, ScryptJob, HashJob, HmacJob } = kdf;
  Object.assign(binding, { Hash, Hmac, oneShotDigest, timingSafeEqual });
  Object.assign(binding, { PBKDF2Job, HKDFJob, ScryptJob, HashJob, HmacJob }, random);

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
};
