// structuredClone by the HTML standard, with V8's order and texts, and Node's protocol for its own
// cloneable and transferable objects (node_messaging.cc). The copy is recursive and not a
// serialization: there is one realm and one thread, so serialized bytes would only be discarded.
// Next: transfer.js (the transfer list), describe.js (names of objects in errors), port.js and
// ../internal-bindings/messaging.js, which call `clone`.
'use strict';

const context = require('../context.js');
const { cloneError, describe } = require('./describe.js');
const { CLONEABLE, TRANSFERABLE, checkTransferList, detach, modeOf } = require('./transfer.js');

const { classes } = native;
const WRAPPERS = new Set([classes.NUMBER, classes.STRING, classes.BOOLEAN, classes.BIG_INT]);
const ERROR_NAMES = new Set(['EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError']);

let createObject;

function setDeserializer(create) {
  createObject = create;
}

// Copies `value` and moves the items of `transfer`. `source` is the sending port, which must not be
// in `transfer`. Returns the copy and the moved ports.
function clone(value, transfer, source) {
  const transferred = checkTransferList(transfer, source);
  const seen = new Map();
  const copy = cloneValue(value, seen, transferred);
  // Objects in the transfer list move even if the value does not contain them.
  for (const item of transferred) {
    if (native.classId(item) === classes.ARRAY_BUFFER) detach(item);
    else if (!seen.has(item)) cloneValue(item, seen, transferred);
  }
  const ports = [];
  for (const item of transferred) if (context.isMessagePort(item)) ports.push(seen.get(item));
  return { copy, ports };
}

function cloneValue(value, seen, transferred) {
  if (typeof value === 'function' || typeof value === 'symbol') throw cloneError(`${describe(value)} could not be cloned.`);
  if (value === null || typeof value !== 'object') return value;
  const known = seen.get(value);
  if (known !== undefined) return known;
  const remember = (copy) => {
    seen.set(value, copy);
    return copy;
  };
  if (native.proxyDetails(value) !== undefined) throw cloneError('#<Object> could not be cloned.');
  const kind = native.classId(value);
  if (kind === classes.ARRAY_BUFFER) return remember(cloneBuffer(value, transferred));
  if (context.isMessagePort(value)) {
    if (!transferred.has(value)) throw needsTransfer();
    return remember(context.movePort(value));
  }
  const mode = modeOf(value);
  if (mode !== undefined) return cloneHostObject(value, mode, seen, transferred);
  return cloneByClass(value, kind, remember, (item) => cloneValue(item, seen, transferred));
}

function cloneByClass(value, kind, remember, inner) {
  if (WRAPPERS.has(kind)) return remember(Object(value.valueOf()));
  switch (kind) {
    case classes.DATE:
      return remember(new Date(Date.prototype.getTime.call(value)));
    case classes.REGEXP:
      return remember(new RegExp(value.source, value.flags));
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
      return cloneKeys(value, remember({}), inner);
    default:
      if (ArrayBuffer.isView(value)) return remember(cloneView(value, kind, inner));
      throw cloneError(`${describe(value)} could not be cloned.`);
  }
}

function cloneBuffer(buffer, transferred) {
  if (buffer.detached) throw cloneError('An ArrayBuffer is detached and could not be cloned.');
  if (transferred.has(buffer)) return buffer.transfer();
  if (!buffer.resizable) return buffer.slice(0);
  const copy = new ArrayBuffer(buffer.byteLength, { maxByteLength: buffer.maxByteLength });
  new Uint8Array(copy).set(new Uint8Array(buffer));
  return copy;
}

// A Buffer becomes a Uint8Array, as in Node: the engine's class decides, not the prototype. Offset
// and length are read first, because the view of a moved buffer loses offset and length.
function cloneView(view, kind, inner) {
  const { byteOffset, byteLength, length } = view;
  const tag = Object.prototype.toString.call(view).slice(8, -1);
  const buffer = inner(view.buffer);
  if (kind === classes.DATAVIEW) return new DataView(buffer, byteOffset, byteLength);
  return new globalThis[tag](buffer, byteOffset, length);
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
  const name = String(error.name);
  const Class = ERROR_NAMES.has(name) ? globalThis[name] : Error;
  const copy = remember(new Class());
  const define = (key, value) => Object.defineProperty(copy, key, { value, writable: true, configurable: true });
  define('stack', String(error.stack));
  delete copy.message;
  const message = Object.getOwnPropertyDescriptor(error, 'message');
  if (message !== undefined && 'value' in message) define('message', String(message.value));
  if (Object.hasOwn(error, 'cause')) define('cause', inner(error.cause));
  return copy;
}

const needsTransfer = () => cloneError('Object that needs transfer was found in message but not listed in transferList');

function cloneHostObject(value, mode, seen, transferred) {
  const { messaging_clone_symbol: kClone, messaging_transfer_symbol: kTransfer } = context.symbols;
  const { messaging_deserialize_symbol: kDeserialize } = context.symbols;
  const moved = transferred.has(value) && (mode & TRANSFERABLE) !== 0;
  if (!moved && (mode & CLONEABLE) === 0) {
    throw (mode & TRANSFERABLE) !== 0 ? needsTransfer() : cloneError('Cannot clone object of unsupported type.');
  }
  const take = value[moved ? kTransfer : kClone];
  if (typeof take !== 'function') throw cloneError(`Cannot ${moved ? 'transfer' : 'clone'} object of unsupported type.`);
  const { data, deserializeInfo } = take.call(value);
  const copy = createObject(deserializeInfo);
  seen.set(value, copy);
  copy[kDeserialize](cloneData(data, seen, transferred));
  return copy;
}

// Copies the data that an object of Node provides for its copy. The data may contain handles of
// bindings, which all copies share: C++ objects in Node.
function cloneData(data, seen, transferred) {
  if (context.isSharedHandle(data)) return data;
  if (data === null || native.classId(data) !== classes.OBJECT || modeOf(data) !== undefined || context.isMessagePort(data)) {
    return cloneValue(data, seen, transferred);
  }
  const copy = {};
  for (const key of Object.keys(data)) copy[key] = cloneData(data[key], seen, transferred);
  return copy;
}

module.exports = { clone, setDeserializer };
