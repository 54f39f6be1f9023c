// The digests by OpenSSL's names, with the kernel's number, the size of the output and the size of
// a block. Next: hash.js.
'use strict';

// name → [the kernel's number (crates/crypto/src/hash.rs), output, block, further names]
const DIGESTS = {
  md5: [1, 16, 64, 'RSA-MD5', 'md5WithRSAEncryption', 'ssl3-md5'],
  sha1: [2, 20, 64, 'SHA-1', 'SSL3-SHA1', 'RSA-SHA1', 'RSA-SHA1-2', 'sha1WithRSAEncryption', 'sha1WithRSA'],
  sha224: [3, 28, 64, 'SHA-224', 'SHA2-224', 'RSA-SHA224', 'sha224WithRSAEncryption'],
  sha256: [4, 32, 64, 'SHA-256', 'SHA2-256', 'RSA-SHA256', 'sha256WithRSAEncryption'],
  sha384: [5, 48, 128, 'SHA-384', 'SHA2-384', 'RSA-SHA384', 'sha384WithRSAEncryption'],
  sha512: [6, 64, 128, 'SHA-512', 'SHA2-512', 'RSA-SHA512', 'sha512WithRSAEncryption'],
  'sha512-224': [7, 28, 128, 'SHA-512/224', 'SHA2-512/224', 'RSA-SHA512/224', 'sha512-224WithRSAEncryption'],
  'sha512-256': [8, 32, 128, 'SHA-512/256', 'SHA2-512/256', 'RSA-SHA512/256', 'sha512-256WithRSAEncryption'],
  'sha3-224': [9, 28, 144, 'RSA-SHA3-224', 'id-rsassa-pkcs1-v1_5-with-sha3-224'],
  'sha3-256': [10, 32, 136, 'RSA-SHA3-256', 'id-rsassa-pkcs1-v1_5-with-sha3-256'],
  'sha3-384': [11, 48, 104, 'RSA-SHA3-384', 'id-rsassa-pkcs1-v1_5-with-sha3-384'],
  'sha3-512': [12, 64, 72, 'RSA-SHA3-512', 'id-rsassa-pkcs1-v1_5-with-sha3-512'],
  blake2b512: [13, 64, 128, 'BLAKE2B-512'],
  blake2s256: [14, 32, 64, 'BLAKE2S-256'],
  ripemd160: [15, 20, 64, 'RIPEMD-160', 'RIPEMD', 'RMD160', 'RSA-RIPEMD160', 'ripemd160WithRSA'],
  'md5-sha1': [16, 36, 64],
  shake128: [17, 16, 168, 'SHAKE-128'],
  shake256: [18, 32, 136, 'SHAKE-256'],
  sm3: [19, 32, 64, 'RSA-SM3', 'sm3WithRSAEncryption'],
};

const EXTENDABLE = new Set(['shake128', 'shake256']);

// The list of `crypto.getHashes()`, in Node's order.
const LISTED = [
  'RSA-MD5',
  'RSA-RIPEMD160',
  'RSA-SHA1',
  'RSA-SHA1-2',
  'RSA-SHA224',
  'RSA-SHA256',
  'RSA-SHA3-224',
  'RSA-SHA3-256',
  'RSA-SHA3-384',
  'RSA-SHA3-512',
  'RSA-SHA384',
  'RSA-SHA512',
  'RSA-SHA512/224',
  'RSA-SHA512/256',
  'RSA-SM3',
  'blake2b512',
  'blake2s256',
  'id-rsassa-pkcs1-v1_5-with-sha3-224',
  'id-rsassa-pkcs1-v1_5-with-sha3-256',
  'id-rsassa-pkcs1-v1_5-with-sha3-384',
  'id-rsassa-pkcs1-v1_5-with-sha3-512',
  'md5',
  'md5-sha1',
  'md5WithRSAEncryption',
  'ripemd',
  'ripemd160',
  'ripemd160WithRSA',
  'rmd160',
  'sha1',
  'sha1WithRSAEncryption',
  'sha224',
  'sha224WithRSAEncryption',
  'sha256',
  'sha256WithRSAEncryption',
  'sha3-224',
  'sha3-256',
  'sha3-384',
  'sha3-512',
  'sha384',
  'sha384WithRSAEncryption',
  'sha512',
  'sha512-224',
  'sha512-224WithRSAEncryption',
  'sha512-256',
  'sha512-256WithRSAEncryption',
  'sha512WithRSAEncryption',
  'shake128',
  'shake256',
  'sm3',
  'sm3WithRSAEncryption',
  'ssl3-md5',
  'ssl3-sha1',
];

const byName = new Map();
const byId = [];
for (const name of Object.keys(DIGESTS)) {
  const [id, length, block, ...aliases] = DIGESTS[name];
  const digest = { id, name, length, block, extendable: EXTENDABLE.has(name) };
  byId[id] = digest;
  for (const alias of [name, ...aliases]) byName.set(alias.toLowerCase(), digest);
}

/** Returns the digest `name`, or undefined. Names are case-insensitive, as in OpenSSL. */
function digestNamed(name) {
  return byName.get(name) ?? byName.get(`${name}`.toLowerCase());
}

/** Returns the kernel's numbers of the digests by name, which Node's JavaScript caches. */
function cachedAliases() {
  const aliases = { __proto__: null };
  for (const name of Object.keys(DIGESTS)) aliases[name] = DIGESTS[name][0];
  return aliases;
}

module.exports = { digestNamed, digestById: (id) => byId[id], cachedAliases, listed: () => LISTED.slice() };
