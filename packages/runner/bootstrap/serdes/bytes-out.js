// The growing buffer of a serializer, and the primitive encodings of V8's wire format. Functions
// are read from the primordials when they are called, because this file is loaded before the
// primordials exist. The prototypes cannot be used, because a program may have changed the
// prototypes. Next: writer.js.
'use strict';

const context = require('../context.js');

const FIRST_CAPACITY = 256;
const setFloat64 = native.uncurryThis(DataView.prototype.setFloat64);

class BytesOut {
  #bytes = new Uint8Array(FIRST_CAPACITY);
  #view = new DataView(this.#bytes.buffer);
  length = 0;

  #reserve(count) {
    const needed = this.length + count;
    if (needed <= this.#bytes.length) return;
    let capacity = this.#bytes.length * 2;
    while (capacity < needed) capacity *= 2;
    const grown = new Uint8Array(capacity);
    context.primordials.TypedArrayPrototypeSet(grown, this.#bytes);
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }

  byte(value) {
    this.#reserve(1);
    this.#bytes[this.length++] = value;
  }

  /** Writes an unsigned number of at most 53 bits, seven bits per byte. */
  varint(value) {
    this.#reserve(8);
    while (value >= 0x80) {
      this.#bytes[this.length++] = (value % 0x80) | 0x80;
      value = context.primordials.MathFloor(value / 0x80);
    }
    this.#bytes[this.length++] = value;
  }

  /** @param {bigint} value an unsigned number of 64 bits */
  varint64(value) {
    while (value >= 0x80n) {
      this.byte(Number(value & 0x7fn) | 0x80);
      value >>= 7n;
    }
    this.byte(Number(value));
  }

  zigzag(value) {
    this.varint(((value << 1) ^ (value >> 31)) >>> 0);
  }

  double(value) {
    this.#reserve(8);
    setFloat64(this.#view, this.length, value, true);
    this.length += 8;
  }

  raw(view) {
    const bytes = bytesOf(view);
    this.#reserve(bytes.length);
    context.primordials.TypedArrayPrototypeSet(this.#bytes, bytes, this.length);
    this.length += bytes.length;
  }

  /** Writes a text in Latin-1 or UTF-16LE. `encoding` is Node's number of the encoding. */
  text(string, encoding) {
    this.raw(new Uint8Array(native.encode(string, encoding)));
  }

  take() {
    const result = context.primordials.TypedArrayPrototypeSlice(this.#bytes, 0, this.length);
    this.#bytes = new Uint8Array(FIRST_CAPACITY);
    this.#view = new DataView(this.#bytes.buffer);
    this.length = 0;
    return result;
  }
}

function bytesOf(view) {
  if (!ArrayBuffer.isView(view)) return new Uint8Array(view);
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

module.exports = { BytesOut, bytesOf };
