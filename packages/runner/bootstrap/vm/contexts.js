// Contexts of `node:vm`: makes a context (ContextifyContext of node_contextify.cc), finds the
// context of an object, and runs a function in a context. A run may have a time limit and
// microtasks of its own. A handle represents a context, because the engine's realm lives as long as
// the handle. Node's library keeps the handle on the program's object under a private symbol. Next:
// ../internal-bindings/contextify.js and module_wrap.js; engine/shim/contexts.c is the engine's
// side.
'use strict';

const context = require('../context.js');

// Properties of the engine's global object that V8's global object lacks.
const NOT_OF_A_CONTEXT = ['performance', 'queueMicrotask', 'atob', 'btoa', 'navigator', 'DOMException', 'print', 'gc'];

// Every context of V8 has a console that only a debugger reads.
const PREPARE = `
  const console = {};
  for (const name of ['debug', 'error', 'info', 'log', 'warn', 'dir', 'dirxml', 'table', 'trace',
    'group', 'groupCollapsed', 'groupEnd', 'clear', 'count', 'countReset', 'assert', 'profile', 'profileEnd', 'time',
    'timeLog', 'timeEnd', 'timeStamp', 'context'])
    console[name] = { [name]() {} }[name];
  Object.defineProperty(console, Symbol.toStringTag, { value: 'console', configurable: true });
  Object.defineProperty(global, 'console', { value: console, writable: true, configurable: true });
  Object.defineProperty(Error, 'stackTraceLimit', { value: 10, writable: true, enumerable: true, configurable: true });
  if (typeof Atomics === 'undefined')
    Object.defineProperty(global, 'Atomics', { value: Atomics_, writable: true, configurable: true });`;

const MICROTASKS = Symbol('microtasks of its own');

function prepare(handle, global) {
  for (const name of NOT_OF_A_CONTEXT) delete global[name];
  delete global[Symbol.toStringTag];
  native.compileFunction(PREPARE, 'coldframe:context', ['global', 'Atomics_'], { context: handle })(global, Atomics);
}

/**
 * Makes a context around `object`. If `object` is undefined, the context has an ordinary global
 * object. Returns the object that represents the context.
 */
function makeContext(object, strings, ownMicrotasks) {
  const [handle, global] = native.makeContext(object, strings, prepare);
  handle[MICROTASKS] = ownMicrotasks;
  const key = context.privateSymbols.contextify_context_private_symbol;
  const result = object ?? global;
  result[key] = handle; // an assignment, because on a proxy the property is the proxy's own
  return result;
}

/** Returns the handle of a contextified object; undefined for the main context. */
function handleOf(object) {
  return object === null || object === undefined ? undefined : object[context.privateSymbols.contextify_context_private_symbol];
}

/**
 * Calls `run` and returns its result. `timeout` is in milliseconds; a negative number means no
 * limit. If the context has a microtask queue of its own, that queue is used. Throws
 * `ERR_SCRIPT_EXECUTION_TIMEOUT` when the time is over.
 */
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
