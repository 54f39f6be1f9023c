// Defines poisons: changes of the objects that Node's library depends on.

/** The code of each poison by name. */
export const POISONS: Record<string, string> = {
  'Object.prototype with every option that a call may look for': `
for (const name of [
  'fd', 'flag', 'flags', 'mode', 'encoding', 'recursive', 'signal', 'cwd', 'env', 'shell', 'uid', 'gid', 'stdio', 'detached',
  'path', 'host', 'port', 'offset', 'length', 'position', 'bigint', 'withFileTypes', 'highWaterMark', 'start', 'end', 'timeout',
  'value', 'writable', 'get', 'then'
]) Object.prototype[name] = name === 'then' ? undefined : 1;`,
  'Object.prototype with getters and setters that throw': `
for (const name of ['0', '1', 'length', 'constructor', 'code', 'errno', 'syscall', 'handle', 'owner', 'buffer', 'parent'])
  Object.defineProperty(
    Object.prototype,
    name,
    { configurable: true, get() { throw new Error('got'); }, set() { throw new Error('set'); } }
  );`,
  'Object.prototype.get and set, for property descriptors': `Object.prototype.get = () => 1; Object.prototype.set = () => {};`,
  'Object.prototype.polluted, and a wrong toString': `
Object.prototype.polluted = true;
Object.prototype.toString = () => '[object Uint8Array]';
Object.prototype.valueOf = () => -1;`,
  'Object.prototype frozen, with no way to define': `
Object.freeze(Object.prototype);
Object.defineProperty = Object.defineProperties = () => { throw new Error('no'); };`,
  'Array iteration that yields something else': `
Array.prototype[Symbol.iterator] = function* () { yield '/etc/shadow'; yield -1; };`,
  'Array methods that expose their arguments': `
globalThis.caught = [];
for (const name of ['push', 'map', 'slice', 'splice', 'join', 'forEach', 'concat', 'shift', 'unshift', 'indexOf', 'filter'])
  Array.prototype[name] = function (...args) { caught[caught.length] = this; return args; };`,
  'Array.prototype with indexed setters': `
for (let i = 0; i < 4; i++)
  Object.defineProperty(
    Array.prototype,
    i,
    { configurable: true, set(value) { globalThis.last = value; }, get() { return globalThis.last; } }
  );`,
  'species of arrays, typed arrays, buffers and promises': `
for (const kind of [Array, Uint8Array.__proto__, ArrayBuffer, Promise, RegExp, Map, Set])
  Object.defineProperty(kind, Symbol.species, { configurable: true, get: () => function Evil() { return new Uint8Array(0); } });`,
  'Promise.prototype.then that never settles': `
const { then } = Promise.prototype;
Promise.prototype.then = function (...args) { return Reflect.apply(then, this, [() => args[0]?.(-1), args[1]]); };`,
  'Promise.resolve, all and withResolvers replaced': `
Promise.resolve = () => ({ then(resolve) { resolve(-1); } });
Promise.all = async () => [-1];
Promise.withResolvers = () => ({});`,
  'typed arrays with wrong length, buffer and offset': `
const typed = Uint8Array.prototype.__proto__;
for (const name of ['length', 'byteLength', 'byteOffset', 'buffer'])
  Object.defineProperty(typed, name, { configurable: true, get: () => (name === 'buffer' ? new ArrayBuffer(1) : 2 ** 31) });`,
  'typed array methods replaced': `
const typed = Uint8Array.prototype.__proto__;
for (const name of ['set', 'subarray', 'slice', 'fill', 'copyWithin']) typed[name] = () => new Uint8Array(1 << 20);`,
  'ArrayBuffer with a wrong length, and detached': `
Object.defineProperty(ArrayBuffer.prototype, 'byteLength', { configurable: true, get: () => 2 ** 40 });
ArrayBuffer.prototype.slice = function () { return this.transfer(); };`,
  'Buffer methods that return other memory': `
for (const name of ['toString', 'utf8Write', 'latin1Slice', 'utf8Slice', 'copy', 'fill', 'write'])
  Buffer.prototype[name] = () => 2 ** 40;
Buffer.from = Buffer.alloc = Buffer.allocUnsafe = () => new Uint8Array(0);`,
  'Map and Set with wrong contents': `
for (const kind of [Map, Set, WeakMap])
  for (const name of ['get', 'has', 'set', 'add', 'delete', 'forEach'])
    if (name in kind.prototype) kind.prototype[name] = function () { return this; };`,
  'String methods that rewrite paths': `
for (const name of [
  'slice', 'split', 'replace', 'startsWith', 'endsWith', 'indexOf', 'charCodeAt', 'toLowerCase', 'trim', 'concat'
]) String.prototype[name] = () => '/etc/shadow';`,
  'RegExp that always matches': `
RegExp.prototype.exec = () => ['/etc/shadow', '/etc/shadow'];
RegExp.prototype.test = () => true;
RegExp.prototype[Symbol.replace] = () => '/etc/shadow';
RegExp.prototype[Symbol.split] = () => ['a'];`,
  'call, apply and bind that swap this': `
const { apply } = Reflect;
Function.prototype.call = function (self, ...args) { return apply(this, globalThis, args); };
Function.prototype.apply = function () { return apply(this, globalThis, []); };
Function.prototype.bind = function () { return () => this; };`,
  'Reflect replaced': `
for (const name of Object.getOwnPropertyNames(Reflect)) if (typeof Reflect[name] === 'function') Reflect[name] = () => true;`,
  'Symbol.hasInstance that returns true': `
for (const kind of [Uint8Array, ArrayBuffer, Error, Promise, URL, Buffer, AbortSignal])
  Object.defineProperty(kind, Symbol.hasInstance, { configurable: true, value: () => true });`,
  'Error.prepareStackTrace that reads the frames': `
globalThis.seen = [];
Error.prepareStackTrace = (error, frames) => {
  for (const frame of frames) seen.push(frame.getThis?.(), frame.getFunction?.());
  return 'x';
};
Error.stackTraceLimit = Infinity;`,
  'Error.stackTraceLimit that throws': `
Object.defineProperty(Error, 'stackTraceLimit', { configurable: true, get() { throw new Error('limit'); } });
Error.captureStackTrace = () => { throw new Error('capture'); };`,
  'JSON replaced, toJSON everywhere': `
JSON.stringify = () => '{}';
JSON.parse = () => ({ then: 1 });
Object.prototype.toJSON = () => -1;`,
  'Math, Number and Date with wrong results': `
Math.min = Math.max = Math.floor = () => 2 ** 40;
Number.isInteger = Number.isSafeInteger = () => true;
Date.now = () => NaN;
Number.prototype.toString = () => '/etc/shadow';`,
  'globals deleted': `
for (const name of [
  'Buffer', 'URL', 'setTimeout', 'queueMicrotask', 'Promise', 'Array', 'Object', 'Error', 'Symbol', 'Proxy', 'Reflect', 'Map',
  'WeakRef', 'FinalizationRegistry'
]) if (name !== 'setTimeout' && name !== 'Promise') delete globalThis[name];`,
  'process and its parts replaced': `
process.emit = () => false;
process.nextTick = (work) => work();
process.exit = () => {};
process.env = { PATH: '/etc' };
process._exiting = true;
Object.defineProperty(process, 'pid', { value: 1 });`,
  'EventEmitter methods replaced': `
const { EventEmitter } = process.getBuiltinModule('events');
EventEmitter.prototype.emit = function () { return true; };
EventEmitter.prototype.on = function () { return this; };
EventEmitter.prototype.listenerCount = () => -1;`,
  'iterators and generators that never end': `
const proto = [][Symbol.iterator]().__proto__;
let n = 0;
proto.next = () => ({ done: n++ % 50 === 49, value: '/etc/shadow' });
Object.getPrototypeOf((function* () {})()).__proto__.return = () => { throw new Error('return'); };`,
  'async hooks that throw and allocate': `
const hooks = process.getBuiltinModule('async_hooks');
hooks.createHook(
  { init(id, type) { if (type === 'FSREQCALLBACK') throw new Error('init'); }, before() {}, after() {}, destroy() {} }
).enable();`,
  'Proxy in the prototype chain of everything': `
Object.setPrototypeOf(
  Object.getPrototypeOf(process),
  new Proxy({}, { get: (target, name) => (name === 'then' ? undefined : target[name]), has: () => true, set: () => true })
);`,
  'getters in the module cache and loader': `
const Module = process.getBuiltinModule('module');
Module._load = () => ({});
Module._resolveFilename = () => '/etc/shadow';
Module.prototype.require = () => globalThis;`,
  'symbols that streams and inspection read': `
for (const name of ['toPrimitive', 'toStringTag', 'asyncIterator', 'isConcatSpreadable', 'unscopables'])
  Object.defineProperty(Object.prototype, Symbol[name], { configurable: true, get() { return () => -1; } });`,
};
