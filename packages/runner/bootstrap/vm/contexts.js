// What: contexts of `node:vm`: making one (node_contextify.cc's ContextifyContext), finding the one that belongs to an object, and running a function
// in one with a time limit and microtasks of its own.
// Why a handle: the engine's realm lives as long as this object; Node's library keeps it on the program's object under a private symbol.
// Next: bindings/contextify.js and bindings/module_wrap.js; the engine's side is engine/shim/contexts.c.
'use strict';

const context = require('../context.js');

// What the engine puts on a global object and V8 does not.
const NOT_OF_A_CONTEXT = ['performance', 'queueMicrotask', 'atob', 'btoa', 'navigator', 'DOMException', 'print', 'gc'];

// V8 gives every context a console that only a debugger hears.
const PREPARE = `
  const console = {};
  for (const name of ['debug', 'error', 'info', 'log', 'warn', 'dir', 'dirxml', 'table', 'trace', 'group', 'groupCollapsed', 'groupEnd', 'clear',
    'count', 'countReset', 'assert', 'profile', 'profileEnd', 'time', 'timeLog', 'timeEnd', 'timeStamp', 'context'])
    console[name] = { [name]() {} }[name];
  Object.defineProperty(console, Symbol.toStringTag, { value: 'console', configurable: true });
  Object.defineProperty(global, 'console', { value: console, writable: true, configurable: true });
  Object.defineProperty(Error, 'stackTraceLimit', { value: 10, writable: true, enumerable: true, configurable: true });
  if (typeof Atomics === 'undefined') Object.defineProperty(global, 'Atomics', { value: Atomics_, writable: true, configurable: true });`;

const MICROTASKS = Symbol('microtasks of its own');

function prepare(handle, global) {
  for (const name of NOT_OF_A_CONTEXT) delete global[name];
  delete global[Symbol.toStringTag];
  native.compileFunction(PREPARE, 'coldframe:context', ['global', 'Atomics_'], { context: handle })(global, Atomics);
}

/** A context around `object`, or, when that is undefined, one with an ordinary global object. Returns what stands for it. */
function makeContext(object, strings, ownMicrotasks) {
  const [handle, global] = native.makeContext(object, strings, prepare);
  handle[MICROTASKS] = ownMicrotasks;
  const key = context.privateSymbols.contextify_context_private_symbol;
  const result = object ?? global;
  result[key] = handle; // an assignment: on a proxy it is the proxy's own
  return result;
}

/** The handle of a contextified object; undefined for the main context. */
function handleOf(object) {
  return object === null || object === undefined ? undefined : object[context.privateSymbols.contextify_context_private_symbol];
}

/** What `run` returns. It may take `timeout` milliseconds (below 0: any time), with the microtasks of a context that has its own. */
function runLimited(run, timeout, handle) {
  const withMicrotasks = handle?.[MICROTASKS] ? handle : undefined;
  if (timeout < 0 && withMicrotasks === undefined) return run();
  const result = native.runLimited(run, timeout, withMicrotasks);
  if (result !== native.absent) return result;
  const error = new Error(`Script execution timed out after ${timeout}ms`);
  error.code = 'ERR_SCRIPT_EXECUTION_TIMEOUT';
  throw error;
}

module.exports = { handleOf, makeContext, runLimited };
