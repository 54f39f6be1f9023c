// Passes very large sizes and negative lengths to calls that allocate, copy or loop.

import type { EscapeCase, Theme } from '../../harness/case.js';

/**
 * Makes a case of calls. Each call must throw an error, return a small value, or end the program by
 * its memory limit or its timeout.
 */
const refused = (name: string, ...calls: string[]): EscapeCase => ({
  name,
  program: `for (const call of [${calls.map((call) => `async () => ${call}`).join(',\n')}]) say(await later(call));`,
  options: { limits: { memoryBytes: 64 << 20 } },
  execOptions: { timeout: 1_500 },
  expected: {
    error: /^(none|ERR_MEMORY_LIMIT|ERR_TIMEOUT)$/,
    stdout: /^(([A-Z][A-Za-z]*Error|Error|E[A-Z0-9]+|ERR_|Z_|refused|undefined|null|\d{1,3}$|-1|done)\w*\n?)*$/m,
  },
});

export const sizes: Theme = {
  name: 'sizes',
  cases: [
    refused(
      'buffers beyond all limits fail',
      'Buffer.alloc(2 ** 53).length',
      'Buffer.alloc(2 ** 32 + 1).length',
      'Buffer.allocUnsafe(2 ** 31).length',
      'Buffer.alloc(-1)',
      'new ArrayBuffer(2 ** 53)',
      'new SharedArrayBuffer(2 ** 40)',
      'new Uint8Array(2 ** 33)',
      'new Float64Array(2 ** 30)',
      'Buffer.concat([Buffer.alloc(1)], 2 ** 40)',
      'new ArrayBuffer(8, { maxByteLength: 2 ** 50 })',
    ),
    refused(
      'buffers that grow endlessly fail',
      '(() => { const b = new ArrayBuffer(8, { maxByteLength: 2 ** 31 }); b.resize(2 ** 31 - 1); return b.byteLength; })()',
    ),
    refused(
      'texts longer than memory fail',
      "'x'.repeat(2 ** 30)",
      "'x'.repeat(-1)",
      "'x'.repeat(Infinity)",
      "'x'.padEnd(2 ** 31)",
      "new Array(2 ** 29).join('xxxx')",
      "'x'.repeat(1 << 20).replaceAll('x', 'x'.repeat(1 << 20)).length",
      "Buffer.alloc(8).toString('hex', -1, 2 ** 40).length > 99",
    ),
    refused(
      'arrays of extreme lengths fail',
      'new Array(-1)',
      'new Array(2 ** 32)',
      'Array.from({ length: 2 ** 53 })',
      '[].concat(...new Array(1e6).fill(new Array(1e3))).length',
      'new Array(2 ** 32 - 1).fill(0)',
      'Array(2 ** 32 - 1).push(1, 2)',
    ),
    refused(
      'numbers with more digits than memory fail',
      '2n ** 10_000_000_000n',
      '(1n << 2n ** 62n)',
      '10n ** 100_000_000n > 1n',
      "BigInt('9'.repeat(1 << 24)) > 1n",
    ),
    refused(
      'reads with wrong lengths and offsets fail',
      "fs.readSync(fs.openSync('/etc/passwd'), Buffer.alloc(8), 0, 9)",
      'fs.readSync(3, Buffer.alloc(8), 9, 1)',
      'fs.readSync(3, Buffer.alloc(8), -1, 1)',
      'fs.readSync(3, Buffer.alloc(8), 0, -1)',
      'fs.readSync(3, Buffer.alloc(8), 2 ** 31, 1)',
      'fs.readSync(3, Buffer.alloc(8), 0, 2 ** 32 + 1)',
      'fs.readSync(3, Buffer.alloc(8), NaN, NaN)',
      'fs.readSync(3, Buffer.alloc(8), 4, 5)',
    ),
    refused(
      'writes with wrong lengths and offsets fail',
      "fs.writeSync(fs.openSync('f', 'w'), Buffer.alloc(8), 0, 9)",
      'fs.writeSync(3, Buffer.alloc(8), -1)',
      'fs.writeSync(3, Buffer.alloc(8), 9)',
      'fs.writeSync(3, Buffer.alloc(8), 0, -1)',
      'fs.writeSync(3, Buffer.alloc(8), 2 ** 32, 1)',
    ),
    refused(
      'truncation to impossible sizes fails',
      "fs.writeFileSync('g', '')",
      "fs.truncateSync('g', 2 ** 63)",
      "fs.ftruncateSync(fs.openSync('g', 'r+'), 2 ** 64)",
      "fs.writeSync(fs.openSync('g', 'r+'), 'x', 2 ** 53)",
      "fs.truncateSync('g', NaN)",
      "fs.truncateSync('g', -5)",
    ),
    refused(
      'a file with a maximal hole is not read at once',
      "fs.truncateSync(fs.openSync('h', 'w') && 'h', 2 ** 52)",
      "fs.readFileSync('h').length",
      "(await fs.promises.readFile('h')).length",
      "fs.copyFileSync('h', 'i')",
      "fs.openAsBlob('h').then((blob) => blob.arrayBuffer()).then((b) => b.byteLength)",
    ),
    refused(
      'vectors with too many parts are contained',
      "fs.writevSync(fs.openSync('v', 'w'), new Array(100_000).fill(Buffer.alloc(1))) && 0",
      'fs.readvSync(3, new Array(10_000).fill(new Uint8Array(0))) && 0',
      'fs.writevSync(3, [null])',
      'fs.readvSync(3, [{ byteLength: 2 ** 40 }])',
    ),
    refused(
      'endless key derivations end',
      "require('crypto').pbkdf2Sync('a', 'b', 1, 2 ** 31 - 1, 'sha1').length > 0 && 'refused'",
      "require('crypto').pbkdf2Sync('a', 'b', 2 ** 32, 8, 'sha1')",
      "require('crypto').hkdfSync('sha256', 'a', 'b', 'c', 2 ** 31 - 1)",
      "require('crypto').pbkdf2Sync('a', 'b', -1, -1, 'sha1')",
    ),
    refused(
      'scrypt with excessive costs fails',
      "require('crypto').scryptSync('a', 'b', 64, { N: 2 ** 30, maxmem: 2 ** 45 })",
      "require('crypto').scryptSync('a', 'b', 64, { N: 2 ** 20, r: 2 ** 20, maxmem: Number.MAX_SAFE_INTEGER })",
      "require('crypto').scryptSync('a', 'b', 2 ** 31 - 1).length > 0 && 'refused'",
      "require('crypto').scryptSync('a', 'b', 64, { N: 3 })",
      "require('crypto').scryptSync('a', 'b', 64, { p: 2 ** 30, maxmem: 2 ** 45 })",
    ),
    refused(
      'primes and keys of a million bits end',
      "require('crypto').generatePrimeSync(2 ** 31 - 1)",
      "require('crypto').generateKeyPairSync('rsa', { modulusLength: 2 ** 31 - 1 })",
      "require('crypto').generateKeyPairSync('rsa', { modulusLength: 0 })",
      "require('crypto').createDiffieHellman(2 ** 30)",
      "require('crypto').generateKeyPairSync('dh', { primeLength: 2 ** 30 })",
      "require('crypto').generateKeySync('aes', { length: 2 ** 31 - 1 })",
      "require('crypto').generateKeySync('hmac', { length: 2 ** 31 - 1 }) && 'refused'",
    ),
    refused(
      'gigabytes of random bytes fail',
      "require('crypto').randomBytes(2 ** 31 - 1).length",
      "require('crypto').randomBytes(2 ** 32)",
      "require('crypto').randomFillSync(Buffer.alloc(8), 9)",
      "require('crypto').randomFillSync(Buffer.alloc(8), 0, -1)",
      'crypto.getRandomValues(new Uint8Array(65_537))',
      "require('crypto').randomInt(0, 2 ** 53)",
    ),
    refused(
      'digests of extreme lengths fail',
      "require('crypto').createHash('shake256', { outputLength: 2 ** 31 - 1 }).digest().length > 0 && 'refused'",
      "require('crypto').createHash('shake128', { outputLength: -1 })",
      "require('crypto').createHash('sha256', { outputLength: 2 ** 31 })",
      "require('crypto').createHmac('sha256', Buffer.alloc(1 << 24)).digest().length > 0 && 'done'",
    ),
    refused(
      'compressed data that exceeds memory fails',
      `
(() => {
  const zlib = require('zlib');
  let bomb = zlib.gzipSync(Buffer.alloc(1 << 24));
  bomb = Buffer.concat(new Array(64).fill(bomb));
  return zlib.gunzipSync(bomb).length;
})()`,
    ),
    refused(
      'decompressors refuse wrong options',
      "require('zlib').deflateSync('', { windowBits: 2 ** 31 })",
      "require('zlib').deflateSync('', { memLevel: -1 })",
      "require('zlib').gunzipSync(Buffer.alloc(9))",
      "require('zlib').gzipSync('x', { chunkSize: 2 ** 53 })",
      "require('zlib').brotliCompressSync('x', { params: { 1: 2 ** 31 } }) && 'done'",
      "require('zlib').zstdDecompressSync(Buffer.from('28b52ffd', 'hex'))",
      "require('zlib').inflateSync('x', { maxOutputLength: -1 })",
    ),
    refused(
      'patterns, paths and URLs of a megabyte are contained',
      "new RegExp('('.repeat(100_000))",
      "new RegExp('a{0,65535}'.repeat(1_000)).test('a') && 'done'",
      "new URL('http://' + 'a'.repeat(1 << 24)).href.length && 'done'",
      "require('path').resolve('../'.repeat(1 << 20)).length && 'done'",
      "require('querystring').parse('a='.repeat(1 << 20)) && 'done'",
    ),
    refused(
      'extreme times and delays are contained',
      "fs.utimesSync('/workspace', 1e300, -1e300)",
      "fs.utimesSync('/workspace', Infinity, NaN)",
      'new Date(8.64e15 + 1).toISOString()',
      "new Promise((resolve) => setTimeout(resolve, 2 ** 40)).then(() => 'done')",
      "require('timers/promises').setTimeout(-5).then(() => 'done')",
      "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5) && 'done'",
    ),
    refused(
      'sockets refuse wrong ports',
      "new Promise((r) => require('net').connect(65_536).on('error', (e) => r(e.code)))",
      "require('net').createServer().listen(-1)",
      "require('net').createServer().listen({ port: 2 ** 32 + 80 })",
      "require('dgram').createSocket('udp4').send(Buffer.alloc(1 << 17), 9, '127.0.0.1', () => {}) ?? 'done'",
      "require('dgram').createSocket('udp4').send('x', -1, 2, 9)",
      "require('dgram').createSocket('udp4').setTTL(2 ** 31)",
    ),
    refused(
      'a child with more arguments than memory fails',
      "require('child_process').spawnSync('node', ['x'.repeat(1 << 21)]).error.code",
      "require('child_process').spawnSync('node', [], { env: { A: 'x'.repeat(1 << 21) } }).error.code",
      "require('child_process').spawnSync('node', ['-p', '1'], { maxBuffer: -1 })",
      "require('child_process').spawnSync('node', new Array(200_000).fill('')).error.code",
      "require('child_process').spawnSync('x'.repeat(1 << 20)).error.code",
    ),
    {
      name: 'a result larger than a message is refused',
      attack: async (runtime) => {
        const text = await runtime.run(`__return('x'.repeat(40 << 20))`).then(
          (result) => result.error?.code ?? `value of ${String(result.value).length}`,
          (error) => error.code,
        );
        return `${text} ${(await runtime.run('__return(1)')).value}`;
      },
      expected: /^(ERR_[A-Z_]+|value of 41943040) 1$/,
    },
    {
      name: 'output larger than a message is truncated',
      options: { limits: { outputBytes: 100 << 20 } },
      attack: async (runtime) => {
        const program = `
import fs from 'node:fs';
const part = Buffer.alloc(1 << 20, 'x');
for (let i = 0; i < 40; i++) fs.writeSync(1, part);`;
        const text = await runtime.exec(program).then(
          (result) => result.error?.code ?? String(result.stdout.length),
          (error) => error.code,
        );
        return `${text} ${(await runtime.exec('console.log(1)')).stdout.trim()}`;
      },
      expected: /^(ERR_[A-Z_]+|33\d{6}|41943040) 1$/,
    },
  ],
};
