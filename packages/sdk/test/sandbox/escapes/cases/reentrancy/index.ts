// Runs code of the program inside a call. The code removes the memory, descriptor or object that
// the call uses.

import type { EscapeCase, Theme } from '../../harness/case.js';

const SETTING = `
const fd = fs.openSync('/workspace/f', 'w+'); fs.writeSync(fd, 'hello world, this is a file');
const buffer = () => Buffer.from(new ArrayBuffer(64));
const detach = (view) => { try { view.buffer.transfer(); } catch {} };
const shrinking = () => new Uint8Array(new ArrayBuffer(64, { maxByteLength: 1 << 16 }));
const shrink = (view) => view.buffer.resize(0);
process.on('uncaughtException', () => {}); process.on('unhandledRejection', () => {});
const turning = (value, act) => ({
  valueOf() { act(); return value; },
  toString() { act(); return String(value); },
  [Symbol.toPrimitive]() { act(); return value; }
});
`;

const attempt = (name: string, program: string, expected: EscapeCase['expected'] = /tried$/): EscapeCase => ({
  name: `the engine survives ${name}`,
  program: `${SETTING}${program}\nsay('tried');`,
  expected,
});

export const reentrancy: Theme = {
  name: 're-entrancy',
  cases: [
    attempt(
      'getters of options that close the descriptor',
      `
for (const name of ['offset', 'length', 'position']) {
  const own = fs.openSync('/etc/hosts');
  tried(() => fs.readSync(own, Buffer.alloc(64), { get [name]() { fs.closeSync(own); return 0; } }));
  tried(() => fs.closeSync(own));
}
tried(() => fs.readFileSync(fd, { get encoding() { fs.closeSync(fd); return 'utf8'; } }));`,
    ),
    attempt(
      'getters of options that detach the memory',
      `
for (const name of ['offset', 'length', 'position']) {
  const view = buffer();
  tried(() => fs.readSync(fd, view, { get [name]() { detach(view); return name === 'length' ? 64 : 0; } }));
  const grown = shrinking();
  tried(() => fs.readSync(fd, grown, { get [name]() { shrink(grown); return name === 'length' ? 64 : 0; } }));
}
for (const name of ['offset', 'length', 'position']) {
  const view = buffer();
  tried(() => fs.writeSync(fd, view, { get [name]() { detach(view); return name === 'length' ? 64 : 0; } }));
}`,
    ),
    attempt(
      'memory that is detached during a read',
      `
const view = buffer(); const grown = shrinking(); const shared = new Uint8Array(new SharedArrayBuffer(64));
const works = [
  fs.promises.open('/etc/hosts').then(async (handle) => {
    const work = handle.read(view, 0, 64, 0);
    detach(view);
    return work.finally(() => handle.close());
  }),
  new Promise((resolve) => { fs.read(fd, grown, 0, 64, 0, resolve); shrink(grown); }),
  new Promise((resolve) => { fs.read(fd, shared, 0, 64, 0, resolve); }),
  new Promise((resolve) => { const other = buffer(); fs.write(fd, other, 0, 64, 0, resolve); detach(other); })
];
await Promise.allSettled(works);`,
    ),
    attempt(
      'vectors that change while they are read',
      `
const parts = [buffer(), buffer(), buffer()];
const proxied = new Proxy(parts, {
  get(target, name) {
    if (name === '1') detach(target[0]);
    if (name === 'length' && target.length > 1) target.length = 1;
    return Reflect.get(target, name);
  }
});
tried(() => fs.writevSync(fd, proxied));
tried(() => fs.readvSync(fd, proxied));
fs.writev(fd, parts, () => {});
parts.length = 0;
fs.readv(fd, [shrinking()], () => {});`,
    ),
    attempt(
      'copying and filling with arguments that detach',
      `
for (const make of [buffer, shrinking]) {
  const act = (view) => (make === buffer ? detach(view) : shrink(view));
  for (const call of [
    (view, evil) => Buffer.prototype.copy.call(view, Buffer.alloc(64), evil),
    (view, evil) => view.fill(1, evil),
    (view, evil) => Buffer.prototype.write.call(view, 'x'.repeat(64), evil),
    (view, evil) => view.copyWithin(evil, 1, 64),
    (view, evil) => view.set([1, 2, 3], evil),
    (view, evil) => view.subarray(evil),
    (view, evil) => view.slice(evil),
    (view, evil) => Buffer.prototype.readUInt32LE?.call(view, evil),
    (view, evil) => view.indexOf(evil, evil),
    (view, evil) => view.with(0, evil),
    (view, evil) => view.at(evil),
    (view, evil) => Atomics.store(view, 0, evil),
    (view, evil) => new DataView(view.buffer).setFloat64(0, evil)
  ]) { const view = make(); tried(() => call(view, turning(0, () => act(view)))); }
}`,
    ),
    attempt(
      'digests and ciphers over memory that is detached',
      `
const crypto = require('crypto');
for (let i = 0; i < 3; i++) {
  const view = buffer();
  tried(() => crypto.createHash('sha256', { get outputLength() { detach(view); return 32; } }).update(view));
}
const view = buffer(); const hash = crypto.createHash('sha512'); detach(view); tried(() => hash.update(view));
const target = buffer();
tried(() => crypto.randomFillSync(target, turning(0, () => detach(target))));
const other = buffer();
crypto.randomFill(other, () => {});
detach(other);
const key = buffer();
const cipher = crypto.createCipheriv('aes-256-gcm', Buffer.alloc(32), Buffer.alloc(12));
detach(key);
tried(() => cipher.update(key));
tried(() => cipher.final());
tried(() => cipher.final());
tried(() => cipher.update('x'));
tried(() => cipher.getAuthTag());
await Promise.allSettled([
  crypto.subtle.digest('SHA-256', (() => { const data = buffer(); queueMicrotask(() => detach(data)); return data; })())
]);`,
    ),
    attempt(
      'decompressors that are closed, reset and fed in their own callbacks',
      `
const zlib = require('zlib');
for (const make of [zlib.createGzip, zlib.createInflate, zlib.createBrotliCompress, zlib.createBrotliDecompress]) {
  const stream = make();
  stream.on('error', () => {});
  stream.on('data', () => { tried(() => stream.reset?.()); tried(() => stream.close()); tried(() => stream.write('x')); });
  const chunk = buffer();
  stream.write(chunk, () => tried(() => stream.close()));
  detach(chunk);
  tried(() => stream._handle.write(2, buffer(), 0, 64, buffer(), 0, 64));
  tried(() => stream._handle.close());
  tried(() => stream._handle?.reset());
  stream.end();
}
await new Promise((resolve) => setTimeout(resolve, 30));`,
    ),
    attempt(
      'a decompressor handle with lengths beyond its memory',
      `
const zlib = require('zlib'); const handle = zlib.createGzip()._handle;
for (const args of [
  [2, buffer(), 0, 65, buffer(), 0, 64], [2, buffer(), 63, 2, buffer(), 0, 64], [2, buffer(), -1, 2, buffer(), 0, 64],
  [2, buffer(), 0, 2 ** 32 - 1, buffer(), 2 ** 32 - 1, 1], [2, null, 0, 8, null, 0, 8], [99, buffer(), 0, 1, buffer(), 0, 1]
]) tried(() => handle.writeSync(...args));`,
      { error: /^none$/ },
    ),
    attempt(
      'sorting with a comparison that empties the array',
      `
const list = Array.from({ length: 2_000 }, (_, i) => i); tried(() => list.sort((a, b) => { list.length = 0; return a - b; }));
const typed = new Float64Array(new ArrayBuffer(16_000, { maxByteLength: 32_000 }));
tried(() => typed.sort((a, b) => { typed.buffer.resize(8); return b - a; }));
const gone = new Float64Array(2_000);
tried(() => gone.sort((a, b) => { detach(gone); return b - a; }));
tried(() => [3, 2, 1].toSorted(() => { throw 1; }));`,
    ),
    attempt(
      'array methods over arrays that change meanwhile',
      `
for (const name of ['map', 'filter', 'forEach', 'reduce', 'some', 'flatMap', 'find', 'findLast', 'every', 'reduceRight']) {
  const list = new Array(100).fill(1);
  tried(() => list[name](() => { list.length = 0; list.push(...new Array(500).fill(2)); return []; }, 0));
  const typed = new Uint8Array(100);
  tried(() => typed[name]?.(() => { detach(typed); return 1; }, 0));
}
const list = [1, 2, 3];
tried(() => list.splice(turning(0, () => { list.length = 0; }), 3));
tried(() => list.fill(0, 0, turning(1e6, () => { list.length = 1; })));
tried(() => list.concat({ length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true }));
tried(() => Array.prototype.copyWithin.call(list, 0, turning(0, () => { list.length = 0; }), 1e6));
tried(() => list.join(turning(',', () => { list.length = 1e4; })));`,
    ),
    attempt(
      'species that return foreign memory',
      `
class Evil extends Uint8Array { static get [Symbol.species]() { return function (n) { return new Uint8Array(1); }; } }
tried(() => new Evil(64).map(() => 1));
tried(() => new Evil(64).slice(0, 64));
tried(() => new Evil(64).subarray(0, 64));
tried(() => new Evil(64).filter(() => true));
class Longer extends ArrayBuffer { static get [Symbol.species]() { return function () { return new ArrayBuffer(1); }; } }
tried(() => new Longer(64).slice(0, 64));
class Own extends Buffer.constructor { }
tried(() => Buffer.prototype.slice.call(new Evil(8), -9, 99));
class List extends Array { static get [Symbol.species]() { return function () { return Object.freeze([]); }; } }
tried(() => new List(1, 2).map(String));
tried(() => new List(1, 2).splice(0));`,
    ),
    attempt(
      'generators and iterators that re-enter themselves',
      `
let gen;
function* self() { yield tried(() => gen.next()); yield tried(() => gen.return()); yield tried(() => gen.throw(new Error('x'))); }
gen = self();
say([...gen].join());
const deep = { *[Symbol.iterator]() { yield* deep; } };
say(tried(() => [...deep].length));
const one = [1][Symbol.iterator]();
tried(() => Iterator.from(one).flatMap(() => one).take(5).toArray());
const map = new Map([[1, 1]]);
let n = 0;
for (const [key] of map) { map.delete(key); if (n++ < 10_000) map.set(key + 1, 1); }
const set = new Set([1]);
set.forEach((value) => { set.clear(); if (value < 1_000) set.add(value + 1); });`,
      /tried$/,
    ),
    attempt(
      'conversions to text that re-enter themselves',
      `
tried(() => JSON.stringify({ toJSON() { return JSON.stringify(this); } }));
const circle = {};
circle.self = circle;
tried(() => JSON.stringify(circle));
tried(() => JSON.parse('[1,2,3]', function (key, value) { if (Array.isArray(this)) this.length = 0; return value; }));
tried(() => 'abc'.replace(/b/g, () => 'abc'.replace(/b/g, () => { throw 1; })));
const re = /a/g;
tried(() => 'aaa'.replace(re, () => { re.lastIndex = -1; re.compile('(b'); return ''; }));
tried(() =>
  Reflect.apply(String.raw, null, [{ raw: new Proxy([], { get: (t, n) => (n === 'length' ? 2 ** 20 : 'x') }) }]).length);
tried(() => [[]].toString.call({ join: Array.prototype.toString }));
tried(() => new Intl.DateTimeFormat(turning('en', () => { throw 1; })).format());
tried(() => new Error('', { get cause() { throw 1; } }));`,
    ),
    attempt(
      'regular expressions that are recompiled while they run',
      `
const re = /(?:a|b)+?c/y;
re[Symbol.match] = () => { re.compile('x'.repeat(1_000)); return null; };
tried(() => 'ab'.match(re));
class Evil extends RegExp {
  exec() { this.compile('(a)|(b)|(c)'); return { index: 2 ** 31, 0: 'x'.repeat(100), length: 2 ** 31 }; }
}
tried(() => 'abc'.replace(new Evil('b', 'g'), '$1$2$9'));
tried(() => new Evil('b')[Symbol.split]('abc', 5));
tried(() => [...'abc'.matchAll(new Evil('b', 'g'))].length);`,
      { error: /^(none|ERR_TIMEOUT|ERR_MEMORY_LIMIT)$/ },
    ),
    attempt(
      'copies of values that change while they are copied',
      `
const list = [1, { get x() { list.length = 0; detach(view); return 1; } }, 3];
const view = buffer();
tried(() => structuredClone([list, view], { transfer: [view.buffer] }));
tried(() => structuredClone(view, { get transfer() { detach(view); return [view.buffer]; } }));
tried(() => structuredClone(new Proxy({}, {})));
const map = new Map([[1, { get y() { map.clear(); return 1; } }], [2, 2]]);
tried(() => structuredClone(map));
const { port1, port2 } = new MessageChannel();
tried(() => port1.postMessage({ get z() { port1.close(); return port2; } }, [port2]));
tried(() => port1.postMessage(port1, [port1]));
port2.close();
tried(() => require('v8').serialize({ get z() { gc(); return 1; } }));`,
    ),
    attempt(
      'servers that are closed while they listen, and listen while they close',
      `
const net = require('net');
const server = net.createServer().on('error', () => {});
tried(() =>
  server.listen({ get port() { server.close(); return 0; }, get host() { tried(() => server.listen(0)); return '127.0.0.1'; } }));
tried(() => server.close());
const socket = new net.Socket().on('error', () => {});
tried(() => socket.connect({ get port() { socket.destroy(); return 9; }, host: '127.0.0.1' }));
tried(() => socket.connect(9));
const own = net.createServer((peer) => {
  own.close();
  peer.destroy();
  tried(() => peer.write('x'));
  tried(() => peer._handle?.close());
});
await new Promise((resolve) => setTimeout(resolve, 100) && own.listen(0, () => net.connect(own.address().port)
  .on('error', () => {})
  .on('close', resolve)
  .on('connect', function () { this._handle.close(); this.destroy(); })));`,
    ),
    attempt(
      'children whose options change while they are read',
      `
const { spawnSync } = require('child_process');
const args = ['-p', '1'];
tried(() => spawnSync('node', args, {
  get env() { args.length = 0; args.push('x'.repeat(1 << 20)); return { get A() { args.length = 0; return '1'; } }; },
  get stdio() { args[0] = {}; return [{ get fd() { fs.closeSync(fd); return fd; } }, 'pipe', 'pipe']; }
}));
tried(() => spawnSync('node', new Proxy(['-p', '1'], { get: (t, n) => (n === 'length' ? 2 ** 32 : t[n]) })));
tried(() => spawnSync(turning('node', () => process.chdir('/tmp'))));
const child = require('child_process').spawn('node', ['-e', '0']);
child.on('exit', () => { tried(() => child.kill()); tried(() => child.stdin.write('x')); });
await event(child, 'close');`,
    ),
    attempt(
      'the event loop run from inside',
      `
process.on('exit', () => {
  for (let i = 0; i < 3; i++) tried(() => process.emit('exit'));
  tried(() => process.exit());
  tried(() => fs.writeFileSync('late', 'x'));
});
process.on('uncaughtException', () => { tried(() => process._tickCallback?.()); throw new Error('again'); });
let depth = 0;
const tick = () => { if (depth++ < 1_000) process.nextTick(() => { tick(); if (depth === 500) process._tickCallback?.(); }); };
tick();
await null;`,
    ),
    attempt(
      'objects that are resurrected by finalizers',
      `
const registry = new FinalizationRegistry((held) => {
  globalThis.back = held;
  registry.register({}, held);
  for (let i = 0; i < 10; i++) new WeakRef({});
});
for (let i = 0; i < 2_000; i++) registry.register(new Uint8Array(64), buffer());
const refs = Array.from({ length: 1_000 }, () => new WeakRef(new ArrayBuffer(64)));
globalThis.gc?.();
let text = '';
for (let i = 0; i < 2e5; i++) text = [text.length, {}];
await new Promise((resolve) => setTimeout(resolve, 20));
refs.forEach((ref) => { const view = ref.deref(); if (view) view.transfer(); });`,
      { error: /^(none|ERR_MEMORY_LIMIT)$/ },
    ),
    attempt(
      'memory that is shared, resized and waited for',
      `
tried(() => new SharedArrayBuffer(64, { maxByteLength: 1 << 20 }).grow(1 << 20));
const shared = new SharedArrayBuffer(1 << 12);
const view = new Int32Array(shared);
tried(() => shared.grow(1));
tried(() => Atomics.notify(view, 2 ** 20));
tried(() => Atomics.wait(view, 0, 0, 1));
tried(() => Atomics.add(view, turning(0, () => {}), 1));
const encoder = new TextEncoder();
tried(() => encoder.encodeInto('x'.repeat(1 << 20), new Uint8Array(shared)));
tried(() => new TextDecoder().decode(new Uint8Array(shared)));
tried(() => fs.readSync(fd, new Uint8Array(shared), 0, 27, 0));
tried(() => fs.writeFileSync('s', new Uint8Array(shared)));`,
    ),
    attempt(
      'decoders with options that detach',
      `
for (const make of [buffer, shrinking]) {
  const view = make();
  tried(() => new TextDecoder('utf-8')
    .decode(view, { get stream() { make === buffer ? detach(view) : shrink(view); return true; } }));
  tried(() => Buffer.from(view.buffer, turning(0, () => detach(view)), 64));
  tried(() => require('string_decoder').StringDecoder.prototype.write.call({ encoding: 'utf8' }, view));
}
const { StringDecoder } = require('string_decoder');
const decoder = new StringDecoder('utf8');
const part = Buffer.from([0xe2]);
tried(() => decoder.write(part));
detach(part);
tried(() => decoder.end(buffer()));
tried(() => Buffer.from({ length: 2 ** 33, 0: 1 }));
tried(() => Buffer.from({ get length() { return -1; } }));
tried(() => Buffer.concat([buffer(), shrinking()], turning(128, () => {})));`,
    ),
  ],
};
