// Node's crypto binding: its classes and functions, each from a file of ../crypto/, over the
// kernel's calls. The functions of features without a file there (the newest key types)
// throw when they are called. Next: ../crypto/jobs.js and ../crypto/hash.js.
'use strict';

const { CipherBase } = require('../crypto/cipher.js');
const ciphers = require('../crypto/ciphers.js');
const classes = require('../crypto/classes.js');
const curves = require('../crypto/curves.js');
const { cachedAliases, listed } = require('../crypto/digests.js');
const { timingSafeEqual } = require('../crypto/compare.js');
const { Hash, Hmac, oneShotDigest } = require('../crypto/hash.js');
const { DiffieHellman, DiffieHellmanGroup } = require('../crypto/dh.js');
const { DHBitsJob, ECDH, ECDHConvertKey } = require('../crypto/exchange.js');
const kdf = require('../crypto/kdf.js');
const keygen = require('../crypto/keygen.js');
const { KeyObjectHandle } = require('../crypto/keys.js');
const random = require('../crypto/random.js');
const { secureBuffer } = require('../crypto/random-kept.js');
const rsa = require('../crypto/rsa.js');
const { Sign, Verify, SignJob } = require('../crypto/sign.js');
const { AESCipherJob, ChaCha20Poly1305CipherJob } = require('../crypto/whole.js');
const { Certificate } = require('../tls/certificate.js');
const suites = require('../tls/ciphers.js');
const roots = require('../tls/roots.js');
const { secureContextClass } = require('../tls/secure-context.js');

module.exports = function crypto(binding) {
  binding.getFipsCrypto = () => 0;
  binding.testFipsCrypto = () => false;
  binding.secureBuffer = secureBuffer;
  binding.secureHeapUsed = () => undefined;
  binding.getCachedAliases = cachedAliases;
  binding.getHashes = listed;
  binding.getCiphers = ciphers.listed;
  binding.getCipherInfo = ciphers.getCipherInfo;
  binding.getSSLCiphers = suites.listed;
  binding.parseX509 = Certificate.parse;
  binding.getCurves = curves.listed;
  binding.getBundledRootCertificates = roots.listed;
  binding.getSystemCACertificates = roots.listed;
  binding.getExtraCACertificates = () => [...roots.extra()];
  binding.getUserRootCertificates = () => [...roots.trusted()];
  binding.resetRootCertStore = roots.choose;
  binding.startLoadingCertificatesOffThread = () => {};
  binding.getOpenSSLSecLevelCrypto = () => 1;
  binding.SecureContext = secureContextClass(binding.SecureContext);

  const { PBKDF2Job, HKDFJob, ScryptJob, HashJob, HmacJob } = kdf;
  Object.assign(binding, { Hash, Hmac, oneShotDigest, timingSafeEqual });
  Object.assign(binding, { PBKDF2Job, HKDFJob, ScryptJob, HashJob, HmacJob }, random);
  Object.assign(binding, { CipherBase, AESCipherJob, ChaCha20Poly1305CipherJob });

  const { createNativeKeyObjectClass, createCryptoKeyClass, getKeyObjectSlots, getCryptoKeySlots } = classes;
  Object.assign(binding, {
    createNativeKeyObjectClass,
    createCryptoKeyClass,
    getKeyObjectSlots,
    getCryptoKeySlots,
    KeyObjectHandle,
  });
  const { SecretKeyGenJob, RsaKeyPairGenJob, EcKeyPairGenJob, nidJob } = keygen;
  Object.assign(binding, { SecretKeyGenJob, RsaKeyPairGenJob, EcKeyPairGenJob, NidKeyPairGenJob: nidJob(binding) });
  Object.assign(binding, { Sign, Verify, SignJob, DHBitsJob, ECDH, ECDHConvertKey, DiffieHellman, DiffieHellmanGroup }, rsa);
};
