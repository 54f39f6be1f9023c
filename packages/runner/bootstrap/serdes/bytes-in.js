// A cursor over bytes in V8's wire format. A read past the end returns `undefined`, which the
// callers turn into an error. Next: reader.js.
'use strict';

const getFloat64 = native.uncurryThis(DataView.prototype.getFloat64);

class BytesIn {
  #bytes;
  #view;
  at = 0;

  constructor(bytes) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left() {
    return this.#bytes.length - this.at;
  }

  byte() {
    return this.at < this.#bytes.length ? this.#bytes[this.at++] : undefined;
  }

  peek() {
    return this.#bytes[this.at];
  }

  /** Reads 32 bits, like V8, which drops the higher bits of a longer number. */
  varint() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      if (byte === undefined) return undefined;
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }

  varint64() {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.byte();
      if (byte === undefined) return undefined;
      if (shift < 64n) value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
  }

  zigzag() {
    const value = this.varint();
    return value === undefined ? undefined : (value >>> 1) ^ -(value & 1);
  }

  double() {
    if (this.left < 8) return undefined;
    this.at += 8;
    return getFloat64(this.#view, this.at - 8, true);
  }

  /** Returns a copy of the next bytes. */
  raw(length) {
    if (length === undefined || length > this.left) return undefined;
    this.at += length;
    const copy = new Uint8Array(length);
    native.copy(this.#bytes, copy, 0, this.at - length, length);
    return copy;
  }

  text(length, encoding) {
    if (length === undefined || length > this.left) return undefined;
    this.at += length;
    return native.decode(this.#bytes, this.at - length, this.at, encoding);
  }
}

module.exports = { BytesIn };
