// V8's name for a value that cannot be cloned (Object::NoSideEffectsToString), and the error with
// that name.
'use strict';

const context = require('../context.js');

const { classes } = native;

// The classes of objects that V8 makes without a constructor. V8 describes such an object by its
// tag.
const NAMED_BY_TAG = new Set([
  classes.GENERATOR,
  classes.ASYNC_GENERATOR,
  classes.MAP_ITERATOR,
  classes.SET_ITERATOR,
  classes.SYMBOL,
]);

function describe(value) {
  if (typeof value === 'symbol') return Symbol.prototype.toString.call(value);
  if (typeof value === 'function') return Function.prototype.toString.call(value);
  if (NAMED_BY_TAG.has(native.classId(value))) return Object.prototype.toString.call(value);
  return `#<${native.constructorName(value) || 'Object'}>`;
}

function cloneError(message) {
  const { DOMException } = context.perContextExports;
  return new DOMException(message, 'DataCloneError');
}

module.exports = { describe, cloneError };
