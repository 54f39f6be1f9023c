// Attacks objects that the bootstrap left reachable: internal modules, internal bindings, functions
// in stack frames, natives of the shim.
//
// The kernel behind these objects treats every program equally. The cases assert that natives are
// not reachable, and that reachable functions with hostile arguments do not break the engine.

import type { EscapeCase, Theme } from '../../harness/case.js';

const BINDINGS = [
  'async_wrap',
  'blob',
  'block_list',
  'buffer',
  'builtins',
  'cares_wrap',
  'config',
  'contextify',
  'credentials',
  'crypto',
  'encoding_binding',
  'errors',
  'fs',
  'fs_dir',
  'fs_event_wrap',
  'heap_utils',
  'http_parser',
  'icu',
  'inspector',
  'js_stream',
  'messaging',
  'mksnapshot',
  'module_wrap',
  'modules',
  'options',
  'os',
  'performance',
  'permission',
  'pipe_wrap',
  'process_methods',
  'process_wrap',
  'report',
  'sea',
  'serdes',
  'signal_wrap',
  'spawn_sync',
  'stream_wrap',
  'string_decoder',
  'symbols',
  'task_queue',
  'tcp_wrap',
  'timers',
  'trace_events',
  'tty_wrap',
  'types',
  'udp_wrap',
  'url',
  'util',
  'uv',
  'v8',
  'wasm_web_api',
  'watchdog',
  'worker',
  'zlib',
];

/** Functions that are not called, because a call would end, block or reconfigure the program. */
const NOT_CALLED = [
  'reallyExit',
  'abort',
  'causeSegfault',
  '_kill',
  'kill',
  'exit',
  'triggerUncaughtException',
  'wait',
  'sleep',
  'runMicrotasks',
  'loadEnvFile',
  'patchProcessObject',
  'setPromiseHooks',
  'setupHooks',
];

const HOSTILE_CALLS = `
const { internalBinding } = require('internal/test/binding');
const detached = new Uint8Array(8); detached.buffer.transfer();
const evil = new Proxy(function () {}, {
  get(target, name) { if (name === Symbol.toPrimitive) return () => { throw new Error('no'); }; return -1; }
});
const values = [
  undefined, null, -1, 2 ** 31, 2 ** 32, 2 ** 53, NaN, '', 'x'.repeat(10_000), '\\0', {}, [], [[]], evil, detached,
  new Uint8Array(16), new Uint8Array(0), new SharedArrayBuffer(8), new Map(), () => {}, Symbol('s'), 1n << 80n, new Date(NaN),
  Object.create(null), true
];
let seed = SEED;
const random = (most) => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) % most;
const any = () => values[random(values.length)];
let calls = 0;
const skip = new Set(${JSON.stringify(NOT_CALLED)});
const attack = (name, f, self) => {
  if (typeof f !== 'function' || skip.has(name)) return;
  for (let i = 0; i < 24; i++) {
    const args = Array.from({ length: random(8) }, any);
    try {
      calls++;
      const made = Reflect.apply(f, random(3) ? self : any(), args);
      if (made && typeof made.then === 'function') made.then(() => {}, () => {});
    } catch {}
    if (/^[A-Z]/.test(name))
      try {
        const made = Reflect.construct(f, args);
        for (const method of Object.getOwnPropertyNames(f.prototype ?? {}))
          if (!skip.has(method)) try { made[method]?.(...Array.from({ length: random(6) }, any)); calls++; } catch {}
      } catch {}
  }
};
`;

const binding = (name: string): EscapeCase => ({
  name: `binding ${name}: every function survives hostile arguments`,
  execOptions: { execArgv: ['--expose-internals', '--no-warnings'], timeout: 5_000 },
  program: `${HOSTILE_CALLS.replace('SEED', String(name.length * 7_919))}
process.on('uncaughtException', () => {}); process.on('unhandledRejection', () => {});
const exit = process.reallyExit.bind(process); const write = fs.writeSync;
let bound; try { bound = internalBinding('${name}'); } catch {}
for (const key of Reflect.ownKeys(bound ?? {})) { let f; try { f = bound[key]; } catch {} attack(String(key), f, bound); }
write(1, 'called');
exit(0);`,
  expected: { error: /^(none|ERR_TIMEOUT|ERR_MEMORY_LIMIT)$/ },
});

