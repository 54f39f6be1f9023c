// Reads the second argument of `postMessage`: an iterable of transferables, or an object whose
// `transfer` is such an iterable (ReadIterable and MessagePort::PostMessage in node_messaging.cc).
'use strict';

// Makes a TypeError as Node's C++ does, without the marks of errors that Node's JavaScript makes.
function typeError(code, message) {
  const error = new TypeError(message);
  error.code = code;
  return error;
}

const notIterable = (what) => typeError('ERR_INVALID_ARG_TYPE', `Optional ${what} argument must be an iterable`);

function read(value) {
  if (typeof value !== 'object' || value === null) return undefined;
  return typeof value[Symbol.iterator] === 'function' ? Array.from(value) : undefined;
}

function transferListOf(options) {
  if (options === undefined || options === null) return [];
  if (typeof options !== 'object') throw notIterable('transferList');
  const list = read(options);
  if (list !== undefined) return list;
  const { transfer } = options;
  if (transfer === undefined || transfer === null) return [];
  const nested = read(transfer);
  if (nested === undefined) throw notIterable('options.transfer');
  return nested;
}

module.exports = { transferListOf, typeError };
