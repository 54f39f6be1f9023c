// Exceeds limits of a program: memory, processor time, wall clock, the stack, queues of the event
// loop, loops in native code.

import type { EscapeCase } from '../../harness/case.js';

const MEMORY = {
  options: { limits: { memoryBytes: 48 << 20 } },
  expected: { error: 'ERR_MEMORY_LIMIT', exitCode: 134 },
} as const;
const CPU = { options: { limits: { cpuMs: 200 } }, expected: { error: 'ERR_CPU_LIMIT', exitCode: 124 } } as const;
const WALL = { execOptions: { timeout: 150 }, expected: { error: 'ERR_TIMEOUT', exitCode: 124 } } as const;

const memory: Record<string, string> = {
  'small objects': `const all = []; for (;;) all.push({ a: all.length });`,
  'array buffers': `const all = []; for (;;) all.push(new ArrayBuffer(1 << 20));`,
  'buffers of Node': `const all = []; for (;;) all.push(Buffer.alloc(1 << 16, 1));`,
  text: `let text = 'x'; for (;;) { text += text; text.charCodeAt(0); }`,
  promises: `const all = []; for (;;) all.push(new Promise(() => {}));`,
  microtasks: `for (;;) queueMicrotask(() => {});`,
  ticks: `for (;;) process.nextTick(() => {});`,
  timers: `for (;;) setTimeout(() => {}, 1e6);`,
  immediates: `for (;;) setImmediate(() => {});`,
  'symbols and names of properties': `const all = {}; for (let i = 0; ; i++) all['name' + i] = Symbol('s' + i);`,
  'closures and generators': `
const all = [];
for (;;) { const gen = (function* () { yield all; })(); gen.next(); all.push(gen, () => gen); }`,
  'regular expressions': `const all = []; for (let i = 0; ; i++) all.push(new RegExp('(a|b){' + (i % 500) + '}'));`,
  contexts: `const vm = require('vm'); const all = []; for (;;) all.push(vm.createContext({}));`,
  modules: `for (let i = 0; ; i++) await import('data:text/javascript,export default ' + i + ';//' + 'x'.repeat(5_000));`,
  'weak references': `const all = []; for (;;) { const key = {}; all.push(key, new WeakRef(key), new WeakMap([[key, key]])); }`,
  'blobs and URLs of objects': `for (;;) URL.createObjectURL(new Blob([new Uint8Array(1 << 16)]));`,
  'messages between ports': `const { port1 } = new MessageChannel(); for (;;) port1.postMessage('x'.repeat(1 << 16));`,
  listeners: `const emitter = new (require('events'))(); emitter.setMaxListeners(0); for (;;) emitter.on('x', () => {});`,
  'an array that grows by its length': `const all = [1]; for (;;) all.push(...all.slice(0, 10_000));`,
};

const cpu: Record<string, string> = {
  'a loop': `for (;;);`,
  'a loop that catches everything': `for (;;) { try { for (;;); } catch {} finally { for (;;); } }`,
  'a backtracking search': `/^(a+)+$/.test('a'.repeat(40) + 'b');`,
  'a backtracking replacement': `'x'.repeat(30_000).replace(/(x+x+)+y/g, '');`,
  sorting: `for (;;) Array.from({ length: 50_000 }, (_, i) => -i).sort();`,
  'large integers': `let n = 3n; for (;;) n = (n * n) % (2n ** 20_000n);`,
  'text search': `const text = 'a'.repeat(1 << 20) + 'b'; for (;;) text.indexOf('aab' + 'a'.repeat(2_000));`,
  JSON: `const text = JSON.stringify(new Array(50_000).fill({ a: [1] })); for (;;) JSON.parse(text);`,
  'microtasks that queue microtasks': `const breed = () => queueMicrotask(breed); breed();`,
  'ticks that queue ticks': `const breed = () => process.nextTick(breed); breed();`,
  'immediates that queue immediates': `const breed = () => setImmediate(breed); breed();`,
  'immediates that queue immediates beside a server': `
require('net').createServer().listen(0);
const breed = () => setImmediate(breed);
breed();`,
  'promises that queue promises': `const breed = () => Promise.resolve().then(breed); breed();`,
  'thenables that never settle': `const evil = { then(resolve) { resolve(evil); } }; await evil;`,
  'an endless generator': `function* all() { for (;;) yield; } for (const one of all());`,
  'copying memory': `const from = new Uint8Array(8 << 20); for (;;) from.copyWithin(1, 0);`,
  'filling memory': `const all = new Float64Array(1 << 20); for (;;) all.fill(1.5);`,
  compression: `
const zlib = require('zlib');
const data = Buffer.alloc(1 << 20, 'abc');
for (;;) zlib.gzipSync(data, { level: 9 });`,
  digests: `
const crypto = require('crypto');
const data = Buffer.alloc(1 << 20);
for (;;) crypto.createHash('sha512').update(data).digest();`,
  'key derivation': `require('crypto').pbkdf2Sync('a', 'b', 2 ** 31 - 1, 64, 'sha512');`,
  'prime tests': `const crypto = require('crypto'); for (;;) crypto.generatePrimeSync(2_048, { safe: true });`,
  'nested proxies': `let p = {}; for (let i = 0; i < 1_000; i++) p = new Proxy(p, {}); for (;;) p.x;`,
  files: `for (;;) { fs.writeFileSync('f', 'x'); fs.readFileSync('f'); }`,
  paths: `fs.mkdirSync('d'); for (;;) fs.statSync('d/../'.repeat(800));`,
  children: `
const { spawnSync } = require('child_process');
for (;;) spawnSync('node', ['-e', 'for (let i = 0; i < 1e6; i++);']);`,
  'structured copies': `
const value = new Map(Array.from({ length: 20_000 }, (_, i) => [i, { i }]));
for (;;) structuredClone(value);`,
  inspection: `
const deep = Array.from({ length: 300 }, () => new Array(100).fill({ a: { b: { c: 1 } } }));
for (;;) require('util').inspect(deep, { depth: 9, maxArrayLength: null });`,
};

