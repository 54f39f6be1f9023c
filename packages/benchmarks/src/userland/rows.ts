// Declares the rows of the userland benchmark: small programs over Node's library. The sandbox and
// the pinned Node run equal programs.
//
// `setup` runs once, and `operation` is the measured operation. `check` is a value that must be
// equal in the sandbox and in Node, otherwise no time of the row counts. The three fields are
// JavaScript text. Data comes from a generator with a fixed seed. A new row needs an entry in
// `userlandRows`. Next: `program.ts`.

export interface UserlandRow {
  /** A unique name of the form `group: detail`. */
  name: string;
  setup?: string;
  /**
   * An expression. With `waits`, the expression's value is a promise. The program uses the value,
   * so that no engine omits the expression.
   */
  operation: string;
  waits?: boolean;
  /** An expression over `result`, the value of one operation. */
  check: string;
}

const BYTES = `
let seed = 1;
const random = () => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) >>> 8;
const bytes = (length) => Uint8Array.from({ length }, () => random() & 255);
const text = (length) => Array.from({ length }, () => 'abcdefghij klmnöäü€'[random() % 19]).join('');
// FNV-1a over the bytes or characters. The check does not use an operation of another row.
const digest = (value) => {
  let sum = 2166136261;
  const items = typeof value === 'string' ? Buffer.from(value) : value;
  for (const item of items) sum = Math.imul(sum ^ item, 16777619);
  return items.length + ':' + (sum >>> 0);
};
`;

const HASH = `
import { createHash } from 'node:crypto';
${BYTES}
const sha256 = (value) => createHash('sha256').update(value).digest('hex');
`;

const KIB_64 = `${BYTES} const data = Buffer.from(bytes(65536));`;

const DOCUMENT = `
const userOf = (id) => ({ id, name: 'user ' + id, tags: ['a', 'b'], at: { x: id / 3, ok: id % 2 === 0 } });
const value = { users: Array.from({ length: 100 }, (_, id) => userOf(id)) };
const json = JSON.stringify(value);
`;

const MIB_OF_TEXT = `${BYTES} const data = Buffer.from(text(1 << 16).repeat(16)).subarray(0, 1 << 20);`;

const FOLDER = `
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
const file = mkdtempSync(tmpdir() + '/userland-') + '/file';
const content = Buffer.alloc(4096, 'x');
writeFileSync(file, content);
`;

/**
 * The names of two rows: a call that ends in the engine, and a cheap call to the kernel.
 * `hostCallUs` is the difference of their times.
 */
export const ENGINE_CALL = 'call: the engine alone';
export const HOST_CALL = 'call: to the host';

