// `callBinding(name, input, { signal })` calls a function of the app by name. Input and result are
// JSON. `callBinding` is a global and not a module, because programs that are written for sandboxes
// expect a global. A call starts no process. The kernel transfers the app's error as JSON: the
// name, the message, the code and other fields. This file therefore makes the error object. Next:
// command.js, which offers the call as a command; docs/internals/guest-abi.md lists the system
// calls.
'use strict';

const context = require('../context.js');
const { namePermission, reasonOf } = require('../errors/denials.js');
const { nameOf } = require('../errors/errno.js');
const operations = require('../event-loop/operations.js');
const { bindings: NUMBERS } = require('../generated/system-calls.js');

const RESULT = '=';
const { parse, stringify } = JSON;
const { captureStackTrace } = Error;

// The classes of errors, by name. An error with another name becomes an `Error` with that name.
const CLASSES = { __proto__: null, Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

const KERNEL = {
  __proto__: null,
  ENOENT: (name) => ['ERR_BINDING_NOT_FOUND', `There is no binding with the name '${name}'`],
  E2BIG: (name) => ['ERR_BINDING_INPUT', `The input of the binding '${name}' exceeds its limit`],
  ENOBUFS: () => ['ERR_BINDING_LIMIT', 'Too many calls of bindings are pending'],
  EACCES: (name, reason) => ['EACCES', `EACCES: permission denied, binding.call '${name}'${reason ? ` (${reason})` : ''}`],
};

// Makes the error of a call that the app did not answer with an error. `reason` is the kernel's
// explanation, if any.
function kernelError(name, errno, reason) {
  const code = nameOf(errno);
  const [known, message] = KERNEL[code]?.(name, reason) ?? [
    'ERR_BINDING_FAILED',
    `The binding '${name}' cannot be called: ${reason || code}`,
  ];
  return namePermission(Object.assign(new Error(message), { code: known }), reason ?? '');
}

function remoteError({ name, message, ...facts }) {
  const Class = CLASSES[name] ?? Error;
  const error = new Class(message);
  if (Class.name !== name) Object.defineProperty(error, 'name', { value: name, writable: true, configurable: true });
  return Object.assign(error, facts);
}

// Starts a call and returns the operation's number, or undefined if the call did not start.
// `finish(error, result)` is called once, but not for an operation that is cancelled.
function ask(call, name, input, finish) {
  const operation = native.sys(call, name, input);
  if (operation < 0) {
    finish(kernelError(name, operation, reasonOf(operation)));
    return undefined;
  }
  operations.expect(operation, (result, bytes) => {
    const text = bytes === undefined ? '' : native.decode(bytes, 0, bytes.byteLength, native.encodings.utf8);
    let [error, value] = [];
    try {
      if (result < 0) error = kernelError(name, result, text);
      else if (text[0] === RESULT) value = parse(text.slice(1));
      else error = remoteError(parse(text.slice(1)));
    } catch (failure) {
      error = failure;
    }
    finish(error, value);
  });
  return operation;
}

const settle = (resolve, reject) => (error, value) => (error === undefined ? resolve(value) : reject(error));

// Sets the stack of an error to the stack of `site`: the error is made when the reply arrives, but
// the call caused the error.
function placed(error, { stack }) {
  const frames = typeof stack === 'string' ? stack.slice(`${stack}\n`.indexOf('\n')) : '';
  const value = `${error.name}: ${error.message}${frames}`;
  return Object.defineProperty(error, 'stack', { value, writable: true, configurable: true });
}

function checkedName(name) {
  if (typeof name === 'string') return name;
  const { ERR_INVALID_ARG_TYPE } = context.requireBuiltin('internal/errors').codes;
  throw new ERR_INVALID_ARG_TYPE('name', 'string', name);
}

// A call without input passes an empty object, because most bindings expect an object.
function inputText(input) {
  const text = stringify(input === undefined ? {} : input);
  if (text !== undefined) return text;
  const { ERR_INVALID_ARG_VALUE } = context.requireBuiltin('internal/errors').codes;
  throw new ERR_INVALID_ARG_VALUE('input', input, 'cannot be written as JSON');
}

function callBinding(name, input, options) {
  const site = {};
  captureStackTrace(site, callBinding);
  return new Promise((resolve, reject) => {
    checkedName(name);
    const signal = options?.signal;
    if (signal !== undefined) {
      context.requireBuiltin('internal/validators').validateAbortSignal(signal, 'options.signal');
      signal.throwIfAborted();
    }
    const done = settle(resolve, (error) => reject(placed(error, site)));
    const text = inputText(input);
    if (signal === undefined) {
      ask(NUMBERS.call, name, text, done);
      return;
    }
    const operation = ask(NUMBERS.call, name, text, (...outcome) => {
      signal.removeEventListener('abort', giveUp);
      done(...outcome);
    });
    function giveUp() {
      // If the reply has arrived in this turn, the kernel cannot cancel the operation.
      if (native.sys(NUMBERS.cancel, operation) < 0) return;
      operations.forget(operation);
      reject(signal.reason);
    }
    if (operation !== undefined) signal.addEventListener('abort', giveUp, { once: true });
  });
}

/** Returns `{ description, inputSchema, examples }` of a binding. */
const describeBinding = (name) => new Promise((resolve, reject) => ask(NUMBERS.describe, name, '', settle(resolve, reject)));

function install() {
  Object.defineProperty(globalThis, 'callBinding', { value: callBinding, writable: true, configurable: true });
}

module.exports = { callBinding, describeBinding, install };
