// A reader for each kind of object in V8's format. An object is numbered before its contents are
// read, because the contents may refer to the object. Next: reader.js, which calls these functions.
'use strict';

const context = require('../context.js');
const { TAGS, VIEWS, ERRORS, REGEXP_FLAGS } = require('./tags.js');

const IS_LENGTH_TRACKING = 1;
const VERSION_WITH_VIEW_FLAGS = 14;

function remember(state, object) {
  state.objects.push(object);
  return object;
}

function readBigInt(state) {
  const bits = state.in.varint() ?? state.bad();
  const bytes = state.in.raw(bits >>> 1) ?? state.bad();
  let value = 0n;
  for (let i = bytes.length - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i]);
  return bits & 1 ? -value : value;
}

/** Reads keys and values up to the tag `end`. Returns the number of properties. */
function readProperties(state, object, end) {
  for (let count = 0; ; count++) {
    if (skipTo(state) === end) {
      state.in.byte();
      return count;
    }
    const key = state.read(state);
    if (typeof key !== 'string' && typeof key !== 'number') state.bad();
    const value = state.read(state);
    context.primordials.ObjectDefineProperty(object, key, {
      __proto__: null,
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
}

function skipTo(state) {
  while (state.in.peek() === TAGS.PADDING) state.in.byte();
  return state.in.peek() ?? state.bad();
}

function readPlainObject(state) {
  const object = remember(state, {});
  const count = readProperties(state, object, TAGS.END_OBJECT);
  if (state.in.varint() !== count) state.bad();
  return object;
}

function readSparseArray(state) {
  const length = state.in.varint() ?? state.bad();
  const array = remember(state, []);
  array.length = length;
  const count = readProperties(state, array, TAGS.END_SPARSE_ARRAY);
  if (state.in.varint() !== count || state.in.varint() !== length) state.bad();
  return array;
}

function readDenseArray(state) {
  const length = state.in.varint() ?? state.bad();
  if (length > state.in.left) state.bad(); // each element needs a byte or more
  const array = remember(state, []);
  array.length = length;
  for (let i = 0; i < length; i++) {
    if (skipTo(state) === TAGS.HOLE) {
      state.in.byte();
      continue;
    }
    const value = state.read(state);
    context.primordials.ObjectDefineProperty(array, i, {
      __proto__: null,
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  const count = readProperties(state, array, TAGS.END_DENSE_ARRAY);
  if (state.in.varint() !== count || state.in.varint() !== length) state.bad();
  return array;
}

function readMap(state) {
  const { MapPrototypeSet } = context.primordials;
  const map = remember(state, new Map());
  let items = 0;
  for (; skipTo(state) !== TAGS.END_MAP; items += 2) {
    const key = state.read(state);
    MapPrototypeSet(map, key, state.read(state));
  }
  state.in.byte();
  if (state.in.varint() !== items) state.bad();
  return map;
}

function readSet(state) {
  const set = remember(state, new Set());
  let items = 0;
  for (; skipTo(state) !== TAGS.END_SET; items++) context.primordials.SetPrototypeAdd(set, state.read(state));
  state.in.byte();
  if (state.in.varint() !== items) state.bad();
  return set;
}

function readRegExp(state) {
  const place = state.objects.push(undefined) - 1;
  const source = state.read(state);
  const bits = state.in.varint();
  if (typeof source !== 'string' || bits === undefined || bits >= 1 << REGEXP_FLAGS.length) state.bad();
  const flags = REGEXP_FLAGS.filter((_flag, bit) => bits & (1 << bit)).join('');
  state.objects[place] = new RegExp(source, flags);
  return state.objects[place];
}

function readError(state) {
  const place = state.objects.push(undefined) - 1;
  let Class = Error;
  const options = {};
  let message;
  let stack;
  for (;;) {
    const tag = String.fromCharCode(state.in.byte() ?? state.bad());
    if (tag === '.') break;
    if (tag === 'm') message = state.read(state);
    else if (tag === 's') stack = state.read(state);
    else if (tag === 'c') options.cause = state.read(state);
    else if (ERRORS[tag] !== undefined) Class = context.primordials[ERRORS[tag]];
    else state.bad();
  }
  const error = new Class(message, options);
  if (message === undefined) delete error.message;
  context.primordials.ObjectDefineProperty(error, 'stack', { __proto__: null, value: stack, writable: true, configurable: true });
  state.objects[place] = error;
  return error;
}

function readArrayBuffer(state, isResizable) {
  const length = state.in.varint();
  const maxByteLength = isResizable ? state.in.varint() : undefined;
  if (isResizable && !(maxByteLength >= length)) state.bad();
  const bytes = state.in.raw(length) ?? state.bad();
  if (!isResizable) return remember(state, bytes.buffer);
  const buffer = new ArrayBuffer(length, { maxByteLength });
  native.copy(bytes, new Uint8Array(buffer), 0, 0, length);
  return remember(state, buffer);
}

function readTransferred(state) {
  return remember(state, state.transferred.get(state.in.varint()) ?? state.bad());
}

function readView(state, buffer) {
  const tag = state.in.byte() ?? state.bad();
  const offset = state.in.varint();
  const length = state.in.varint();
  const flags = state.version >= VERSION_WITH_VIEW_FLAGS ? state.in.varint() : 0;
  const Class = globalThis[VIEWS[String.fromCharCode(tag)]];
  if (Class === undefined || flags === undefined || !(offset + length <= buffer.byteLength)) state.bad();
  const size = Class.BYTES_PER_ELEMENT ?? 1;
  if (offset % size !== 0 || length % size !== 0) state.bad();
  return remember(state, flags & IS_LENGTH_TRACKING ? new Class(buffer, offset) : new Class(buffer, offset, length / size));
}

function readHostObject(state) {
  const place = state.objects.push(undefined) - 1;
  const read = state.delegate._readHostObject;
  if (typeof read !== 'function') state.bad();
  const object = context.primordials.FunctionPrototypeCall(read, state.delegate);
  if (object === null || typeof object !== 'object') throw new TypeError('readHostObject must return an object');
  state.objects[place] = object;
  return object;
}

function readObject(state, tag) {
  switch (tag) {
    case TAGS.OBJECT:
      return readPlainObject(state);
    case TAGS.SPARSE_ARRAY:
      return readSparseArray(state);
    case TAGS.DENSE_ARRAY:
      return readDenseArray(state);
    case TAGS.DATE:
      return remember(state, new Date(state.in.double() ?? state.bad()));
    case TAGS.TRUE_OBJECT:
    case TAGS.FALSE_OBJECT:
      return remember(state, Object(tag === TAGS.TRUE_OBJECT));
    case TAGS.NUMBER_OBJECT:
      return remember(state, Object(state.in.double() ?? state.bad()));
    case TAGS.BIGINT_OBJECT:
      return remember(state, Object(readBigInt(state)));
    case TAGS.STRING_OBJECT: {
      const place = state.objects.push(undefined) - 1;
      const text = state.read(state);
      if (typeof text !== 'string') state.bad();
      state.objects[place] = Object(text);
      return state.objects[place];
    }
    case TAGS.REGEXP:
      return readRegExp(state);
    case TAGS.MAP:
      return readMap(state);
    case TAGS.SET:
      return readSet(state);
    case TAGS.ARRAY_BUFFER:
    case TAGS.RESIZABLE_ARRAY_BUFFER:
      return readArrayBuffer(state, tag === TAGS.RESIZABLE_ARRAY_BUFFER);
    case TAGS.ARRAY_BUFFER_TRANSFER:
    case TAGS.SHARED_ARRAY_BUFFER:
      return readTransferred(state);
    case TAGS.ERROR:
      return readError(state);
    case TAGS.HOST_OBJECT:
      return readHostObject(state);
    default:
      return state.bad();
  }
}

module.exports = { readObject, readView, readBigInt };
