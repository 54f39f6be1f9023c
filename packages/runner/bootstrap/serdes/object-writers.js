// A writer for each kind of object in V8's format. An object of another kind cannot be cloned.
// Next: reader.js, which reads the output.
'use strict';

const context = require('../context.js');
const { TAGS, VIEWS, ERRORS, REGEXP_FLAGS } = require('./tags.js');

const { classes } = native;
const VIEW_TAGS = new Map(Object.entries(VIEWS).map(([tag, name]) => [name, tag.charCodeAt(0)]));
const ERROR_TAGS = new Map(Object.entries(ERRORS).map(([tag, name]) => [name, tag.charCodeAt(0)]));
const BACKED_BY_RESIZABLE = 2;

function describe(value) {
  if (typeof value === 'symbol') return context.primordials.SymbolPrototypeToString(value);
  if (typeof value === 'function') return context.primordials.FunctionPrototypeToString(value);
  return `#<${native.constructorName(value) || 'Object'}>`;
}

function cloneError(state, value) {
  const make = state.delegate._getDataCloneError;
  return context.primordials.FunctionPrototypeCall(make, state.delegate, `${describe(value)} could not be cloned.`);
}

function writeHostObject(state, value) {
  state.out.byte(TAGS.HOST_OBJECT);
  const write = state.delegate._writeHostObject;
  if (typeof write !== 'function') throw cloneError(state, value);
  context.primordials.FunctionPrototypeCall(write, state.delegate, value);
}

/**
 * Writes own enumerable properties with string keys; indices are written as numbers. Returns the
 * number of properties.
 */
function writeProperties(state, object, keys) {
  let count = 0;
  for (const key of keys) {
    // an earlier getter removed the property
    if (!context.primordials.ObjectPrototypePropertyIsEnumerable(object, key)) continue;
    const value = object[key];
    const index = +key;
    state.write(state, index >>> 0 === index && index !== 0xffff_ffff && String(index) === key ? index : key);
    state.write(state, value);
    count++;
  }
  return count;
}

function writePlainObject(state, object) {
  state.out.byte(TAGS.OBJECT);
  const count = writeProperties(state, object, Object.keys(object));
  state.out.byte(TAGS.END_OBJECT);
  state.out.varint(count);
}

function writeArray(state, array) {
  const { out } = state;
  const { length } = array;
  let dense = true;
  let doubles = length > 0;
  for (let i = 0; i < length && dense; i++) {
    dense = Object.hasOwn(array, i);
    doubles &&= dense && typeof array[i] === 'number';
  }
  if (!dense) {
    out.byte(TAGS.SPARSE_ARRAY);
    out.varint(length);
    const count = writeProperties(state, array, Object.keys(array));
    out.byte(TAGS.END_SPARSE_ARRAY);
    out.varint(count);
    out.varint(length);
    return;
  }
  // V8 keeps an array of numbers that are not all small integers as doubles, and writes doubles.
  doubles &&= array.some((item) => (item | 0) !== item || Object.is(item, -0));
  out.byte(TAGS.DENSE_ARRAY);
  out.varint(length);
  for (let i = 0; i < length; i++) {
    if (doubles) {
      out.byte(TAGS.DOUBLE);
      out.double(array[i]);
    } else if (Object.hasOwn(array, i)) {
      state.write(state, array[i]);
    } else {
      out.byte(TAGS.HOLE); // a getter removed the element
    }
  }
  const count = writeProperties(state, array, native.ownNonIndexKeys(array, true, true));
  out.byte(TAGS.END_DENSE_ARRAY);
  out.varint(count);
  out.varint(length);
}

function writeEntries(state, value, tag, end) {
  const [entries] = native.previewEntries(value);
  state.out.byte(tag);
  for (const item of entries) state.write(state, item);
  state.out.byte(end);
  state.out.varint(entries.length);
}

function writeRegExp(state, value) {
  const { RegExpPrototypeGetSource, RegExpPrototypeGetFlags } = context.primordials;
  const flags = RegExpPrototypeGetFlags(value);
  state.out.byte(TAGS.REGEXP);
  state.writeString(state.out, RegExpPrototypeGetSource(value));
  state.out.varint(REGEXP_FLAGS.reduce((bits, flag, bit) => (flags.includes(flag) ? bits | (1 << bit) : bits), 0));
}

