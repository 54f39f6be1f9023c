// What: the second argument of `postMessage`: an iterable of what moves, or an object whose `transfer` is one (ReadIterable and
// MessagePort::PostMessage in node_messaging.cc).
'use strict';

const context = require('../context.js');

const codes = () => context.requireBuiltin('internal/errors').codes;

function notIterable(what) {
  const error = new TypeError(`Optional ${what} argument must be an iterable`);
  error.code = 'ERR_INVALID_ARG_TYPE';
  return error;
}

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

module.exports = { codes, transferListOf };
