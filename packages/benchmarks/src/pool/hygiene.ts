// Taking a slot and giving it back (B23), and what is left behind when the pool is gone: runtimes, processes, descriptors, files of the store.

import { readdirSync } from 'node:fs';
import { takeCensus } from '../machine/census.js';
import { type Statistics, summarize } from '../stats/statistics.js';
import { now } from '../stats/timer.js';
import type { OpenPoolHost, TaskPool } from './host.js';
import { type Tallied, Tally } from './tally.js';
import { until } from './until.js';

export interface HygieneResult extends Tallied {
  /** Until the caller of `release()` goes on. */
  releaseMs: Statistics | null;
  /** Until the next caller has the same slot. */
  readyMs: Statistics | null;
  left: { runtimes: number; processes: number; descriptors: number; files: number };
}

const SLOTS = 4;
const TENANT = 'tenant';

export async function measureHygiene(open: OpenPoolHost, directory: string, checkouts: number): Promise<HygieneResult> {
  const host = await open(directory);
  const releases: number[] = [];
  const ready: number[] = [];
  const tally = new Tally();
  try {
    const lookAround = async () => ({
      ...(await host.held()),
      descriptors: takeCensus(host.pid).descriptors,
      files: filesIn(directory),
    });
    const shape = { size: SLOTS, min: SLOTS, uses: 1_000_000, recycle: 'each-use' } as const;
    // The first one opens what stays open in a sidecar: its threads, its image.
    const warm = host.pool(shape);
    (await warm.take(TENANT))();
    await warm.dispose();
    const before = await lookAround();
    const pool = host.pool(shape);
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
    await again(host.pool({ ...shape, size: 1, min: 1 }), checkouts, ready);
    const after = await lookAround();
    const left = {
      runtimes: after.runtimes - before.runtimes,
      processes: after.processes - before.processes,
      descriptors: after.descriptors - before.descriptors,
      files: after.files - before.files,
    };
    return { releaseMs: summarize(releases), readyMs: summarize(ready), left, ...tally.end() };
  } finally {
    await host.close();
  }
}

// In a pool of one slot: who comes right after it was given back waits until it is ready.
async function again(pool: TaskPool, times: number, ready: number[]): Promise<void> {
  let release = await pool.take(TENANT);
  for (let index = 0; index < times; index++) {
    const from = now();
    release();
    release = await pool.take(TENANT);
    ready.push(now() - from);
  }
  release();
  await pool.dispose();
}

function filesIn(directory: string): number {
  return readdirSync(directory, { recursive: true }).length;
}
