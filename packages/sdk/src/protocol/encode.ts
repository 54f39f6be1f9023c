// Encodes the MessagePack types of the protocol: nil, bool, integers, str, bin, array, map. Each
// value has its shortest form, so that the SDK and the sidecar produce equal bytes and the golden
// frames can be compared.
//
// No library is used for encoding or decoding. The decoder reads bytes of a process that runs
// untrusted guests, so the decoder must bound its memory and refuse extension types. The usual
// library (msgpackr) takes 15 ms to import, three times the time that starting a sidecar may take.
// Next: `decode.ts`, then `frames.ts`.

const INITIAL_BYTES = 16 * 1024;
/**
 * The size of the largest buffer that `take()` keeps. A larger buffer was made for one large
 * message.
 */
const KEPT_BYTES = 1024 * 1024;

/** Appends values to one growing buffer. */
export class Encoder {
  #buffer: Buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  #position = 0;

  /** The number of bytes since the last `take()`. */
  get length(): number {
    return this.#position;
  }

  /** Returns a copy of the bytes since the last `take()` and empties the encoder. */
  take(): Buffer {
    const bytes = Buffer.from(this.#buffer.subarray(0, this.#position));
    this.#position = 0;
    if (this.#buffer.length > KEPT_BYTES) this.#buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
    return bytes;
  }

  /** Removes everything after `position`. */
  rewind(position: number): void {
    this.#position = position;
  }

  /** Reserves a u32 and returns its position for `patchU32`. */
  reserveU32(): number {
    this.#reserve(4);
    this.#position += 4;
    return this.#position - 4;
  }

  /** Writes a little-endian u32 at a reserved position. */
  patchU32(position: number, value: number): void {
    this.#buffer.writeUInt32LE(value, position);
  }

  /** Appends one value. Omits map entries whose value is `undefined`. */
  write(value: unknown): void {
    if (typeof value === 'string') this.#string(value);
    else if (typeof value === 'number') this.#integer(value);
    else if (typeof value === 'boolean') this.#byte(value ? 0xc3 : 0xc2);
    else if (value === null) this.#byte(0xc0);
    else if (value instanceof Uint8Array) this.#binary(value);
    else if (Array.isArray(value)) this.#array(value);
    else if (typeof value === 'object') this.#map(value as Record<string, unknown>);
    else throw new TypeError(`A ${typeof value} cannot be sent`);
  }

  #reserve(bytes: number): void {
    const needed = this.#position + bytes;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(grown, 0, 0, this.#position);
    this.#buffer = grown;
  }

  #byte(byte: number): void {
    this.#reserve(1);
    this.#buffer[this.#position++] = byte;
  }

  // Appends a marker and a length of one, two or four bytes. The marker `fixed` includes a length
  // below `fixedBelow`.
  #header(length: number, fixed: number, fixedBelow: number, marker8: number, marker16: number, extra: number): void {
    this.#reserve(5 + extra);
    const buffer = this.#buffer;
    if (length < fixedBelow) {
      buffer[this.#position++] = fixed | length;
    } else if (length <= 0xff && marker8 !== 0) {
      buffer[this.#position++] = marker8;
      buffer[this.#position++] = length;
    } else if (length <= 0xffff) {
      buffer[this.#position] = marker16;
      this.#position = buffer.writeUInt16BE(length, this.#position + 1);
    } else {
      buffer[this.#position] = marker16 + 1;
      this.#position = buffer.writeUInt32BE(length, this.#position + 1);
    }
  }

  #string(text: string): void {
    if (text.length < 32 && this.#shortAscii(text)) return;
    const bytes = Buffer.byteLength(text);
    this.#header(bytes, 0xa0, 32, 0xd9, 0xda, bytes);
    this.#buffer.write(text, this.#position, 'utf8');
    this.#position += bytes;
  }

  // Appends a short text without a call into native code, which is the fast path of keys and most
  // values. If a character is not ASCII, appends nothing and returns false.
  #shortAscii(text: string): boolean {
    const length = text.length;
    this.#reserve(1 + length);
    const buffer = this.#buffer;
    let at = this.#position;
    buffer[at++] = 0xa0 | length;
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 0x7f) return false;
      buffer[at++] = unit;
    }
    this.#position = at;
    return true;
  }

  #binary(data: Uint8Array): void {
    this.#header(data.length, 0, 0, 0xc4, 0xc5, data.length);
    this.#buffer.set(data, this.#position);
    this.#position += data.length;
  }

  #array(items: readonly unknown[]): void {
    this.#header(items.length, 0x90, 16, 0, 0xdc, 0);
    for (const item of items) this.write(item);
  }

  #map(entries: Readonly<Record<string, unknown>>): void {
    let count = 0;
    for (const key in entries) if (entries[key] !== undefined) count++;
    this.#header(count, 0x80, 16, 0, 0xde, 0);
    for (const key in entries) {
      const value = entries[key];
      if (value === undefined) continue;
      this.#string(key);
      this.write(value);
    }
  }

  #integer(value: number): void {
    if (!Number.isSafeInteger(value)) throw new TypeError(`${value} is not a whole number and cannot be sent`);
    this.#reserve(9);
    const buffer = this.#buffer;
    if (value >= 0) {
      if (value < 0x80) {
        buffer[this.#position++] = value;
      } else if (value <= 0xff) {
        buffer[this.#position++] = 0xcc;
        buffer[this.#position++] = value;
      } else if (value <= 0xffff) {
        buffer[this.#position] = 0xcd;
        this.#position = buffer.writeUInt16BE(value, this.#position + 1);
      } else if (value <= 0xffffffff) {
        buffer[this.#position] = 0xce;
        this.#position = buffer.writeUInt32BE(value, this.#position + 1);
      } else {
        buffer[this.#position] = 0xcf;
        this.#position = buffer.writeBigUInt64BE(BigInt(value), this.#position + 1);
      }
    } else if (value >= -0x20) {
      buffer[this.#position++] = value & 0xff;
    } else if (value >= -0x80) {
      buffer[this.#position++] = 0xd0;
      buffer[this.#position++] = value & 0xff;
    } else if (value >= -0x8000) {
      buffer[this.#position] = 0xd1;
      this.#position = buffer.writeInt16BE(value, this.#position + 1);
    } else if (value >= -0x80000000) {
      buffer[this.#position] = 0xd2;
      this.#position = buffer.writeInt32BE(value, this.#position + 1);
    } else {
      buffer[this.#position] = 0xd3;
      this.#position = buffer.writeBigInt64BE(BigInt(value), this.#position + 1);
    }
  }
}
