// Node's `CryptoJob` over the kernel's jobs, in three modes: synchronous (`run` returns `[error,
// result]`), with a callback (`ondone`), and with a promise for Web Crypto. A synchronous
// computation is also a job of the kernel, because a system call must be short, and a killed
// program must end at once. Next: kdf.js, sign.js, keygen.js, which define the request and the
// result of each job.
'use strict';

const { AsyncWrap } = require('../event-loop/async-wrap.js');
const context = require('../context.js');
const operations = require('../event-loop/operations.js');
const { cryptography: NUMBERS } = require('../generated/system-calls.js');
const { part, checked } = require('./system.js');
const { faultOf, reported } = require('./faults.js');

const MAX_COPY = 1 << 20;
const ENOMEM = -12;

const ASYNC = 0;
const SYNC = 1;

// Makes a job with its request, and returns the job's number. The job does not run yet.
function begin(command, request) {
  const job = checked(native.sys(NUMBERS.jobBegin, command, part(request, 0, MAX_COPY)));
  for (let at = MAX_COPY; at < request.length; at += MAX_COPY) {
    const result = native.sys(NUMBERS.jobAdd, job, part(request, at, MAX_COPY));
    if (result === 0) continue;
    native.sys(NUMBERS.jobForget, job);
    checked(result);
  }
  return job;
}

// Runs a command and blocks the program. Returns the bytes, or a fault (a negative number). Throws
// if the result is an errno.
function computeSync(command, request) {
  const job = begin(command, request);
  const length = native.sysWait(NUMBERS.jobWait, job);
  if (length < 0) return faultOf(length) === undefined ? checked(length) : length;
  const out = new Uint8Array(length);
  for (let at = 0; at < length; at += MAX_COPY) checked(native.sys(NUMBERS.jobRead, job, at, part(out, at, MAX_COPY)));
  native.sys(NUMBERS.jobForget, job);
  return out;
}

// Runs a command. Calls `callback` with the bytes, a fault or an errno.
function compute(command, request, callback) {
  const operation = checked(native.sys(NUMBERS.jobStart, begin(command, request)));
  operations.expect(operation, (result, bytes) => callback(result < 0 ? result : (bytes ?? new Uint8Array(0))));
}

// A subclass has a `static provider`, which hooks receive as the type.
class CryptoJob extends AsyncWrap {
  #mode;

  constructor(mode) {
    super(new.target.provider);
    this.#mode = mode;
  }

  // A subclass defines `command` and `request`, or `immediate()` if the guest computes the result.
  // A subclass may override `value(bytes)` and `failure(fault)`.
  value(bytes) {
    return bytes;
  }

  failure(fault) {
    return reported(fault);
  }

  run() {
    if (this.#mode === SYNC) {
      const outcome = this.#outcome(this.immediate === undefined ? computeSync(this.command, this.request) : undefined);
      this.emitDestroy();
      return outcome;
    }
    if (this.#mode === ASYNC) {
      this.#start((...outcome) => this.ondone(...outcome));
      return undefined;
    }
    return this.#promise();
  }

  #start(done) {
    const finish = (answer) => {
      try {
        this.makeCallback(done, ...this.#outcome(answer));
      } finally {
        this.emitDestroy();
      }
    };
    if (this.immediate === undefined) compute(this.command, this.request, finish);
    else native.enqueueTask(() => finish(undefined));
  }

  // Returns `[undefined, value]` or `[error, undefined]`.
  #outcome(answer) {
    try {
      if (this.immediate !== undefined) return [undefined, this.immediate()];
      const fault = faultOf(answer);
      if (fault !== undefined) return [this.failure(fault), undefined];
      // Any other number is an errno: the result is larger than the kernel may store.
      if (typeof answer === 'number') checked(answer);
      return [undefined, this.value(answer)];
    } catch (error) {
      return [error, undefined];
    }
  }

  #promise() {
    return new Promise((resolve, reject) => {
      const { cleanupWebCryptoResult, prepareWebCryptoResult } = context.requireBuiltin('internal/crypto/util');
      this.#start((cause, value) => {
        if (cause !== undefined) {
          reject(operationError(cause));
          return;
        }
        const shadowed = prepareWebCryptoResult(value);
        resolve(value);
        if (shadowed) cleanupWebCryptoResult(value);
      });
    });
  }
}

function operationError(cause) {
  const { lazyDOMException } = context.requireBuiltin('internal/util');
  return lazyDOMException('The operation failed for an operation-specific reason', { name: 'OperationError', cause });
}

module.exports = { CryptoJob, computeSync, ASYNC, SYNC, ENOMEM };
