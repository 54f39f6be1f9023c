// Calls that come at one moment, in the four ways of B19: boxes that are made then (cold), slots that lie ready (prewarm), boxes from a snapshot on disk in a sidecar
// that was started after the one before was killed with SIGKILL (durable), and slots that the pool of that sidecar has made of it (durable prewarm). The clock runs
// from the call to the first answer of the guest.

import { type Statistics, summarize } from '../stats/statistics.js';
import { now } from '../stats/timer.js';
import type { OpenPoolHost, PoolHost, TaskPool } from './host.js';
import { type Tallied, Tally } from './tally.js';
import { nextTask, problemOf, programOf } from './task.js';
import { until } from './until.js';

export const CROWD_WAYS = ['cold', 'prewarm', 'durable', 'durable prewarm'] as const;
export type CrowdWay = (typeof CROWD_WAYS)[number];

export interface CrowdRow extends Tallied {
  way: CrowdWay;
  /** Calls at one moment. */
  at: number;
  rounds: number;
  /** Until the last of them has its answer. */
  wallMs: Statistics | null;
  /** Of the pool, where there is one. */
  hitRatio: number | undefined;
}

export interface CrowdShape {
  way: CrowdWay;
  at: number;
  rounds: number;
}

const TENANT = 'tenant';

export async function measureCrowd(open: OpenPoolHost, directory: string, { way, at, rounds }: CrowdShape): Promise<CrowdRow> {
  const tally = new Tally();
  const walls: number[] = [];
  let hits = 0;
  let calls = 0;
  const durable = way.startsWith('durable');
  const saved = durable ? await saveOnDisk(open, directory) : undefined;
  // One that is not killed serves all rounds.
  let host: PoolHost | undefined;
  try {
    for (let round = -1; round < rounds; round++) {
      host ??= await open(directory);
      const from = { pool: await openPool(host, way, at, saved), counted: round >= 0 ? tally : new Tally() };
      const begun = now();
      await Promise.all(Array.from({ length: at }, () => from.counted.time(() => call(host as PoolHost, from.pool, saved))));
      if (round >= 0) walls.push(now() - begun);
      const counts = from.pool?.counts();
      if (round >= 0 && counts !== undefined) {
        hits += counts.hits;
        calls += counts.hits + counts.misses;
      }
      await from.pool?.dispose();
      if (durable) {
        await host.kill();
        host = undefined;
      }
    }
  } finally {
    await host?.close();
    if (saved !== undefined) await removeFrom(open, directory, saved);
  }
  return { way, at, rounds, wallMs: summarize(walls), hitRatio: calls === 0 ? undefined : hits / calls, ...tally.end() };
}

async function call(host: PoolHost, pool: TaskPool | undefined, saved: string | undefined): Promise<string | undefined> {
  const task = nextTask(TENANT);
  const program = programOf(task);
  return problemOf(task, await (pool === undefined ? host.once(program, saved) : pool.run(program, TENANT)), false);
}

async function openPool(host: PoolHost, way: CrowdWay, at: number, snapshot: string | undefined): Promise<TaskPool | undefined> {
  if (!way.endsWith('prewarm')) return undefined;
  const pool = host.pool({ size: at, min: at, uses: 1_000, recycle: 'each-use', ...(snapshot !== undefined && { snapshot }) });
  await until('a full pool', () => pool.counts().idle === at);
  return pool;
}

async function saveOnDisk(open: OpenPoolHost, directory: string): Promise<string> {
  const host = await open(directory);
  const saved = await host.save('disk');
  await host.kill();
  return saved;
}

async function removeFrom(open: OpenPoolHost, directory: string, saved: string): Promise<void> {
  const host = await open(directory);
  try {
    await host.remove(saved);
  } finally {
    await host.close();
  }
}
