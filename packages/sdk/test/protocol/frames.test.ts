// Tests frames that are whole, split at any byte, of the largest size, and larger.

import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Frame, FrameReader, FrameWriter } from '../../src/protocol/frames.js';
import { MAX_FRAME_BYTES } from '../../src/protocol/generated/tables.js';
import { golden } from './golden.js';

function reader(): { frames: Frame[]; reader: FrameReader } {
  const frames: Frame[] = [];
  return { frames, reader: new FrameReader((frame) => frames.push(frame)) };
}

const error = (code: string, message: RegExp) => expect.objectContaining({ code, message: expect.stringMatching(message) });

function thrownBy(work: () => void): unknown {
  try {
    work();
  } catch (thrown) {
    return thrown;
  }
  return undefined;
}

test('reads a stream of frames that is split anywhere', () => {
  const stream = Buffer.concat(golden.map(({ bytes }) => bytes));
  const expected = golden.map(({ kind, id, body }) => ({ kind, id, body }));
  const cut = fc.uniqueArray(fc.nat({ max: stream.length }), { maxLength: 40 });
  fc.assert(
    fc.property(cut, (cuts) => {
      const { frames, reader: into } = reader();
      const points = [0, ...cuts.sort((a, b) => a - b), stream.length];
      // Each chunk is a copy, because each chunk of a socket is a separate buffer too.
      for (let i = 1; i < points.length; i++) into.push(Buffer.from(stream.subarray(points[i - 1], points[i])));
      // `toEqual` would take half a second for the largest frame.
      expect(isDeepStrictEqual(frames, expected)).toBe(true);
      expect(into.bufferedBytes).toBe(0);
    }),
    { numRuns: 200 },
  );
});

test('reads a stream byte by byte', () => {
  const { frames, reader: into } = reader();
  const some = golden.filter(({ bytes }) => bytes.length < 1_000);
  for (const byte of Buffer.concat(some.map(({ bytes }) => bytes))) into.push(Buffer.of(byte));
  expect(frames.map(({ body }) => body)).toEqual(some.map(({ body }) => body));
});

test('refuses a length above the limit without allocating memory', () => {
  const { reader: into } = reader();
  const header = Buffer.alloc(4);
  header.writeUInt32LE(MAX_FRAME_BYTES + 1);
  expect(thrownBy(() => into.push(header))).toEqual(error('ERR_FRAME_TOO_LARGE', /33554433 bytes/));
  expect(into.bufferedBytes).toBe(0);
});

test('refuses a length above the limit when its bytes arrive one by one', () => {
  const { reader: into } = reader();
  into.push(Buffer.of(0xff, 0xff, 0xff));
  expect(thrownBy(() => into.push(Buffer.of(0xff)))).toEqual(error('ERR_FRAME_TOO_LARGE', /4294967295 bytes/));
});

test('writes and reads the largest frame', () => {
  const writer = new FrameWriter();
  const overhead = 3 + 1 + 5 + 5; // bytes of array, kind and id; of the map; of the key; of the marker and length
  const data = Buffer.alloc(MAX_FRAME_BYTES - overhead, 7);
  writer.add(4, 1, { data });
  const bytes = writer.take();
  expect(bytes.readUInt32LE()).toBe(MAX_FRAME_BYTES);
  const { frames, reader: into } = reader();
  for (let at = 0; at < bytes.length; at += 65_536) into.push(bytes.subarray(at, at + 65_536));
  expect(isDeepStrictEqual(frames, [{ kind: 4, id: 1, body: { data } }])).toBe(true);
});

test('refuses to write a frame that is too large and keeps the earlier frames', () => {
  const writer = new FrameWriter();
  writer.add(10, 1, {});
  const before = writer.length;
  expect(thrownBy(() => writer.add(4, 1, { data: Buffer.alloc(MAX_FRAME_BYTES) }))).toEqual(
    error('ERR_FRAME_TOO_LARGE', /do(es)? not fit/),
  );
  expect(thrownBy(() => writer.add(4, 1, { data: 1.5 }))).toBeInstanceOf(TypeError);
  expect(writer.length).toBe(before);
  const { frames, reader: into } = reader();
  into.push(writer.take());
  expect(frames).toEqual([{ kind: 10, id: 1, body: {} }]);
});

test.each([
  ['no array', [0x80], /not an array/],
  ['two items', [0x92, 1, 1], /not an array of kind/],
  ['four items', [0x94, 1, 1, 0x80, 0x80], /not an array of kind/],
  ['a kind that is text', [0x93, 0xa1, 0x61, 1, 0x80], /kind/],
  ['an id that is negative', [0x93, 1, 0xff, 0x80], /id/],
  ['an id of more than 32 bits', [0x93, 1, 0xcf, 0, 0, 0, 1, 0, 0, 0, 0, 0x80], /id/],
  ['nothing', [], /ends too early/],
])('refuses a frame with %s', (_name, payload, message) => {
  const { reader: into } = reader();
  expect(thrownBy(() => into.push(Buffer.from([payload.length, 0, 0, 0, ...payload])))).toEqual(error('ERR_PROTOCOL', message));
});

test('returns all frames of one tick in one buffer', () => {
  const writer = new FrameWriter();
  for (let id = 1; id <= 50; id++) writer.add(13, id, { runtime: 1, mode: 'exec', code: 'x'.repeat(id * 40) });
  const { frames, reader: into } = reader();
  into.push(writer.take());
  expect(frames.map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
  expect(writer.length).toBe(0);
});
