// Measures taking and releasing a slot. Counts the runtimes, processes, descriptors and store files
// that remain when the pool has ended.

import { readdirSync } from 'node:fs';
import { countDescriptors } from '../machine/footprint.js';
import { type Statistics, summarize } from '../statistics/statistics.js';
import { now } from '../statistics/timer.js';
import { type Tallied, Tally } from '../suite/failures.js';
import type { MeasuredPool, OpenPoolSidecar } from './sidecar.js';
import { until } from './until.js';

export interface CheckoutResult extends Tallied {
  /** The time until `release()` returns to its caller. */
  releaseMs: Statistics | null;
  /** The time until the next caller has the released slot. */
  readyMs: Statistics | null;
  left: { runtimes: number; processes: number; descriptors: number; files: number };
}

const SLOTS = 4;
const TENANT = 'tenant';

export async function measureCheckouts(open: OpenPoolSidecar, directory: string, checkouts: number): Promise<CheckoutResult> {
  const sidecar = await open(directory);
  const releases: number[] = [];
  const tally = new Tally();
  try {
    const resources = async () => ({
      ...(await sidecar.held()),
      descriptors: countDescriptors(sidecar.pid),
      files: readdirSync(directory, { recursive: true }).length,
    });
    const shape = { size: SLOTS, min: SLOTS, uses: 1_000_000, recycle: 'each-use' } as const;
    // The first pool makes the sidecar start threads and map the image, which the sidecar keeps.
    const first = sidecar.pool(shape);
    (await first.take(TENANT))();
    await first.dispose();
    const before = await resources();
    const pool = sidecar.pool(shape);
    const isFull = () => pool.counts().idle === SLOTS;
    await until('a full pool', isFull);
    for (let index = 0; index < checkouts; index++) {
      let release = (): void => {};
      await tally.time(async () => {
        release = await pool.take(TENANT);
        return undefined;
      });
      const from = now();
      release();
      releases.push(now() - from);
      await until('a full pool', isFull);
    }
    await pool.dispose();
    const ready = await timeReuse(sidecar.pool({ ...shape, size: 1, min: 1 }), checkouts);
    const after = await resources();
    const left = {
      runtimes: after.runtimes - before.runtimes,
      processes: after.processes - before.processes,
      descriptors: after.descriptors - before.descriptors,
      files: after.files - before.files,
    };
    return { releaseMs: summarize(releases), readyMs: summarize(ready), left, ...tally.end() };
  } finally {
    await sidecar.close();
  }
}

/**
 * Times the reuse of the only slot of a pool: the next caller waits until the released slot is
 * ready.
 */
async function timeReuse(pool: MeasuredPool, times: number): Promise<number[]> {
  const ready: number[] = [];
  let release = await pool.take(TENANT);
  for (let index = 0; index < times; index++) {
    const from = now();
    release();
    release = await pool.take(TENANT);
    ready.push(now() - from);
  }
  release();
  await pool.dispose();
  return ready;
}
