// A race: a program does the same thing again and again while a thread of the host swaps what it does it to. Bounded by the program's own rounds,
// not by time; a race in which nothing was swapped is run again.

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { NodeRuntime } from '../../../../src/index.js';
import { repetitions } from '../../../repetitions.js';
import type { Place } from './place.js';
import { PRELUDE } from './prelude.js';

export type Swap = 'directory' | 'absolute' | 'file' | 'away' | 'chain';

const ROUNDS = repetitions(100, 400);
/** Swaps that a race must have seen. */
const ENOUGH = 20;
const MOST_TRIES = 20;

/** What is swapped, as it is before the race. */
export function prepareSwap({ inside }: Place, kind: Swap): void {
  if (kind === 'file') writeFileSync(join(inside, 'swapped-file'), 'inside');
  else if (kind === 'chain') symlinkSync('dir', join(inside, 'swapped'));
  else mkdirSync(join(inside, 'swapped/deep'), { recursive: true });
  if (kind !== 'file' && kind !== 'chain') writeFileSync(join(inside, 'swapped/file'), 'inside');
}

/** Runs `step` (the body of an async function of the round's number) while the host swaps; the distinct answers that it gave. */
export const race =
  (kind: Swap, step: string) =>
  async (runtime: NodeRuntime, place: Place): Promise<string> => {
    const shared = new SharedArrayBuffer(8);
    const flags = new Int32Array(shared);
    const worker = new Worker(new URL('swapper.mjs', import.meta.url), {
      workerData: { inside: place.inside, outside: place.outside, kind, shared },
    });
    // Listened to from the start: whoever asks after its end would wait for ever.
    const ended = new Promise<void>((resolve, reject) => worker.once('error', reject).once('exit', () => resolve()));
    ended.catch(() => {});
    await new Promise((resolve) => worker.once('online', resolve));
    try {
      const code = `${PRELUDE}
const step = async (round) => { ${step} };
const seen = new Set();
for (let round = 0; round < ${ROUNDS}; round++) seen.add(await later(() => step(round)));
console.log([...seen].sort().join('\\n'));`;
      let output = '';
      for (let tries = 0; tries < MOST_TRIES && Atomics.load(flags, 1) < ENOUGH; tries++) {
        const result = await runtime.exec(code, { timeout: 15_000 });
        output += result.stdout + result.stderr + (result.error?.code ?? '');
      }
      if (Atomics.load(flags, 1) < ENOUGH) return 'nothing was swapped';
      return output.trim();
    } finally {
      Atomics.store(flags, 0, 1);
      await ended;
    }
  };
