// Compares the MessagePack codec with an independent library, and decodes hostile bytes.

import { decode as peerDecode, encode as peerEncode } from '@msgpack/msgpack';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DecodeError, decode } from '../../src/protocol/decode.js';
import { Encoder } from '../../src/protocol/encode.js';

const key = fc.string({ unit: 'grapheme', maxLength: 80 }).filter((name) => name !== '__proto__');
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger().map((n) => (n === 0 ? 0 : n)),
    fc.integer({ min: -70_000, max: 70_000 }),
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: 'binary', minLength: 250, maxLength: 300 }),
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    fc.uint8Array({ minLength: 255, maxLength: 260 }).map((bytes) => Buffer.from(bytes)),
    fc.array(tie('value'), { maxLength: 20 }),
    fc.dictionary(key, tie('value'), { maxKeys: 20, noNullPrototype: true }),
  ),
}));
const shallow = value.filter((it) => depth(it) <= 8);

function depth(it: unknown): number {
  if (typeof it !== 'object' || it === null || it instanceof Uint8Array) return 0;
  return 1 + Math.max(0, ...Object.values(it).map(depth));
}

function encode(it: unknown): Buffer {
  const encoder = new Encoder();
  encoder.write(it);
  return encoder.take();
}

const decodeAll = (bytes: Buffer): unknown => decode(bytes, 0, bytes.length);

test('decodes an encoded value to an equal value', () => {
  fc.assert(
    fc.property(shallow, (it) => {
      expect(decodeAll(encode(it))).toEqual(it);
    }),
  );
});

test('an independent library decodes the bytes and encodes equal bytes', () => {
  fc.assert(
    fc.property(shallow, (it) => {
      const bytes = encode(it);
      expect(encode(peerDecode(bytes, { useBigInt64: false }))).toEqual(bytes);
      expect(decodeAll(Buffer.from(peerEncode(it)))).toEqual(it);
    }),
  );
});

test('omits entries with the value undefined', () => {
  expect(decodeAll(encode({ a: undefined, b: 1, c: undefined }))).toEqual({ b: 1 });
});

test.each([1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('refuses to encode %s', (number) => {
  expect(() => encode(number)).toThrow(TypeError);
});

test('encodes lone surrogates as replacement characters with the right length', () => {
  expect(decodeAll(encode('a\ud800b'))).toBe('a\ufffdb');
  expect(decodeAll(encode(`${'x'.repeat(40)}\udfff`))).toBe(`${'x'.repeat(40)}\ufffd`);
});

test.each([
  ['an empty message', [], 'ends too early'],
  ['a list that claims more items than the message has', [0xdd, 0xff, 0xff, 0xff, 0xff], 'ends too early'],
  ['a map that claims more entries than the message has', [0xdf, 0x7f, 0xff, 0xff, 0xff], 'ends too early'],
  ['text that claims more bytes than the message has', [0xdb, 0x7f, 0xff, 0xff, 0xff, 0x61], 'ends too early'],
  ['binary data that claims more bytes than the message has', [0xc6, 0x00, 0x00, 0x00, 0x02, 0x61], 'ends too early'],
  ['bytes after the message', [0xc0, 0xc0], '1 bytes follow'],
  ['a key that is a number', [0x81, 0x01, 0x01], 'a key that is not a string'],
  ['a key that is a list', [0x81, 0x90, 0x01], 'a key that is not a string'],
  ['the key __proto__', [0x81, 0xa9, ...Buffer.from('__proto__'), 0x80], '__proto__'],
  ['the key __proto__ in another length', [0x81, 0xd9, 0x09, ...Buffer.from('__proto__'), 0x80], '__proto__'],
  ['an integer that is too large', [0xcf, 0x00, 0x20, 0, 0, 0, 0, 0, 0], 'too large'],
  ['an extension type', [0xd4, 0x72, 0x40], 'type 0xd4'],
  ['a float', [0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0], 'type 0xcb'],
  ['the type that does not exist', [0xc1], 'type 0xc1'],
  ['deep nesting', new Array(1_000).fill(0x91), 'nests deeper'],
  ['deep nesting in maps', new Array(1_000).fill([0x81, 0xa1, 0x61]).flat(), 'nests deeper'],
])('refuses to decode %s', (_name, bytes, message) => {
  expect(() => decodeAll(Buffer.from(bytes))).toThrow(DecodeError);
  expect(() => decodeAll(Buffer.from(bytes))).toThrow(message);
});

test('random bytes are decoded or refused with a protocol error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      try {
        decodeAll(Buffer.from(bytes));
      } catch (error) {
        expect(error).toBeInstanceOf(DecodeError);
      }
    }),
    { numRuns: 2_000 },
  );
});
