// What: structuredClone by the HTML standard, with Node's protocol for its own cloneable and transferable objects (node_messaging.cc).
// Why a recursive copy and no serialisation: there is one realm and one thread; the bytes in between would be thrown away.
// Next: bindings/messaging.js and message-port.js use it.
'use strict';

const context = require('./context.js');

const { classes } = native;
const WRAPPERS = new Set([classes.NUMBER, classes.STRING, classes.BOOLEAN, classes.BIG_INT]);
const ERROR_NAMES = new Set(['EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError']);
const CLONEABLE = 2;
const TRANSFERABLE = 1;

let createObject;

function setDeserializer(create) {
  createObject = create;
}

function structuredClone(value, { transfer = [] } = {}) {
  const transferred = new Set(transfer);
  if (transferred.size !== transfer.length) throw cloneError('ArrayBuffer occurs in the transfer list more than once');
  for (const item of transferred) checkTransferable(item);
  const copy = cloneValue(value, new Map(), transferred);
  for (const item of transferred) if (isArrayBuffer(item) && !item.detached) native.detachArrayBuffer(item);
  return copy;
}

const isArrayBuffer = (value) => native.classId(value) === classes.ARRAY_BUFFER;

function checkTransferable(item) {
  if (isArrayBuffer(item)) {
    if (item.detached) throw cloneError('An ArrayBuffer is detached and could not be cloned.');
    return;
  }
  const mode = item?.[context.privateSymbols.transfer_mode_private_symbol];
  if (mode === undefined || (mode & TRANSFERABLE) === 0) throw cloneError('Value not transferable');
}

function cloneError(message) {
  const { DOMException } = context.perContextExports;
  return new DOMException(message, 'DataCloneError');
}

function describe(value) {
  if (typeof value === 'symbol') return value.toString();
  if (typeof value === 'function') return Function.prototype.toString.call(value);
  return `#<${native.constructorName(value) || 'Object'}>`;
}

function cloneValue(value, seen, transferred) {
  if (typeof value === 'function' || typeof value === 'symbol') throw cloneError(`${describe(value)} could not be cloned.`);
  if (value === null || typeof value !== 'object') return value;
  const known = seen.get(value);
  if (known !== undefined) return known;
  const mode = value[context.privateSymbols.transfer_mode_private_symbol];
  if (mode !== undefined) return cloneHostObject(value, mode, seen, transferred);
  const remember = (copy) => {
    seen.set(value, copy);
    return copy;
  };
  const inner = (item) => cloneValue(item, seen, transferred);
  const kind = native.classId(value);
  if (WRAPPERS.has(kind)) return remember(Object(value.valueOf()));
  switch (kind) {
    case classes.DATE:
      return remember(new Date(Date.prototype.getTime.call(value)));
    case classes.REGEXP:
      return remember(new RegExp(value.source, value.flags));
    case classes.ARRAY_BUFFER:
      return remember(transferred.has(value) ? value.transfer() : copyBuffer(value));
    case classes.SHARED_ARRAY_BUFFER:
      return remember(value);
    case classes.MAP:
      return cloneMap(value, remember(new Map()), inner);
    case classes.SET:
      return cloneSet(value, remember(new Set()), inner);
    case classes.ERROR:
      return cloneErrorObject(value, remember, inner);
    case classes.ARRAY:
      return cloneKeys(value, remember(new Array(value.length)), inner);
    case classes.OBJECT:
    case classes.ARGUMENTS:
    case classes.MAPPED_ARGUMENTS:
      return cloneKeys(value, remember({}), inner);
    default:
      if (ArrayBuffer.isView(value)) return remember(cloneView(value, kind, inner));
      throw cloneError(`${describe(value)} could not be cloned.`);
  }
}

function copyBuffer(buffer) {
  if (!buffer.resizable) return buffer.slice(0);
  const copy = new ArrayBuffer(buffer.byteLength, { maxByteLength: buffer.maxByteLength });
  new Uint8Array(copy).set(new Uint8Array(buffer));
  return copy;
}

// A Buffer becomes a Uint8Array, as in Node: the class is the engine's, not the prototype's.
function cloneView(view, kind, inner) {
  const buffer = inner(view.buffer);
  if (kind === classes.DATAVIEW) return new DataView(buffer, view.byteOffset, view.byteLength);
  const Class = globalThis[Object.prototype.toString.call(view).slice(8, -1)];
  return new Class(buffer, view.byteOffset, view.length);
}

function cloneMap(map, copy, inner) {
  for (const [key, value] of Array.from(Map.prototype.entries.call(map))) copy.set(inner(key), inner(value));
  return copy;
}

function cloneSet(set, copy, inner) {
  for (const item of Array.from(Set.prototype.values.call(set))) copy.add(inner(item));
  return copy;
}

function cloneKeys(object, copy, inner) {
  for (const key of Object.keys(object)) {
    Object.defineProperty(copy, key, { value: inner(object[key]), writable: true, enumerable: true, configurable: true });
  }
  return copy;
}

function cloneErrorObject(error, remember, inner) {
  const Class = ERROR_NAMES.has(error.name) ? globalThis[error.name] : Error;
  const copy = remember(new Class());
  const define = (key, value) => Object.defineProperty(copy, key, { value, writable: true, configurable: true });
  delete copy.message;
  const message = Object.getOwnPropertyDescriptor(error, 'message');
  if (message !== undefined && 'value' in message) define('message', String(message.value));
  define('stack', String(error.stack));
  if (Object.hasOwn(error, 'cause')) define('cause', inner(error.cause));
  return copy;
}

function cloneHostObject(value, mode, seen, transferred) {
  const {
    messaging_clone_symbol: kClone,
    messaging_transfer_symbol: kTransfer,
    messaging_deserialize_symbol: kDeserialize,
  } = context.symbols;
  const moved = transferred.has(value) && (mode & TRANSFERABLE) !== 0;
  const take = moved ? value[kTransfer] : (mode & CLONEABLE) !== 0 ? value[kClone] : undefined;
  if (typeof take !== 'function') throw cloneError(`${describe(value)} could not be cloned.`);
  const { data, deserializeInfo } = take.call(value);
  const copy = createObject(deserializeInfo);
  seen.set(value, copy);
  copy[kDeserialize](cloneValue(data, seen, transferred));
  return copy;
}

module.exports = { structuredClone, setDeserializer };
