// Micro-benchmarks of the SDK's frame codec, on the frames of one exec: the request, its outcome,
// and a full frame of output.
//
// The codec is not exported by the package. This file imports the codec by its path relative to the
// package's main module. If the codec moves, the benchmark fails and names the path.

import { now } from '../statistics/timer.js';
import type { MicroGroup, MicroTask } from './task.js';

/** The exports of `packages/sdk/src/protocol/frames.ts` that this benchmark uses. */
interface Frames {
  FrameWriter: new () => { add(kind: number, id: number, body: object | null): void; take(): Buffer };
  FrameReader: new (onFrame: (frame: { kind: number; id: number; body: unknown }) => void) => { push(chunk: Buffer): void };
}

const REPEATS = 200;

const timings = { memoryMapNs: 4_200, instantiateNs: 3_100, guestStartNs: 15_300, guestRunNs: 41_700 };

const BODIES: readonly { name: string; kind: number; body: object }[] = [
  { name: 'exec request', kind: 13, body: { runtime: 7, mode: 'exec', code: "console.log('0123456789ab', 12 * 34 + 56);" } },
  { name: 'exec outcome', kind: 2, body: { exitCode: 0, stdout: Buffer.alloc(20, 'x'), stderr: Buffer.alloc(0), timings } },
  { name: '64 KiB of output', kind: 4, body: { fd: 1, data: Buffer.alloc(65_536, 'x') } },
];

export async function codecGroup(): Promise<MicroGroup> {
  const place = new URL('./protocol/frames.js', import.meta.resolve('coldframe')).href;
  const frames = (await import(place)) as Frames;
  const tasks = BODIES.flatMap(({ name, kind, body }) => [
    encodeTask(frames, name, kind, body),
    decodeTask(frames, name, kind, body),
  ]);
  return { tasks };
}

function encodeTask({ FrameWriter }: Frames, name: string, kind: number, body: object): MicroTask {
  const writer = new FrameWriter();
  const sample = () => {
    let bytes = 0;
    const startedAt = now();
    for (let turn = 0; turn < REPEATS; turn++) {
      writer.add(kind, turn, body);
      bytes += writer.take().length;
    }
    const elapsed = now() - startedAt;
    if (bytes < REPEATS * 8) throw new Error(`expected whole frames, got ${bytes} bytes`);
    return elapsed;
  };
  return { name: `encode ${name}`, what: 'FrameWriter: add and take', sample, operations: REPEATS };
}

function decodeTask({ FrameWriter, FrameReader }: Frames, name: string, kind: number, body: object): MicroTask {
  const writer = new FrameWriter();
  writer.add(kind, 1, body);
  const bytes = writer.take();
  let seen = 0;
  const reader = new FrameReader((frame) => {
    if (frame.kind === kind) seen++;
  });
  const sample = () => {
    seen = 0;
    const startedAt = now();
    for (let turn = 0; turn < REPEATS; turn++) reader.push(bytes);
    const elapsed = now() - startedAt;
    if (seen !== REPEATS) throw new Error(`expected ${REPEATS} frames, got ${seen}`);
    return elapsed;
  };
  return { name: `decode ${name}`, what: 'FrameReader: push', sample, operations: REPEATS };
}
