// Fuzzes the SDK's frame decoder: `node test/fuzz/frames.mjs [--seconds N] [--seed N]`. Build
// first, because the fuzzer runs the compiled package.
//
// Inputs are golden frames and random bytes, which are mutated, joined, and cut at random places.
// For every input the decoder must return frames or throw `ERR_PROTOCOL` or `ERR_FRAME_TOO_LARGE`.
// Each frame is then passed to every generated decoder. The growth of memory is bounded. A failure
// is printed with the seed that reproduces the failure.

import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { isColdframeError } from '../../dist/errors/error.js';
import { FrameReader } from '../../dist/protocol/frames.js';
import * as decoders from '../../dist/protocol/generated/decoders.js';
import { MAX_FRAME_BYTES } from '../../dist/protocol/generated/tables.js';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '10' }, seed: { type: 'string' } } });
const seconds = Number(values.seconds);
if (!(seconds > 0)) throw new RangeError(`--seconds: expected a number above 0, received ${values.seconds}`);

const folder = new URL('../../../sidecar/fixtures/frames/', import.meta.url);
const seeds = readdirSync(folder)
  .filter((name) => name.endsWith('.bin'))
  .map((name) => readFileSync(new URL(name, folder)))
  .filter((bytes) => bytes.length < 10_000);
const DECODERS = Object.values(decoders);
// Bytes for mutations: markers of types with a length, markers of refused types, and bounds of
// integers.
const BYTES = [
  0x00, 0x7f, 0x80, 0x8f, 0x90, 0x93, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc6, 0xc7, 0xcb, 0xcf, 0xd3, 0xd4, 0xd9, 0xdb, 0xdd, 0xdf,
  0xe0, 0xff,
];
const EXPECTED = ['ERR_PROTOCOL', 'ERR_FRAME_TOO_LARGE'];

// Implements mulberry32, a small seeded generator that is good enough to choose mutations.
let state = 0;
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
}
const below = (n) => Math.floor(random() * n);
const byte = () => (random() < 0.5 ? BYTES[below(BYTES.length)] : below(256));

/**
 * Makes one frame: random bytes, or a golden frame with a few bytes changed, removed or inserted.
 * The length in the frame's header is usually right, else a random number.
 */
function frame() {
  let payload =
    random() < 0.15 ? Buffer.from(Array.from({ length: below(200) }, byte)) : Buffer.from(seeds[below(seeds.length)].subarray(4));
  for (let changes = below(6); changes > 0 && payload.length > 0; changes--) {
    const at = below(payload.length);
    const kind = below(4);
    if (kind < 2) payload[at] = byte();
    else if (kind === 2) payload = Buffer.concat([payload.subarray(0, at), payload.subarray(at + 1 + below(8))]);
    else
      payload = Buffer.concat([
        payload.subarray(0, at),
        Buffer.from(Array.from({ length: 1 + below(8) }, byte)),
        payload.subarray(at),
      ]);
  }
  const header = Buffer.alloc(4);
  header.writeUInt32LE(random() < 0.97 ? payload.length : below(2) ? below(4_294_967_296) : below(payload.length + 10));
  return Buffer.concat([header, payload]);
}

function check({ body }) {
  for (const decode of DECODERS) {
    try {
      decode(body, 'body');
    } catch (error) {
      if (!isColdframeError(error, 'ERR_PROTOCOL')) throw error;
    }
  }
}

/** Reads a stream of frames in pieces and returns the number of decoded frames. */
function round() {
  let frames = 0;
  const reader = new FrameReader((one) => {
    frames++;
    check(one);
  });
  const stream = Buffer.concat(Array.from({ length: 1 + below(6) }, frame));
  try {
    for (let at = 0; at < stream.length; ) {
      const size = 1 + (random() < 0.3 ? below(8) : below(stream.length));
      reader.push(stream.subarray(at, at + size));
      at += size;
    }
  } catch (error) {
    if (!isColdframeError(error, ...EXPECTED)) throw error;
  }
  if (reader.bufferedBytes > MAX_FRAME_BYTES) throw new Error(`${reader.bufferedBytes} bytes buffered`);
  return frames;
}

const first = values.seed === undefined ? Date.now() & 0x7fffffff : Number(values.seed);
const end = performance.now() + seconds * 1_000;
let rounds = 0;
let frames = 0;
let peak = 0;
for (let seed = first; performance.now() < end; seed++) {
  state = seed;
  const before = process.memoryUsage.rss();
  try {
    // Memory use is read only between groups of 200 rounds, so that the readings hardly slow the
    // rounds.
    for (let i = 0; i < 200; i++) frames += round();
  } catch (error) {
    process.stderr.write(`seed ${seed}: ${error?.stack ?? error}\n`);
    process.exit(1);
  }
  rounds += 200;
  peak = Math.max(peak, process.memoryUsage.rss());
  const grown = process.memoryUsage.rss() - before;
  // The rounds use 200 streams of about 60 KB at most. The decoder allocates memory for an
  // announced frame of up to 32 MiB, but the system maps no page before a write.
  if (grown > 256 * 1024 * 1024) {
    process.stderr.write(`seed ${seed}: memory grew by ${grown} bytes\n`);
    process.exit(1);
  }
}
process.stdout.write(
  `${rounds} streams, ${frames} frames, seeds from ${first}, at most ${Math.round(peak / 1e6)} MB resident: no finding\n`,
);
