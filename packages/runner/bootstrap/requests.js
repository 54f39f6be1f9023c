// What: the three ways Node's library calls an operation of a binding: synchronously (throws), with a request object (`oncomplete`), or as a promise.
// Next: bindings/fs.js.
'use strict';

const { uvException } = require('./errno.js');

class FSReqCallback {
  constructor(bigint) {
    this.bigint = bigint;
  }
}

// `run` returns a value, or a negative errno.
function dispatch(req, kUsePromises, syscall, run) {
  if (req === undefined) {
    const value = run();
    if (isFailure(value)) throw uvException(value, syscall);
    return value;
  }
  if (req === kUsePromises) {
    return new Promise((resolve, reject) => {
      native.enqueueTask(() => settle(run, syscall, resolve, reject));
    });
  }
  native.enqueueTask(() => {
    settle(
      run,
      syscall,
      (value) => req.oncomplete(null, value),
      (error) => req.oncomplete(error),
    );
  });
  return undefined;
}

function settle(run, syscall, resolve, reject) {
  const value = run();
  if (isFailure(value)) reject(uvException(value, syscall));
  else resolve(value);
}

const isFailure = (value) => typeof value === 'number' && value < 0;

module.exports = { FSReqCallback, dispatch };
