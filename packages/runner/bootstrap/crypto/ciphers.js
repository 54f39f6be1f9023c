// The symmetric ciphers by OpenSSL's names, and `getCipherInfo`. Next: cipher.js, which encrypts
// and decrypts.
'use strict';

// The kernel's number of each mode (crates/crypto/src/cipher/mod.rs).
const MODES = { ecb: 1, cbc: 2, ctr: 3, gcm: 4, ccm: 5, wrap: 7, ofb: 8, cfb: 9, cfb8: 10 };

// mode → [block size, length of the initialization vector in bytes]
const SHAPES = {
  ecb: [16, 0],
  cbc: [16, 16],
  ctr: [1, 16],
  gcm: [1, 12],
  ccm: [1, 12],
  wrap: [8, 8],
  ofb: [1, 16],
  cfb: [1, 16],
  cfb8: [1, 16],
};

// OpenSSL's object numbers for AES with 128, 192 and 256 bits.
const NIDS = {
  ecb: [418, 422, 426],
  cbc: [419, 423, 427],
  ctr: [904, 905, 906],
  gcm: [895, 898, 901],
  ccm: [896, 899, 902],
  wrap: [788, 789, 790],
  ofb: [420, 424, 428],
  cfb: [421, 425, 429],
  cfb8: [653, 654, 655],
};

const BITS = [128, 192, 256];
const PREFIXED = new Set(['gcm', 'ccm', 'wrap']);

const byName = new Map();
const byNid = new Map();

function add(cipher, ...names) {
  byNid.set(cipher.nid, cipher);
  for (const name of names) byName.set(name.toLowerCase(), cipher);
}

for (const mode of Object.keys(SHAPES)) {
  for (let i = 0; i < BITS.length; i++) {
    const bits = BITS[i];
    const [blockSize, ivLength] = SHAPES[mode];
    const nid = NIDS[mode][i];
    const id = (MODES[mode] << 8) | (bits / 8);
    const shown = PREFIXED.has(mode) ? `id-aes${bits}-${mode}` : `aes-${bits}-${mode}`;
    const cipher = { id, mode: mode === 'cfb8' ? 'cfb' : mode, name: shown, nid, blockSize, ivLength, keyLength: bits / 8 };
    const names = [shown, `aes-${bits}-${mode}`];
    if (mode === 'cbc') names.push(`aes${bits}`);
    if (mode === 'wrap') names.push(`aes${bits}-wrap`);
    add(cipher, ...names);
  }
}
add(
  {
    id: (6 << 8) | 32,
    mode: 'stream',
    name: 'chacha20-poly1305',
    nid: 1018,
    blockSize: 1,
    ivLength: 12,
    keyLength: 32,
    poly: true,
  },
  'chacha20-poly1305',
);
add({ id: (11 << 8) | 32, mode: 'stream', name: 'chacha20', nid: 1019, blockSize: 1, ivLength: 16, keyLength: 32 }, 'chacha20');

// The list of `crypto.getCiphers()`, in Node's order.
const LISTED = BITS.flatMap((bits) =>
  ['cbc', 'ccm', 'cfb', 'cfb8', 'ctr', 'ecb', 'gcm', 'ofb'].map((mode) => `aes-${bits}-${mode}`),
)
  .concat(BITS.flatMap((bits) => [`aes${bits}`, `aes${bits}-wrap`]))
  .concat(['chacha20', 'chacha20-poly1305'])
  .concat(BITS.flatMap((bits) => [`id-aes${bits}-CCM`, `id-aes${bits}-GCM`, `id-aes${bits}-wrap`]));

function cipherNamed(name) {
  return byName.get(name) ?? byName.get(`${name}`.toLowerCase());
}

const isAead = (cipher) => cipher.mode === 'gcm' || cipher.mode === 'ccm' || cipher.poly === true;

// Returns whether the cipher accepts an initialization vector of `length` bytes.
function takesIv(cipher, length) {
  if (cipher.mode === 'gcm') return length > 0;
  if (cipher.mode === 'ccm') return length >= 7 && length <= 13;
  return length === cipher.ivLength;
}

function getCipherInfo(info, nameOrNid, keyLength, ivLength) {
  const cipher = typeof nameOrNid === 'string' ? cipherNamed(nameOrNid) : byNid.get(nameOrNid);
  if (cipher === undefined) return undefined;
  if (keyLength !== undefined && keyLength !== cipher.keyLength) return undefined;
  if (ivLength !== undefined && !takesIv(cipher, ivLength)) return undefined;
  info.mode = cipher.mode;
  info.name = cipher.name;
  info.nid = cipher.nid;
  if (cipher.mode !== 'stream') info.blockSize = cipher.blockSize;
  if (cipher.ivLength > 0) info.ivLength = ivLength ?? cipher.ivLength;
  info.keyLength = cipher.keyLength;
  return info;
}

module.exports = { cipherNamed, getCipherInfo, isAead, takesIv, listed: () => LISTED.slice() };