export const userlandRows: readonly UserlandRow[] = [
  { name: ENGINE_CALL, operation: "Buffer.byteLength('x')", check: 'result' },
  { name: HOST_CALL, operation: 'process.umask(18)', setup: 'process.umask(18);', check: 'result' },
  {
    name: 'url: parse',
    operation: "new URL('https://user@example.org:8080/a/../b%20c?q=1&r=ü#top')",
    check: 'result.href',
  },
  { name: 'buffer: base64 of 64 KiB', setup: KIB_64, operation: "data.toString('base64')", check: 'digest(result)' },
  {
    name: 'buffer: from base64 to 64 KiB',
    setup: `${KIB_64} const encoded = data.toString('base64');`,
    operation: "Buffer.from(encoded, 'base64')",
    check: 'digest(result)',
  },
  { name: 'buffer: hex of 64 KiB', setup: KIB_64, operation: "data.toString('hex')", check: 'digest(result)' },
  {
    name: 'buffer: utf8 to bytes, 64 Ki characters',
    setup: `${BYTES} const string = text(65536);`,
    operation: "Buffer.from(string, 'utf8')",
    check: 'digest(result)',
  },
  {
    name: 'buffer: bytes to utf8, 64 Ki characters',
    setup: `${BYTES} const data = Buffer.from(text(65536));`,
    operation: "data.toString('utf8')",
    check: 'digest(result)',
  },
  { name: 'json: parse 9 KiB', setup: DOCUMENT, operation: 'JSON.parse(json)', check: 'JSON.stringify(result)' },
  { name: 'json: stringify 9 KiB', setup: DOCUMENT, operation: 'JSON.stringify(value)', check: 'result' },
  {
    name: 'map: get of 1,000 integers',
    setup: `const map = new Map(Array.from({ length: 1000 }, (_, i) => [i, i]));
const sum = () => { let total = 0; for (let i = 0; i < 1000; i++) total += map.get(i); return total; };`,
    operation: 'sum()',
    check: 'result',
  },
  {
    name: 'map: get of 1,000 objects',
    setup: `const keys = Array.from({ length: 1000 }, (_, i) => ({ i }));
const map = new Map(keys.map((key) => [key, key.i]));
const sum = () => { let total = 0; for (let i = 0; i < 1000; i++) total += map.get(keys[i]); return total; };`,
    operation: 'sum()',
    check: 'result',
  },
  {
    name: 'regexp: /^x/ on 64 Ki other characters',
    setup: "const string = 'a'.repeat(65536);",
    operation: '/^x/.test(string)',
    check: 'result',
  },
  {
    name: 'hash: sha256 of 1 KiB',
    setup: `${HASH} const data = bytes(1024);`,
    operation: 'sha256(data)',
    check: 'result',
  },
  {
    name: 'hash: sha256 of 1 MiB',
    setup: `${HASH} const data = bytes(1 << 20);`,
    operation: 'sha256(data)',
    check: 'result',
  },
  {
    name: 'zlib: gzip 1 MiB',
    setup: `import { gunzipSync, gzipSync } from 'node:zlib';${MIB_OF_TEXT}`,
    operation: 'gzipSync(data)',
    // The packed bytes depend on the library's version. The unpacked bytes do not.
    check: 'digest(gunzipSync(result))',
  },
  {
    name: 'zlib: gunzip 1 MiB',
    setup: `import { gunzipSync, gzipSync } from 'node:zlib';${MIB_OF_TEXT} const packed = gzipSync(data);`,
    operation: 'gunzipSync(packed)',
    check: 'digest(result)',
  },
  {
    name: 'zlib: brotli 1 MiB, quality 5',
    setup: `import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';${MIB_OF_TEXT}
const params = { [constants.BROTLI_PARAM_QUALITY]: 5 };`,
    operation: 'brotliCompressSync(data, { params })',
    check: 'digest(brotliDecompressSync(result))',
  },
  {
    name: 'zlib: brotli back to 1 MiB',
    setup: `import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';${MIB_OF_TEXT}
      const packed = brotliCompressSync(data);`,
    operation: 'brotliDecompressSync(packed)',
    check: 'digest(result)',
  },
  {
    name: 'stream: 64 chunks through two transforms',
    setup: `${BYTES}
import { Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
const chunk = Buffer.from(bytes(16384));
const pass = () => new Transform({ transform(data, _encoding, done) { done(null, data); } });
const pipe = async () => {
  let length = 0;
  const sink = new Writable({ write(data, _encoding, done) { length += data.length; done(); } });
  await pipeline(Readable.from(Array(64).fill(chunk)), pass(), pass(), sink);
  return length;
};`,
    operation: 'pipe()',
    waits: true,
    check: 'result',
  },
  {
    name: 'events: emit to two listeners',
    setup: `import { EventEmitter } from 'node:events';
const emitter = new EventEmitter();
let sum = 0;
emitter.on('x', (a) => { sum += a; });
emitter.on('x', (_a, b) => { sum -= b; });`,
    operation: "emitter.emit('x', 2, 1)",
    check: 'result',
  },
  { name: 'fs: statSync', setup: FOLDER, operation: 'statSync(file)', check: 'result.size' },
  { name: 'fs: readFileSync, 4 KiB', setup: FOLDER, operation: 'readFileSync(file)', check: 'result.toString()' },
  { name: 'fs: writeFileSync, 4 KiB', setup: FOLDER, operation: 'writeFileSync(file, content)', check: 'statSync(file).size' },
  { name: 'fs: promises.stat', setup: FOLDER, operation: 'stat(file)', waits: true, check: 'result.size' },
  { name: 'fs: promises.readFile, 4 KiB', setup: FOLDER, operation: 'readFile(file)', waits: true, check: 'result.toString()' },
  {
    name: 'http: round trip on loopback',
    setup: `import { Agent, createServer, get } from 'node:http';
import { once } from 'node:events';
const server = createServer((request, response) => response.end('hello ' + request.url));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
server.unref();
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const options = { port: server.address().port, host: '127.0.0.1', path: '/x', agent };
const roundTrip = () => new Promise((resolve, reject) => {
  get(options, (response) => {
    let body = '';
    response.setEncoding('utf8').on('data', (part) => { body += part; }).on('end', () => resolve(response.statusCode + body));
  }).on('error', reject);
});`,
    operation: 'roundTrip()',
    waits: true,
    check: 'result',
  },
];
