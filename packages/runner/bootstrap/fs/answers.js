// The three ways in which Node's library calls an operation. A synchronous call throws in the
// binding. An asynchronous call has a request object whose `oncomplete` is called, or returns a
// promise (node_file.cc, `FSReqBase`). Every asynchronous call runs as a task of the loop, although
// the kernel replies at once. Programs rely on this order: the callback never precedes the caller's
// own code, its ticks and its microtasks. Next: stats.js, io.js, names.js and trees.js, which
// define the operations.
'use strict';

const { AsyncWrap } = require('../event-loop/async-wrap.js');
const activeRequests = require('../event-loop/active-requests.js');
const { reasonOf } = require('../errors/denials.js');
const { uvException } = require('../errors/errno.js');
const operations = require('../event-loop/operations.js');
const { arm: ARM } = require('../net/calls.js').NUMBERS;
const { sys } = require('./calls.js');

class FSReqCallback extends AsyncWrap {
  constructor(bigint = false) {
    super('FSREQCALLBACK');
    this.bigint = bigint;
  }
}

class FSReqPromise extends AsyncWrap {
  constructor() {
    super('FSREQPROMISE');
  }
}

// The result of an operation's `run` function if a descriptor is not ready: the operation continues
// when the descriptor is ready.
class NotReady {
  constructor(fd, mask, errno) {
    this.fd = fd;
    this.mask = mask;
    this.errno = errno;
  }
  wait(callback) {
    const operation = sys(ARM, this.fd, this.mask);
    if (operation < 0) return false;
    operations.expect(operation, callback);
    return true;
  }
}

let kUsePromises;

function usePromisesSymbol(symbol) {
  kUsePromises = symbol;
}

// Makes the error of a failed operation. `errno` is negative. `path` and `dest` may be missing.
function failure(errno, syscall, path, dest) {
  return uvException(errno, syscall, textOf(path), textOf(dest), reasonOf(errno));
}

function textOf(path) {
  if (path === undefined || typeof path === 'string') return path;
  return native.decode(path, 0, path.byteLength, native.encodings.utf8);
}

const isFailure = (value) => typeof value === 'number' && value < 0;

// Runs an operation. `run` returns the value or a negative errno, or throws an error of its own.
// The `run` of an asynchronous call may also return a NotReady.
function answer(req, syscall, path, dest, run) {
  if (req === undefined) {
    const value = run();
    if (isFailure(value)) throw failure(value, syscall, path, dest);
    return value;
  }
  return later(req, syscall, path, dest, run);
}

// Does the work of `answer` for one call of the kernel whose result is a value, without a function
// for each synchronous call.
function value(req, syscall, path, dest, number, a, b, c, d) {
  if (req !== undefined) return later(req, syscall, path, dest, () => sys(number, a, b, c, d));
  const result = sys(number, a, b, c, d);
  if (result < 0) throw failure(result, syscall, path, dest);
  return result;
}

// Does the work of `value` for a call of the kernel whose result has no meaning except as an error.
// Returns undefined for a success.
function effect(req, syscall, path, dest, number, a, b, c, d) {
  if (req !== undefined) return later(req, syscall, path, dest, () => nothing(sys(number, a, b, c, d)));
  const result = sys(number, a, b, c, d);
  if (result < 0) throw failure(result, syscall, path, dest);
  return undefined;
}

// Returns undefined for a success, and a negative errno for a failure.
const nothing = (result) => (result < 0 ? result : undefined);

function later(req, syscall, path, dest, run) {
  if (req === kUsePromises) return promised(new FSReqPromise(), syscall, path, dest, run);
  activeRequests.begin(req);
  native.enqueueTask(() => finish(req, undefined, syscall, path, dest, run));
  return undefined;
}

function promised(request, syscall, path, dest, run) {
  activeRequests.begin(request);
  return new Promise((resolve, reject) => {
    const settle = (error, result) => (error === null ? resolve(result) : reject(error));
    native.enqueueTask(() => finish(request, settle, syscall, path, dest, run));
  });
}

function finish(request, settle, syscall, path, dest, run) {
  let error = null;
  let value;
  try {
    value = run();
    if (value instanceof NotReady && value.wait(() => finish(request, settle, syscall, path, dest, run))) return;
    if (value instanceof NotReady) value = value.errno;
    if (isFailure(value)) error = failure(value, syscall, path, dest);
  } catch (thrown) {
    error = thrown;
  }
  activeRequests.end(request);
  const callback = settle ?? request.oncomplete;
  // Node omits the second argument if there is no value: callbacks may count their arguments.
  if (error !== null) request.makeCallback(callback, error);
  else if (value === undefined) request.makeCallback(callback, null);
  else request.makeCallback(callback, null, value);
  request.emitDestroy();
}

module.exports = {
  FSReqCallback,
  NotReady,
  answer,
  value,
  effect,
  nothing,
  later,
  promised,
  failure,
  isFailure,
  textOf,
  usePromisesSymbol,
};
