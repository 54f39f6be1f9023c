// `Deserializer` of the serdes binding: converts V8's wire format to a value. Versions down to 13
// are accepted, because older versions of Node wrote data with these versions. Every step checks
// its input: the bytes come from a program, and invalid bytes must throw V8's error and never
// return an incomplete value.
// Next: object-readers.js.
'use strict';

const { argumentError } = require('./errors.js');
const { BytesIn } = require('./bytes-in.js');
const { bytesOf } = require('./bytes-out.js');
const { TAGS, VERSION } = require('./tags.js');
const readers = require('./object-readers.js');

const { latin1, utf8, utf16le } = native.encodings;
const OLDEST = 13;

class Deserializer {
  #in;
  #version = 0;
  #objects = [];
  #transferred = new Map();

  constructor(buffer) {
    if (!ArrayBuffer.isView(buffer)) throw argumentError('buffer must be a TypedArray or a DataView');
    this.buffer = buffer;
    this.#in = new BytesIn(bytesOf(buffer));
  }

  readHeader() {
    if (this.#in.peek() === TAGS.VERSION) {
      this.#in.byte();
      const version = this.#in.varint();
      if (version !== undefined && version >= OLDEST && version <= VERSION) {
        this.#version = version;
        return true;
      }
    }
    throw new Error('Unable to deserialize cloned data due to invalid or unsupported version.');
  }

  getWireFormatVersion() {
    return this.#version;
  }

  readValue() {
    return readValue({
      in: this.#in,
      version: this.#version,
      objects: this.#objects,
      transferred: this.#transferred,
      delegate: this,
      read: readValue,
      bad,
    });
  }

  transferArrayBuffer(id, buffer) {
    if (!native.types.isAnyArrayBuffer(buffer)) throw argumentError('arrayBuffer must be an ArrayBuffer or SharedArrayBuffer');
    this.#transferred.set(id >>> 0, buffer);
  }

  readUint32() {
    return this.#in.varint() ?? failed('ReadUint32');
  }

  readUint64() {
    const value = this.#in.varint64() ?? failed('ReadUint64');
    return [Number(value >> 32n), Number(value & 0xffff_ffffn)];
  }

  readDouble() {
    return this.#in.double() ?? failed('ReadDouble');
  }

  /** Returns the offset in `this.buffer`, for Node's readRawBytes. */
  _readRawBytes(length) {
    if (!(length >= 0 && length <= this.#in.left)) failed('ReadRawBytes');
    const offset = this.#in.at;
    this.#in.at += length;
    return offset;
  }
}

function failed(name) {
  throw new Error(`${name}() failed`);
}

function bad() {
  throw new Error('Unable to deserialize cloned data.');
}

/** @returns {number} the next tag that is not padding */
function nextTag(input) {
  let tag;
  do tag = input.byte();
  while (tag === TAGS.PADDING);
  return tag;
}

function readValue(state) {
  const value = readOne(state);
  // If a view follows the buffer that was just read, the value is the view.
  if (state.in.peek() === TAGS.VIEW && native.types.isAnyArrayBuffer(value)) {
    state.in.byte();
    return readers.readView(state, value);
  }
  return value;
}

function readOne(state) {
  const { in: input } = state;
  const tag = nextTag(input);
  switch (tag) {
    case TAGS.VERIFY_OBJECT_COUNT:
      input.varint() ?? bad();
      return readOne(state);
    case TAGS.UNDEFINED:
      return undefined;
    case TAGS.NULL:
      return null;
    case TAGS.TRUE:
      return true;
    case TAGS.FALSE:
      return false;
    case TAGS.INT32:
      return input.zigzag() ?? bad();
    case TAGS.UINT32:
      return input.varint() ?? bad();
    case TAGS.DOUBLE:
      return input.double() ?? bad();
    case TAGS.BIGINT:
      return readers.readBigInt(state);
    case TAGS.ONE_BYTE_STRING:
      return input.text(input.varint(), latin1) ?? bad();
    case TAGS.TWO_BYTE_STRING: {
      const length = input.varint();
      return length % 2 === 0 ? (input.text(length, utf16le) ?? bad()) : bad();
    }
    case TAGS.UTF8_STRING:
      return input.text(input.varint(), utf8) ?? bad();
    case TAGS.REFERENCE: {
      const id = input.varint();
      return id < state.objects.length ? state.objects[id] : bad();
    }
    default:
      return readers.readObject(state, tag);
  }
}

module.exports = { Deserializer };