const reachable: EscapeCase[] = [
  {
    name: 'internal modules are not required, imported or loaded without the flag',
    program: `
const Module = require('module');
const names = [
  'internal/bootstrap/realm', 'internal/test/binding', 'node:internal/options', 'internal/deps/undici/undici', 'coldframe:entry',
  'native', 'internalBinding'
];
const works = names.flatMap((name) => [
  () => require(name), () => Module._load(name), () => process.getBuiltinModule(name) ?? require('/none'),
  () => Module._resolveFilename(name)
]);
say(distinct(works.map(tried)), distinct(await Promise.all(names.map((name) => later(() => import(name))))));`,
    expected: new RegExp(
      '^(MODULE_NOT_FOUND|ERR_UNKNOWN_BUILTIN_MODULE| )+' +
        '(ERR_MODULE_NOT_FOUND|ERR_UNKNOWN_BUILTIN_MODULE|ERR_UNSUPPORTED_ESM_URL_SCHEME| )+$',
    ),
  },
  {
    name: 'process.binding returns only what Node returns',
    program: `
say(
  tried(() => process.binding('contextify_none')), tried(() => process._linkedBinding('fs')),
  tried(() => process.binding('coldframe')), tried(() => process.binding('../fs')), tried(() => process.binding('__proto__')),
  tried(() => process.binding({ toString: () => 'builtins' }))
);`,
    expected: /^(?!.*object)/,
  },
  {
    name: 'native addons are refused',
    program: `
fs.writeFileSync('evil.node', Buffer.from('7f454c46020101', 'hex'));
say(
  tried(() => require('./evil.node')),
  tried(() => process.dlopen({ exports: {} }, '/workspace/evil.node')),
  tried(() => require('module')._extensions['.node']({}, '/lib/libc.so.6'))
);`,
    expected: /^(ERR_DLOPEN_FAILED ?)+$|^(ERR_[A-Z_]+ ?){3}$/,
  },
  {
    name: 'stack frames expose neither natives nor functions of the bootstrap',
    program: `
const held = new Set();
Error.prepareStackTrace = (error, frames) => {
  for (const frame of frames) {
    held.add(frame.getThis?.());
    held.add(frame.getEvalOrigin?.());
    if (!frame.getFileName()?.startsWith('file:')) held.add(frame.getFunction?.());
  }
  return frames.map((frame) => frame.getFileName()).join();
};
Error.stackTraceLimit = 200;
let files = '';
const look = () => { files += new Error('x').stack; };
setTimeout(look);
setImmediate(look);
process.nextTick(look);
queueMicrotask(look);
[1].sort(look);
[2, 1].sort(look);
'x'.replace('x', look);
JSON.stringify({ toJSON: look });
fs.stat('/', look); process.on('exit', look); await new Promise((resolve) => setTimeout(resolve, 20)); look();
let caller; (function f() { try { caller = f.caller; } catch {} })();
say(
  [...held].every((value) => value === undefined || value === null || value === globalThis),
  /coldframe:/.test(files),
  caller === null || caller === undefined
);`,
    expected: 'true false true',
  },
  {
    name: 'no native is reachable from any object of a program',
    execOptions: { execArgv: ['--no-warnings'], timeout: 20_000 },
    program: `
process.on('uncaughtException', () => {}); process.on('unhandledRejection', () => {});
const { builtinModules } = require('module');
const seen = new Set();
const queue = [globalThis, require, process, new Error('x'), (await import('node:vm')).runInNewContext('this')];
for (const name of builtinModules) try { queue.push(process.getBuiltinModule(name)); } catch {}
for (const name of [
  'fs', 'buffer', 'crypto', 'util', 'constants', 'natives', 'uv', 'v8', 'http_parser', 'tcp_wrap', 'pipe_wrap', 'process_wrap',
  'config', 'contextify', 'icu', 'url', 'zlib', 'os', 'async_wrap', 'cares_wrap', 'js_stream', 'signal_wrap', 'spawn_sync',
  'stream_wrap', 'tty_wrap', 'udp_wrap'
]) try { queue.push(process.binding(name)); } catch {}
const NATIVES = [
  'setHooks', 'compileFunction', 'setReturnValue', 'privateSymbol', 'proxyDetails', 'makeLog', 'setStrip', 'memoryDetails', 'sys',
  'sysWait'
];
let found = '';
while (queue.length > 0 && !found) {
  const value = queue.pop();
  if (value === null || (typeof value !== 'object' && typeof value !== 'function') || seen.has(value)) continue;
  seen.add(value);
  let keys; try { keys = Reflect.ownKeys(value); queue.push(Object.getPrototypeOf(value)); } catch { continue; }
  if (keys.filter((name) => NATIVES.includes(name)).length > 2) found = keys.slice(0, 20).map(String).join();
  if (seen.size < 60_000 && !(ArrayBuffer.isView(value))) for (const key of keys) try {
    const { value: held, get } = Object.getOwnPropertyDescriptor(value, key); queue.push(held, get);
    if (get && seen.size < 20_000) queue.push(Reflect.apply(get, value, []));
  } catch {}
}
say(found || 'nothing', seen.size > 5_000);`,
    expected: 'nothing true',
  },
  {
    name: 'internal modules expose no natives with --expose-internals',
    execOptions: { execArgv: ['--expose-internals', '--no-warnings'], timeout: 20_000 },
    program: `
const { internalBinding } = require('internal/test/binding');
const names = internalBinding('builtins').builtinIds;
const NATIVES = [
  'setHooks', 'compileFunction', 'setReturnValue', 'privateSymbol', 'proxyDetails', 'makeLog', 'setStrip', 'memoryDetails'
];
let found = ''; let count = 0;
for (const name of names) {
  let exports;
  try { exports = require(name); } catch { continue; }
  count++;
  for (const key of Reflect.ownKeys(exports ?? {})) {
    let value;
    try { value = exports[key]; } catch { continue; }
    try { if (NATIVES.filter((known) => known in Object(value)).length > 2) found += name + '.' + String(key); } catch {}
  }
}
for (const name of ${JSON.stringify(BINDINGS)})
  try { if (NATIVES.filter((known) => known in internalBinding(name)).length > 2) found += name; } catch {}
say(found || 'nothing', count > 100);`,
    expected: 'nothing true',
  },
  {
    name: "code from strings runs in the program's realm",
    program: `
const globals = [
  Function('return this')(), (0, eval)('this'), (async () => {}).constructor('return this'),
  Reflect.construct(Function, ['return this'])(), setTimeout.constructor('return this')(),
  fs.readFileSync.constructor('return this')()
];
say(
  (await Promise.all(globals.map((value) => (typeof value === 'function' ? value() : value))))
    .every((value) => value === globalThis),
  tried(() => Function('return native')()),
  tried(() => Function('return buildFile')()),
  tried(() => fs.readFileSync.constructor('return internalBinding')()),
  typeof primordials
);`,
    expected: 'true ReferenceError ReferenceError ReferenceError undefined',
  },
  {
    name: 'a program has only the globals of Node and callBinding',
    program: `
const known = new Set((
  'Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise ' +
  'RegExp Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError globalThis JSON ' +
  'Math Intl ArrayBuffer Atomics Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array Float16Array ' +
  'Float32Array Float64Array Uint8ClampedArray BigUint64Array BigInt64Array DataView Map BigInt Set WeakMap ' +
  'WeakSet WeakRef Proxy Reflect FinalizationRegistry SharedArrayBuffer Iterator decodeURI decodeURIComponent ' +
  'encodeURI encodeURIComponent escape unescape eval isFinite isNaN console WebAssembly SuppressedError ' +
  'DisposableStack AsyncDisposableStack InternalError'
).split(' '));
const extra = Object.getOwnPropertyNames(globalThis).filter((name) => !known.has(name));
const suspicious = extra.filter((name) =>
  /native|internal|coldframe|sys|host|kernel|binding|std|os|qjs|scriptArgs|gc/i.test(name) &&
  !['onmessage', 'PerformanceObserverEntryList', 'CustomEvent', 'postMessage'].includes(name));
say(suspicious.filter((name) => name !== 'callBinding' && !/^(Close|Position)/.test(name)).join() || 'none', typeof __return);`,
    expected: 'none function',
  },
];

export const internals: Theme = { name: 'internals', cases: [...reachable, ...BINDINGS.map(binding)] };