const wall: Record<string, string> = {
  sleeping: `await new Promise((resolve) => setTimeout(resolve, 60_000));`,
  'waiting for memory to change': `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`,
  'waiting for a child': `require('child_process').spawnSync('node', ['-e', 'setInterval(() => {}, 1000)']);`,
  'waiting for a child that ignores signals': `
require('child_process').execSync('sh -c "trap : TERM; while :; do sleep 1; done"');`,
  'signal handlers': `
for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2']) process.on(name, () => {});
setInterval(() => {}, 10);`,
  'an exit handler that never returns': `process.on('exit', () => { for (;;); }); process.exit();`,
  'a server': `require('net').createServer().listen(0); await new Promise(() => {});`,
};

const stack: EscapeCase[] = [
  ['a function that calls itself', `const f = () => f(); say(tried(f));`],
  [
    'getters, proxies, bound functions, toString',
    `
const p = new Proxy({}, { get: (t, n, r) => r[n] });
const o = { toString() { return '' + o; }, get x() { return this.x; } };
let b = () => b2();
const b2 = b.bind(null);
say(distinct([() => p.x, () => '' + o, () => o.x, b].map(tried)));`,
  ],
  [
    'sorting, replacing, mapping and reviving in each other',
    `
const sort = () => [2, 1].sort(sort);
const replace = () => 'x'.replace(/x/, replace);
const map = () => [1].map(map);
const revive = () => JSON.parse('[1]', revive);
const each = () => new Map([[1, 1]]).forEach(each);
const apply = () => Reflect.apply(apply, null, []);
class A { constructor() { new A(); } }
say(distinct([sort, replace, map, revive, each, apply, () => new A()].map(tried)));`,
  ],
  [
    'JSON of any depth',
    `
const deep = '['.repeat(200_000) + ']'.repeat(200_000);
let list = [];
for (let i = 0; i < 200_000; i++) list = [list];
say(distinct([
  tried(() => JSON.parse(deep).length), tried(() => JSON.stringify(list).length), tried(() => structuredClone(list).length),
  tried(() => String(list).length), tried(() => list.flat(Infinity).length)
]).replace(/\\b\\d+\\b/g, 'n'));`,
  ],
  [
    'programs of any depth',
    `
const texts = [
  '('.repeat(100_000), '[['.repeat(50_000), 'a?'.repeat(50_000), '-'.repeat(200_000) + '1', '{'.repeat(100_000),
  'x=>'.repeat(50_000) + '1', '\`\${'.repeat(30_000), 'new '.repeat(100_000) + 'X'
];
say(distinct(texts.map((text) => tried(() => new Function(text)))));`,
  ],
  [
    'patterns of any depth',
    `
const texts = [
  '('.repeat(50_000) + ')'.repeat(50_000), '(?:'.repeat(50_000) + ')'.repeat(50_000), '(?=' .repeat(20_000) + ')'.repeat(20_000),
  '[' .repeat(50_000)
];
say(distinct(texts.map((text) => tried(() => new RegExp(text, 'v')).replace(/^\\/.*/s, 'made'))));`,
  ],
].map(([name, program]) => ({
  name: `the stack is bounded: ${name}`,
  program: program as string,
  expected: /^(?=.*(RangeError|SyntaxError|InternalError|made|n))[\w ]+$/,
}));

const named = (
  limit: string,
  programs: Record<string, string>,
  rest: Pick<EscapeCase, 'options' | 'expected' | 'execOptions'>,
): EscapeCase[] =>
  Object.entries(programs).map(([name, program]) => ({
    name: `the limit of ${limit} ends a program: ${name}`,
    program,
    ...rest,
  }));

/**
 * The engine reaches the limit inside its parser, so the program may get an exception instead of
 * `ERR_MEMORY_LIMIT`.
 */
const parser: EscapeCase = {
  name: 'the limit of memory ends a program: functions from text',
  program: `const all = []; for (let i = 0; ; i++) all.push(new Function('return ' + i));`,
  options: MEMORY.options,
  expected: { error: /^(ERR_MEMORY_LIMIT|none)$/ },
};

export const engine: EscapeCase[] = [
  parser,
  ...named('memory', memory, MEMORY),
  ...named('processor time', cpu, CPU),
  ...named('wall time', wall, WALL),
  ...stack,
];
