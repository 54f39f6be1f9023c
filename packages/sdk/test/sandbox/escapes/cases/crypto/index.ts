// Attacks cryptography, which runs in the sidecar outside of the guest's memory. The cases pass
// wrong keys, lengths and encodings.

import type { EscapeCase, Theme } from '../../harness/case.js';

const RANDOM = `
let seed = 12_345;
const random = (most) => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) % most;
const noise = (length) => Buffer.from(Array.from({ length }, () => random(256)));`;

export const crypto: Theme = {
  name: 'crypto',
  cases: [
    {
      name: 'slightly modified keys are refused',
      program: `${RANDOM} const crypto = require('crypto'); let parsed = 0;
const kinds = [
  ['ed25519'], ['x25519'], ['ec', { namedCurve: 'P-256' }], ['ec', { namedCurve: 'secp521r1' }], ['rsa', { modulusLength: 1_024 }]
].map(([kind, options]) => crypto.generateKeyPairSync(kind, options));
for (const { publicKey, privateKey } of kinds)
  for (const [key, type, read] of [[publicKey, 'spki', crypto.createPublicKey], [privateKey, 'pkcs8', crypto.createPrivateKey]]) {
    const der = key.export({ type, format: 'der' });
    for (let i = 0; i < 120; i++) {
      const data = Buffer.from(der);
      for (let j = 0; j <= i % 4; j++) data[random(data.length)] = random(256);
      const cut = i % 5 ? data : data.subarray(0, random(data.length));
      tried(() => {
        const made = read({ key: cut, format: 'der', type });
        parsed++;
        if (type === 'pkcs8') crypto.sign(null, Buffer.alloc(4), made);
        else crypto.verify(null, Buffer.alloc(4), made, Buffer.alloc(64));
      });
    }
  }
say(parsed >= 0);`,
      expected: { error: /^(none|ERR_TIMEOUT)$/ },
    },
    {
      name: 'nested, repeated and inconsistent encodings are refused',
      program: `
const crypto = require('crypto');
const hex = [
  '30', '3080', '30ffffffffff', '3084ffffffff', '30820101'.repeat(200), '3080'.repeat(5_000), '02'.repeat(1_000),
  '3006020100300100', '30848000000030', 'a0'.repeat(4_000), '30818030818030', '0000'
];
const answers = hex.flatMap((text) => ['spki', 'pkcs1', 'pkcs8', 'sec1'].map((type) => tried(() =>
  (type === 'spki' || type === 'pkcs1' ? crypto.createPublicKey : crypto.createPrivateKey)(
    { key: Buffer.from(text, 'hex'), format: 'der', type }
  ))));
answers.push(...[
  '-----BEGIN PUBLIC KEY-----',
  '-----BEGIN PRIVATE KEY-----\\n' + 'A'.repeat(1 << 20) + '\\n-----END PRIVATE KEY-----',
  '-----BEGIN ENCRYPTED PRIVATE KEY-----\\nMIIB\\n-----END ENCRYPTED PRIVATE KEY-----',
  '-'.repeat(1 << 16)
].map((key) => tried(() => crypto.createPrivateKey({ key, passphrase: 'x' }))));
say(answers.every((code) => /^(ERR_|TypeError|Error|RangeError)/.test(code)) || distinct(answers));`,
      expected: 'true',
    },
    {
      name: 'points that are not on the curve or of small order are refused',
      program: `
const crypto = require('crypto');
const codes = [];
for (const curve of ['prime256v1', 'secp384r1', 'secp521r1', 'secp256k1']) {
  const own = crypto.createECDH(curve);
  own.generateKeys();
  const length = own.getPublicKey().length;
  for (const point of [
    Buffer.alloc(length, 4), Buffer.alloc(length), Buffer.alloc(1), Buffer.concat([Buffer.from([4]), Buffer.alloc(length - 1)]),
    Buffer.alloc(length, 255), Buffer.alloc(1 << 20, 4), Buffer.alloc(0)
  ]) codes.push(tried(() => own.computeSecret(point)));
  codes.push(tried(() => own.setPrivateKey(Buffer.alloc(66))), tried(() => own.setPrivateKey(Buffer.alloc(66, 255))));
}
const own = crypto.generateKeyPairSync('x25519').privateKey;
for (const point of [0, 1]) codes.push(tried(() => crypto.diffieHellman({
  privateKey: own,
  publicKey: crypto.createPublicKey({
    key: Buffer.concat([Buffer.from('302a300506032b656e032100', 'hex'), Buffer.alloc(32, point ? 0 : 0)]),
    format: 'der',
    type: 'spki'
  })
})));
say(codes.every((code) => /^(ERR_|Error|TypeError)/.test(code)) || distinct(codes));`,
      expected: /^(true|[A-Za-z_ ,]+)$/,
    },
    {
      name: 'ciphers refuse wrong lengths of keys, nonces and tags',
      program: `
const crypto = require('crypto');
let made = 0;
for (const name of crypto.getCiphers())
  for (const key of [0, 1, 8, 15, 16, 24, 32, 33, 64, 65_537])
    for (const iv of [null, Buffer.alloc(0), Buffer.alloc(1), Buffer.alloc(12), Buffer.alloc(16), Buffer.alloc(70_000)])
      tried(() => {
        const cipher =
          crypto.createCipheriv(name, Buffer.alloc(key), iv, { authTagLength: [4, 16, 17, 0, 2 ** 31 - 1][key % 5] });
        made++;
        tried(() => cipher.setAAD(Buffer.alloc(70_000), { plaintextLength: 2 ** 31 - 1 }));
        tried(() => cipher.update(Buffer.alloc(100)));
        tried(() => cipher.final());
        tried(() => cipher.final());
        tried(() => cipher.getAuthTag());
        tried(() => cipher.setAutoPadding(false));
      });
say(made > 10);`,
      expected: 'true',
    },
    {
      name: 'wrong groups and exponents are refused',
      program: `
const crypto = require('crypto');
const codes = [];
for (const prime of [
  Buffer.alloc(0), Buffer.from([0]), Buffer.from([1]), Buffer.from([2]), Buffer.from([4]), Buffer.alloc(32),
  Buffer.alloc(64, 255), Buffer.alloc(2_048, 254)
])
  for (const generator of [0, 1, 2, -1, Buffer.alloc(0), Buffer.alloc(100, 255)]) codes.push(tried(() => {
    const dh = crypto.createDiffieHellman(prime, generator);
    dh.generateKeys();
    dh.computeSecret(Buffer.alloc(9_000, 255));
    dh.setPrivateKey(Buffer.alloc(0));
    return 'made';
  }));
for (const size of [1, 63, 4_097]) codes.push(tried(() => crypto.checkPrimeSync(Buffer.alloc(size, 255), { checks: 3 })));
codes.push(tried(() => crypto.checkPrimeSync(-5n)), tried(() => crypto.checkPrimeSync(3n, { checks: 2 ** 31 })));
say(codes.length);`,
      execOptions: { timeout: 15_000 },
      options: { limits: { cpuMs: 8_000 } },
      expected: { error: /^(none|ERR_CPU_LIMIT|ERR_TIMEOUT)$/ },
    },
    {
      name: 'random arguments to the jobs of the binding are contained',
      execOptions: { execArgv: ['--expose-internals', '--no-warnings'], timeout: 5_000 },
      program: `
${RANDOM}
const { internalBinding } = require('internal/test/binding');
const binding = internalBinding('crypto');
const values = () => [
  undefined, null, -1, 0, 1, 2 ** 31, 2 ** 32, NaN, '', 'sha256', noise(random(100)), new ArrayBuffer(8), {}, [], () => {},
  1n << 70n, true
][random(17)];
let ran = 0;
for (const name of Object.keys(binding).filter((name) => /Job$/.test(name)))
  for (let i = 0; i < 40; i++) tried(() => {
    const job = new binding[name](...Array.from({ length: random(12) }, values));
    ran++;
    job.ondone = () => {};
    job.run();
  });
say(ran >= 0);
process.exit();`,
      expected: { error: /^(none|ERR_TIMEOUT|ERR_MEMORY_LIMIT)$/ },
    },
    {
      name: 'ended contexts cannot be used again',
      program: `
const crypto = require('crypto');
const hash = crypto.createHash('sha256').update('x');
hash.digest();
const codes = [() => hash.digest(), () => hash.update('x'), () => hash.copy()].map(tried);
const own = Object.create(crypto.createHash('md5'));
codes.push(
  tried(() => own.update('x')),
  tried(() => crypto.Hash.prototype.update.call({}, 'x')),
  tried(() => crypto.Hash.prototype.digest.call(hash))
);
const sign = crypto.createSign('sha256');
codes.push(
  tried(() => sign.sign(crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey).length > 0),
  tried(() => sign.update('x'))
);
say(codes.length);`,
      expected: '8',
    },
  ] satisfies EscapeCase[],
};
