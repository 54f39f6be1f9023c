// `Serializer` of the serdes binding (node_serdes.cc over v8::ValueSerializer): converts a value to
// V8's wire format. This code does not share the clone of ../messaging/clone.js, because the result
// of a Serializer is bytes. A value is written in one pass; a repeated object becomes a reference.
// Next: object-writers.js (arrays, maps, errors, buffers), reader.js, which reads the result.
'use strict';

const context = require('../context.js');
const { argumentError } = require('./errors.js');
const { BytesOut } = require('./bytes-out.js');
const { TAGS, VERSION } = require('./tags.js');
const writers = require('./object-writers.js');

const { latin1, utf16le } = native.encodings;
const { classes } = native;

class Serializer {
  #out = new BytesOut();
  #seen = new Map();
  #transferred = new Map();
  #viewsAreHostObjects = false;

  writeHeader() {
    this.#out.byte(TAGS.VERSION);
    this.#out.varint(VERSION);
  }

  writeValue(value) {
    writeValue(this.#state(), value);
    return true;
  }

  releaseBuffer() {
    const bytes = this.#out.take();
    Object.setPrototypeOf(bytes, context.bufferPrototype);
    return bytes;
  }

  transferArrayBuffer(id, buffer) {
    const { isArrayBuffer, isSharedArrayBuffer } = native.types;
    if (!isArrayBuffer(buffer) && !isSharedArrayBuffer(buffer))
      throw argumentError('arrayBuffer must be an ArrayBuffer or SharedArrayBuffer');
    this.#transferred.set(buffer, id >>> 0);
  }

  writeUint32(value) {
    this.#out.varint(value >>> 0);
  }

  writeUint64(high, low) {
    this.#out.varint64((BigInt(high >>> 0) << 32n) | BigInt(low >>> 0));
  }

  writeDouble(value) {
    this.#out.double(+value);
  }

  writeRawBytes(source) {
    if (!ArrayBuffer.isView(source) && !native.types.isAnyArrayBuffer(source))
      throw argumentError('source must be a TypedArray or a DataView');
    this.#out.raw(source);
  }

  _setTreatArrayBufferViewsAsHostObjects(on) {
    this.#viewsAreHostObjects = Boolean(on);
  }

  #state() {
    return {
      out: this.#out,
      seen: this.#seen,
      transferred: this.#transferred,
      viewsAreHostObjects: this.#viewsAreHostObjects,
      delegate: this,
      write: writeValue,
      writeString,
    };
  }
}

function writeValue(state, value) {
  const { out } = state;
  switch (typeof value) {
    case 'undefined':
      return out.byte(TAGS.UNDEFINED);
    case 'boolean':
      return out.byte(value ? TAGS.TRUE : TAGS.FALSE);
    case 'number':
      return writeNumber(out, value);
    case 'bigint':
      out.byte(TAGS.BIGINT);
      return writeBigInt(out, value);
    case 'string':
      return writeString(out, value);
    case 'object':
      return value === null ? out.byte(TAGS.NULL) : writeObject(state, value);
    default:
      throw writers.cloneError(state, value);
  }
}

function writeNumber(out, value) {
  if ((value | 0) === value && !Object.is(value, -0)) {
    out.byte(TAGS.INT32);
    out.zigzag(value);
  } else {
    out.byte(TAGS.DOUBLE);
    out.double(value);
  }
}

function writeBigInt(out, value) {
  let rest = value < 0n ? -value : value;
  const digits = [];
  for (; rest > 0n; rest >>= 64n) digits.push(rest & 0xffff_ffff_ffff_ffffn);
  out.varint(digits.length * 16 + (value < 0n ? 1 : 0));
  out.raw(new BigUint64Array(digits));
}

const WIDE = /[^\0-\xff]/;

function writeString(out, string) {
  if (context.primordials.RegExpPrototypeExec(WIDE, string) === null) {
    out.byte(TAGS.ONE_BYTE_STRING);
    out.varint(string.length);
    out.text(string, latin1);
    return;
  }
  const length = string.length * 2;
  let varintLength = 1;
  for (let rest = length; rest >= 0x80; rest /= 0x80) varintLength++;
  if ((out.length + 1 + varintLength) & 1) out.byte(TAGS.PADDING);
  out.byte(TAGS.TWO_BYTE_STRING);
  out.varint(length);
  out.text(string, utf16le);
}

function writeObject(state, value) {
  const { out, seen } = state;
  const isView = ArrayBuffer.isView(value);
  // A view's buffer is written first: the reader makes the view over the last buffer.
  if (isView && !seen.has(value) && !state.viewsAreHostObjects) writeObject(state, value.buffer);
  const known = seen.get(value);
  if (known !== undefined) {
    out.byte(TAGS.REFERENCE);
    out.varint(known);
    return;
  }
  seen.set(value, seen.size);
  if (isView && state.viewsAreHostObjects) return writers.writeHostObject(state, value);
  writers.byClass(state, value, native.classId(value), classes, writeBigInt);
}

module.exports = { Serializer };
