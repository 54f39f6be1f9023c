// Decodes MessagePack: exactly the types of the protocol. `encode.ts` has the reason for not using
// a library.
//
// The sender is a process that runs untrusted guests. Each length is compared with the number of
// received bytes before memory is allocated. Nesting is bounded, and extension types are refused.
// So the allocated memory is a small multiple of the frame's size. Binary values are views of the
// frame, not copies. Next: `frames.ts`.

/**
 * The deepest nesting. The deepest valid message, a restored runtime with permission rules, has
 * eight levels.
 */
const MAX_DEPTH = 8;

/** A fault of one message. The caller names the frame. */
export class DecodeError extends Error {}

// A cache of keys by their length and two bytes. Messages repeat few keys, and creating a string is
// slow.
const KEYS: string[] = new Array(256).fill('');

/** Decodes the only value in `bytes` from `start` to `end`. */
export function decode(bytes: Buffer, start: number, end: number): unknown {
  const reader = new Reader(bytes, start, end);
  const value = reader.value(0);
  if (reader.position !== end) throw new DecodeError(`${end - reader.position} bytes follow the message`);
  return value;
}

class Reader {
  readonly #bytes: Buffer;
  readonly #end: number;
  position: number;

  constructor(bytes: Buffer, start: number, end: number) {
    this.#bytes = bytes;
    this.#end = end;
    this.position = start;
  }

  value(depth: number): unknown {
    const marker = this.#bytes[this.#advance(1)] as number;
    if (marker < 0x80) return marker;
    if (marker < 0x90) return this.#map(marker & 0x0f, depth);
    if (marker < 0xa0) return this.#array(marker & 0x0f, depth);
    if (marker < 0xc0) return this.#string(marker & 0x1f);
    if (marker >= 0xe0) return marker - 0x100;
    switch (marker) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
        return this.#binary(this.#u8());
      case 0xc5:
        return this.#binary(this.#u16());
      case 0xc6:
        return this.#binary(this.#u32());
      case 0xcc:
        return this.#u8();
      case 0xcd:
        return this.#u16();
      case 0xce:
        return this.#u32();
      case 0xcf:
        return this.#safe(this.#bytes.readBigUInt64BE(this.#advance(8)));
      case 0xd0:
        return this.#bytes.readInt8(this.#advance(1));
      case 0xd1:
        return this.#bytes.readInt16BE(this.#advance(2));
      case 0xd2:
        return this.#bytes.readInt32BE(this.#advance(4));
      case 0xd3:
        return this.#safe(this.#bytes.readBigInt64BE(this.#advance(8)));
      case 0xd9:
        return this.#string(this.#u8());
      case 0xda:
        return this.#string(this.#u16());
      case 0xdb:
        return this.#string(this.#u32());
      case 0xdc:
        return this.#array(this.#u16(), depth);
      case 0xdd:
        return this.#array(this.#u32(), depth);
      case 0xde:
        return this.#map(this.#u16(), depth);
      case 0xdf:
        return this.#map(this.#u32(), depth);
      default:
        throw new DecodeError(`type 0x${marker.toString(16)} is not part of the protocol`);
    }
  }

  // Moves the position by `length` bytes and returns the old position.
  #advance(length: number): number {
    const at = this.position;
    if (length > this.#end - at) throw new DecodeError('the message ends too early');
    this.position = at + length;
    return at;
  }

  #u8(): number {
    return this.#bytes[this.#advance(1)] as number;
  }

  #u16(): number {
    return this.#bytes.readUInt16BE(this.#advance(2));
  }

  #u32(): number {
    return this.#bytes.readUInt32BE(this.#advance(4));
  }

  #safe(value: bigint): number {
    const number = Number(value);
    if (!Number.isSafeInteger(number)) throw new DecodeError(`the integer ${value} is too large`);
    return number;
  }

  #binary(length: number): Buffer {
    const at = this.#advance(length);
    return this.#bytes.subarray(at, at + length);
  }

  #string(length: number): string {
    const at = this.#advance(length);
    return length === 0 ? '' : this.#bytes.toString('utf8', at, at + length);
  }

  #array(count: number, depth: number): unknown[] {
    this.#nest(count, 1, depth);
    const items: unknown[] = [];
    for (let i = 0; i < count; i++) items.push(this.value(depth + 1));
    return items;
  }

  #map(count: number, depth: number): Record<string, unknown> {
    this.#nest(count, 2, depth);
    const map: Record<string, unknown> = {};
    for (let i = 0; i < count; i++) {
      const key = this.#key();
      map[key] = this.value(depth + 1);
    }
    return map;
  }

  // An item has at least one byte and an entry two bytes. A count that the remaining bytes cannot
  // contain is refused before memory is allocated.
  #nest(count: number, bytesEach: number, depth: number): void {
    if (depth >= MAX_DEPTH) throw new DecodeError(`the message nests deeper than ${MAX_DEPTH} levels`);
    if (count * bytesEach > this.#end - this.position) throw new DecodeError('the message ends too early');
  }

  #key(): string {
    const marker = this.#bytes[this.position] as number;
    if (marker < 0xa0 || marker > 0xbf) return this.#longKey();
    const length = marker & 0x1f;
    const at = this.#advance(1 + length) + 1;
    const bytes = this.#bytes;
    const slot = (length * 7 + (bytes[at] as number) * 31 + (bytes[at + length - 1] as number) * 3) & 0xff;
    const known = KEYS[slot] as string;
    if (length !== 0 && known.length === length && same(known, bytes, at)) return known;
    const key = usable(bytes.toString('utf8', at, at + length));
    if (key.length === length) KEYS[slot] = key;
    return key;
  }

  #longKey(): string {
    const marker = this.#u8();
    if (marker < 0xd9 || marker > 0xdb) throw new DecodeError('a map has a key that is not a string');
    const length = marker === 0xd9 ? this.#u8() : marker === 0xda ? this.#u16() : this.#u32();
    return usable(this.#string(length));
  }
}

// Assigning `__proto__` would change the prototype of the map.
function usable(key: string): string {
  if (key === '__proto__') throw new DecodeError('a map has the key __proto__');
  return key;
}

function same(known: string, bytes: Buffer, at: number): boolean {
  for (let i = 0; i < known.length; i++) if (known.charCodeAt(i) !== bytes[at + i]) return false;
  return true;
}
