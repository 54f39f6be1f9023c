// Programs that use processors and memory: loops, text search, compression, keys, garbage.

import type { HostileProgram } from './program.js';

export const computing: readonly HostileProgram[] = [
  { name: 'an empty loop', code: 'for (;;);', isQuick: true },
  { name: 'a loop that catches its end', code: 'for (;;) { try { for (;;); } finally { continue; } }' },
  { name: 'a backtracking pattern', code: `for (;;) /^(a+)+$/.test('a'.repeat(28) + 'b');`, isQuick: true },
  { name: 'sorting', code: `for (;;) Array.from({ length: 200000 }, () => Math.random()).sort();` },
  { name: 'large integers', code: `let n = 3n ** 20000n; for (;;) n = (n * n) % (2n ** 60000n - 1n);` },
  { name: 'JSON', code: `const text = JSON.stringify(Array(50000).fill({ a: [1, 'x'] })); for (;;) JSON.parse(text);` },
  { name: 'compression', code: `const data = crypto.randomBytes(8 << 20); for (;;) zlib.brotliCompressSync(data);` },
  {
    name: 'decompression of a bomb',
    code: `const bomb = zlib.gzipSync(Buffer.alloc(32 << 20)); for (;;) zlib.gunzipSync(bomb);`,
  },
  { name: 'digests', code: `const data = Buffer.alloc(16 << 20); for (;;) crypto.createHash('sha512').update(data).digest();` },
  {
    name: 'key derivations at once',
    code: `for (let n = 0; n < 64; n++) crypto.pbkdf2('a', 'b', 2 ** 30, 64, 'sha512', () => {}); for (;;) await tick();`,
    isQuick: true,
  },
  {
    name: 'prime numbers',
    code: `for (let n = 0; n < 16; n++) crypto.generatePrime(4096, { safe: true }, () => {}); await new Promise(() => {});`,
  },
  { name: 'RSA keys', code: `for (;;) crypto.generateKeyPairSync('rsa', { modulusLength: 4096 });` },
  {
    name: 'scrypt',
    code: `for (;;) quietly(() => crypto.scryptSync('a', 'b', 64, { N: 2 ** 16, r: 8, p: 1, maxmem: 1 << 28 }));`,
  },
  {
    name: 'allocation and garbage',
    code: `for (;;) { const all = []; for (let n = 0; n < 60; n++) all.push(Buffer.alloc(1 << 20, n)); }`,
    isQuick: true,
  },
  { name: 'objects until the limit of memory', code: `const all = []; for (;;) all.push({ n: all.length });` },
  { name: 'growing and freeing memory', code: `for (;;) { let text = 'x'; while (text.length < 1 << 25) text += text; }` },
  { name: 'deep recursion', code: `const f = (n) => f(n + 1) + 1; for (;;) quietly(() => f(0));` },
  { name: 'timers', code: `for (let n = 0; n < 20000; n++) setInterval(() => {}, 1); await new Promise(() => {});` },
  { name: 'microtasks', code: `const breed = () => queueMicrotask(breed); breed(); await new Promise(() => {});` },
  {
    name: 'immediates',
    code: `const breed = () => setImmediate(breed); for (let n = 0; n < 100; n++) breed(); await new Promise(() => {});`,
  },
  {
    name: 'copies of structured values',
    code: `const map = new Map(Array.from({ length: 20000 }, (_, n) => [n, { n }])); for (;;) structuredClone(map);`,
  },
  {
    name: 'modules from text',
    code: `for (let n = 0; n < 3000; n++) await import('data:text/javascript,export default ' + n + '//' + 'x'.repeat(5000));`,
  },
];