function writeError(state, error) {
  const { out } = state;
  const tag = ERROR_TAGS.get(typeof error.name === 'string' ? error.name : '');
  out.byte(TAGS.ERROR);
  if (tag !== undefined) out.byte(tag);
  const message = Object.getOwnPropertyDescriptor(error, 'message');
  if (message && 'value' in message) {
    out.byte('m'.charCodeAt(0));
    state.writeString(out, String(message.value));
  }
  if (typeof error.stack === 'string') {
    out.byte('s'.charCodeAt(0));
    state.writeString(out, error.stack);
  }
  if (Object.hasOwn(error, 'cause')) {
    out.byte('c'.charCodeAt(0));
    state.write(state, error.cause);
  }
  out.byte('.'.charCodeAt(0));
}

function writeArrayBuffer(state, buffer) {
  const { out } = state;
  const id = state.transferred.get(buffer);
  if (id !== undefined) {
    out.byte(TAGS.ARRAY_BUFFER_TRANSFER);
    out.varint(id);
    return;
  }
  if (buffer.detached) throw cloneError(state, buffer);
  out.byte(buffer.resizable ? TAGS.RESIZABLE_ARRAY_BUFFER : TAGS.ARRAY_BUFFER);
  out.varint(buffer.byteLength);
  if (buffer.resizable) out.varint(buffer.maxByteLength);
  out.raw(buffer);
}

function writeSharedArrayBuffer(state, buffer) {
  const getId = state.delegate._getSharedArrayBufferId;
  if (typeof getId !== 'function') throw cloneError(state, buffer);
  const id = context.primordials.FunctionPrototypeCall(getId, state.delegate, buffer);
  state.out.byte(TAGS.SHARED_ARRAY_BUFFER);
  state.out.varint(id >>> 0);
}

function writeView(state, view) {
  const { out } = state;
  const name = context.primordials.TypedArrayPrototypeGetSymbolToStringTag(view) ?? 'DataView';
  const flags = view.buffer.resizable ? BACKED_BY_RESIZABLE : 0;
  out.byte(TAGS.VIEW);
  out.byte(VIEW_TAGS.get(name));
  out.varint(view.byteOffset);
  out.varint(view.byteLength);
  out.varint(flags);
}

function writeWrapper(state, value, writeBigInt) {
  const { out } = state;
  const primitive = value.valueOf();
  switch (typeof primitive) {
    case 'boolean':
      return out.byte(primitive ? TAGS.TRUE_OBJECT : TAGS.FALSE_OBJECT);
    case 'number':
      out.byte(TAGS.NUMBER_OBJECT);
      return out.double(primitive);
    case 'bigint':
      out.byte(TAGS.BIGINT_OBJECT);
      return writeBigInt(out, primitive);
    default:
      out.byte(TAGS.STRING_OBJECT);
      return state.writeString(out, primitive);
  }
}

function byClass(state, value, classId, _classes, writeBigInt) {
  switch (classId) {
    case classes.OBJECT:
      return writePlainObject(state, value);
    case classes.ARRAY:
      return writeArray(state, value);
    case classes.DATE:
      state.out.byte(TAGS.DATE);
      return state.out.double(context.primordials.DatePrototypeGetTime(value));
    case classes.NUMBER:
    case classes.STRING:
    case classes.BOOLEAN:
    case classes.BIG_INT:
      return writeWrapper(state, value, writeBigInt);
    case classes.REGEXP:
      return writeRegExp(state, value);
    case classes.MAP:
      return writeEntries(state, value, TAGS.MAP, TAGS.END_MAP);
    case classes.SET:
      return writeEntries(state, value, TAGS.SET, TAGS.END_SET);
    case classes.ERROR:
      return writeError(state, value);
    case classes.ARRAY_BUFFER:
      return writeArrayBuffer(state, value);
    case classes.SHARED_ARRAY_BUFFER:
      return writeSharedArrayBuffer(state, value);
    default:
      if (ArrayBuffer.isView(value)) return writeView(state, value);
      throw cloneError(state, value);
  }
}

module.exports = { byClass, cloneError, writeHostObject };
