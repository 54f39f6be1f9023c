// Changes the global object and the call sites of the engine to what Node's library and packages
// expect. Each change is a few lines of JavaScript, which may move into the engine later. Next:
// ../start-up/process.js.
'use strict';

const holdTokensWeakly = require('./finalization.js');

// The globals of the engine that are removed. Node then defines its own versions, in Node's order.
// Node has no `print`, and has `gc` only with a flag.
const REPLACED = ['queueMicrotask', 'btoa', 'atob', 'performance', 'navigator', 'DOMException', 'console', 'print', 'gc'];

module.exports = function prepareGlobals() {
  for (const name of REPLACED) delete globalThis[name];
  if (typeof Atomics === 'undefined') defineAtomics();
  completeCallSites();
  holdTokensWeakly();
};

// Defines Atomics, which the engine lacks if it is built without threads. A process has one thread,
// so every operation is atomic. `wait` must not block a thread that no other thread can notify.
function defineAtomics() {
  const update = (combine) => (array, index, value) => {
    const old = array[index];
    array[index] = combine(old, value);
    return old;
  };
  const operations = {
    add: update((a, b) => a + b),
    and: update((a, b) => a & b),
    exchange: update((a, b) => b),
    or: update((a, b) => a | b),
    sub: update((a, b) => a - b),
    xor: update((a, b) => a ^ b),
    compareExchange(array, index, expected, replacement) {
      const old = array[index];
      if (old === expected) array[index] = replacement;
      return old;
    },
    isLockFree: (size) => size === 1 || size === 2 || size === 4 || size === 8,
    load: (array, index) => array[index],
    notify: () => 0,
    pause() {},
    store(array, index, value) {
      array[index] = value;
      return value;
    },
    wait() {
      throw new TypeError('Atomics.wait cannot be called in this context');
    },
    waitAsync: (array, index, value) => ({ async: false, value: array[index] === value ? 'timed-out' : 'not-equal' }),
  };
  const atomics = {};
  for (const name of Object.keys(operations)) {
    Object.defineProperty(operations[name], 'name', { value: name, configurable: true });
    Object.defineProperty(atomics, name, { value: operations[name], writable: true, configurable: true });
  }
  Object.defineProperty(atomics, Symbol.toStringTag, { value: 'Atomics', configurable: true });
  Object.defineProperty(globalThis, 'Atomics', { value: atomics, writable: true, configurable: true });
}

const { startsWith } = String.prototype;

// Adds the methods of V8's CallSite that the engine's CallSite lacks. Packages such as `depd` call
// these methods without a check.
function completeCallSites() {
  const before = Error.prepareStackTrace;
  Error.prepareStackTrace = (error, sites) => sites;
  const sites = new Error().stack;
  Error.prepareStackTrace = before;
  const prototype = Object.getPrototypeOf(sites[0]);
  const missing = {
    getThis: () => undefined,
    getTypeName: () => null,
    getMethodName: () => null,
    getEvalOrigin: () => undefined,
    isToplevel: () => true,
    isEval: () => false,
    isAsync: () => false,
    isConstructor: () => false,
    isPromiseAll: () => false,
    getPromiseIndex: () => null,
    getScriptNameOrSourceURL() {
      return this.getFileName();
    },
    getScriptHash: () => '',
    getEnclosingLineNumber: () => 0,
    getEnclosingColumnNumber: () => 0,
    getPosition: () => 0,
  };
  for (const name of Object.keys(missing)) {
    if (prototype[name] !== undefined) continue;
    Object.defineProperty(prototype, name, { value: missing[name], writable: true, configurable: true });
  }
  // V8's `getFunction` returns undefined for functions of strict code, and all of Node's library is
  // strict code. A stack therefore must expose no internal function to programs.
  const { getFunction, getFileName } = prototype;
  const { apply } = Reflect;
  const own = {
    getFunction() {
      const file = apply(getFileName, this, []);
      return typeof file !== 'string' || apply(startsWith, file, ['node:']) ? undefined : apply(getFunction, this, []);
    },
  };
  Object.defineProperty(prototype, 'getFunction', { value: own.getFunction, writable: true, configurable: true });
  Object.defineProperty(prototype, 'toString', { value: callSiteMethods.toString, writable: true, configurable: true });
}

const callSiteMethods = {
  toString() {
    const name = this.getFunctionName();
    const place = this.isNative() ? '<anonymous>' : `${this.getFileName()}:${this.getLineNumber()}:${this.getColumnNumber()}`;
    if (!name) return place;
    return `${this.isConstructor() ? 'new ' : ''}${name} (${place})`;
  },
};
