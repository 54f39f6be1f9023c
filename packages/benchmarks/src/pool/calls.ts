// Measures concurrent calls, in four ways. The clock runs from the call to the first reply of the
// guest. A new way needs an entry in `declared`.

import { type Statistics, summarize } from '../statistics/statistics.js';
import { now } from '../statistics/timer.js';
import { type Tallied, Tally } from '../suite/failures.js';
import { runRounds } from '../suite/rounds.js';
import type { MeasuredPool, OpenPoolSidecar, PoolSidecar } from './sidecar.js';
import { nextTask, programOf, taskProblem } from './task.js';
import { until } from './until.js';

/** The way in which the calls get their runtimes. */
interface CallWayShape {
  /** Whether the calls find idle slots of a pool. Otherwise runtimes are created for the calls. */
  isPrewarmed: boolean;
  /**
   * Whether the runtimes come from a snapshot on disk, in a sidecar that started after the previous
   * sidecar was killed with SIGKILL.
   */
  isDurable: boolean;
}

const declared = {
  cold: { isPrewarmed: false, isDurable: false },
  prewarm: { isPrewarmed: true, isDurable: false },
  durable: { isPrewarmed: false, isDurable: true },
  'durable prewarm': { isPrewarmed: true, isDurable: true },
} satisfies Record<string, CallWayShape>;

export type CallWay = keyof typeof declared;

export const CALL_WAYS = Object.keys(declared) as CallWay[];

export interface CallResult extends Tallied {
  way: CallWay;
  /** Concurrent calls. */
  at: number;
  rounds: number;
  /** The time until the last reply. */
  wallMs: Statistics | null;
  /** The share of calls that found a slot ready. `undefined` without a pool. */
  hitRatio: number | undefined;
}

export interface CallShape {
  way: CallWay;
  at: number;
  rounds: number;
}

const TENANT = 'tenant';
const WARMUP = 1;
const USES = 1_000;

export async function measureCalls(
  open: OpenPoolSidecar,
  directory: string,
  { way, at, rounds }: CallShape,
): Promise<CallResult> {
  const [tally, warmupTally] = [new Tally(), new Tally()];
  const walls: number[] = [];
  let [hits, calls] = [0, 0];
  const { isDurable, isPrewarmed } = declared[way];
  const snapshot = isDurable ? await storeSnapshot(open, directory) : undefined;
  // If the sidecar is not killed, one sidecar is used for all rounds.
  let kept: PoolSidecar | undefined;
  try {
    await runRounds({ warmup: WARMUP, rounds }, async (isWarmup) => {
      const sidecar = kept ?? (await open(directory));
      kept = sidecar;
      const pool = isPrewarmed ? await openFullPool(sidecar, at, snapshot) : undefined;
      const counted = isWarmup ? warmupTally : tally;
      const begun = now();
      await Promise.all(Array.from({ length: at }, () => counted.time(() => callOnce(sidecar, pool, snapshot))));
      if (!isWarmup) walls.push(now() - begun);
      const counts = pool?.counts();
      if (!isWarmup && counts !== undefined) {
        hits += counts.hits;
        calls += counts.hits + counts.misses;
      }
      await pool?.dispose();
      if (isDurable) {
        await sidecar.kill();
        kept = undefined;
      }
    });
  } finally {
    await kept?.close();
    if (snapshot !== undefined) await deleteSnapshot(open, directory, snapshot);
  }
  return { way, at, rounds, wallMs: summarize(walls), hitRatio: calls === 0 ? undefined : hits / calls, ...tally.end() };
}

async function callOnce(sidecar: PoolSidecar, pool: MeasuredPool | undefined, snapshot: string | undefined) {
  const task = nextTask(TENANT);
  const program = programOf(task);
  return taskProblem(task, await (pool === undefined ? sidecar.once(program, snapshot) : pool.run(program, TENANT)), false);
}

async function openFullPool(sidecar: PoolSidecar, at: number, snapshot: string | undefined): Promise<MeasuredPool> {
  const pool = sidecar.pool({ size: at, min: at, uses: USES, recycle: 'each-use', ...(snapshot !== undefined && { snapshot }) });
  await until('a full pool', () => pool.counts().idle === at);
  return pool;
}

async function storeSnapshot(open: OpenPoolSidecar, directory: string): Promise<string> {
  const sidecar = await open(directory);
  const snapshot = await sidecar.takeSnapshot('disk');
  await sidecar.kill();
  return snapshot;
}

async function deleteSnapshot(open: OpenPoolSidecar, directory: string, snapshot: string): Promise<void> {
  const sidecar = await open(directory);
  try {
    await sidecar.deleteSnapshot(snapshot);
  } finally {
    await sidecar.close();
  }
}
