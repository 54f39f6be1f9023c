// Runs a race: a program repeats a call while a thread of this process swaps the file that the call
// uses. A race ends after a number of rounds, not after a time. A race with too few swaps is
// repeated.

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { NodeRuntime } from '../../../../src/index.js';
import { repetitions } from '../../../repetitions.js';
import type { CaseFolders } from './folders.js';
import { PRELUDE } from './prelude.js';

export type Swap = 'directory' | 'absolute' | 'file' | 'away' | 'chain';

const ROUNDS = repetitions(100, 400);
/** The smallest number of swaps while the program runs. */
const MIN_SWAPS = 20;
const MAX_TRIES = 200;
/** The flags that the threads share. `swapper.mjs` has the same numbers. */
const [STOP, COUNT, ASKED] = [0, 1, 2];

/** Prepares the file or folder that the race swaps. */
export function prepareSwap({ inside }: CaseFolders, kind: Swap): void {
  if (kind === 'file') writeFileSync(join(inside, 'swapped-file'), 'inside');
  else if (kind === 'chain') symlinkSync('dir', join(inside, 'swapped'));
  else mkdirSync(join(inside, 'swapped/deep'), { recursive: true });
  if (kind !== 'file' && kind !== 'chain') writeFileSync(join(inside, 'swapped/file'), 'inside');
}

/**
 * Runs `step`, the body of an async function of `round`, during swaps. Returns the distinct results
 * of all rounds.
 */
export const race =
  (kind: Swap, step: string) =>
  async (runtime: NodeRuntime, folders: CaseFolders): Promise<string> => {
    const shared = new SharedArrayBuffer(12);
    const flags = new Int32Array(shared);
    const worker = new Worker(new URL('swapper.mjs', import.meta.url), {
      workerData: { inside: folders.inside, outside: folders.outside, kind, shared },
    });
    // The listeners are added immediately, because a listener that is added after the end of the
    // thread is never called.
    const ended = new Promise<void>((resolve, reject) => worker.once('error', reject).once('exit', () => resolve()));
    ended.catch(() => {});
    const swapped = (): Promise<unknown> => {
      const message = new Promise((resolve) => worker.once('message', resolve));
      Atomics.store(flags, ASKED, 1);
      return Promise.race([message, ended]);
    };
    // On a busy machine the thread needs longer to load its module than the program needs for all
    // tries.
    await swapped();
    try {
      const code = `${PRELUDE}
const step = async (round) => { ${step} };
const seen = new Set();
for (let round = 0; round < ${ROUNDS}; round++) seen.add(await later(() => step(round)));
console.log([...seen].sort().join('\\n'));`;
      let output = '';
      let swaps = 0;
      for (let tries = 0; tries < MAX_TRIES && swaps < MIN_SWAPS; tries++) {
        const before = Atomics.load(flags, COUNT);
        const result = await runtime.exec(code, { timeout: 15_000 });
        output += result.stdout + result.stderr + (result.error?.code ?? '');
        const after = Atomics.load(flags, COUNT);
        swaps += after - before;
        // The program may undo every swap before it is complete. The thread completes a swap while
        // no program runs, so that the next try begins with a running thread.
        if (after === before) await swapped();
      }
      if (swaps < MIN_SWAPS) return 'nothing was swapped';
      return output.trim();
    } finally {
      Atomics.store(flags, STOP, 1);
      await ended;
    }
  };
