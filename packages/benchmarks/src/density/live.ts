// Measures many live runtimes in one sidecar: the cost of each runtime, the time to create the
// runtimes, and whether each runtime replies afterwards.
//
// A few runtimes are created, probed and disposed of first, so that the sidecar has allocated the
// memory that every sidecar keeps. The footprint of the process is read before and after the
// creation, and every runtime is probed again. The difference of the footprints divided by the live
// runtimes is the cost. Some authors of other systems read free(1), which reports the memory of the
// whole machine.

import { type Footprint, privateGrowthKib, readFootprint } from '../machine/footprint.js';
import type { MeasuredRuntime, OpenSidecar } from '../sandbox/runtime.js';
import { quarterMedians, type Statistics, summarize } from '../statistics/statistics.js';
import { now } from '../statistics/timer.js';
import { runConcurrently } from '../suite/concurrency.js';
import { withDeadline } from '../suite/deadline.js';
import { countFailures, reason } from '../suite/failures.js';
import { runRounds } from '../suite/rounds.js';
import { type KindName, type LiveSource, openSource } from './kinds.js';

/** One result in the JSON. The outcomes are named as in the largest published count. */
export interface LiveResult {
  kind: KindName;
  /** The number of requested runtimes. */
  count: number;
  /** The number of runtimes that were created and replied. */
  live: number;
  /** The largest number of creations in flight. */
  width: number;
  outcomes: {
    success: number;
    /** Runtimes that replied to the first probe and not to the second probe. */
    partial: number;
    /** Runtimes that were created and did not reply. */
    readinessFailed: number;
    /** Runtimes that were not created. */
    refused: number;
  };
  successRate: number;
  failures: Record<string, number>;
  /** The growth of private pages and page tables in KiB, divided by the number of live runtimes. */
  privateKib: number;
  pageTablesKib: number;
  pssKib: number;
  mappings: number;
  descriptors: number;
  /** The value of `privateKib` after all runtimes have been probed again. */
  privateKibAfterProbe: number;
  /** The time from the call to the first reply. Failed calls have no time. */
  createMs: Statistics | null;
  /** Medians of the first to the last quarter, in order of the calls. */
  quarters: number[];
  createWallMs: number;
  probeMs: Statistics | null;
  probeWallMs: number;
  /** Raw times in order of the calls. A failed call is 0. */
  samples: { createMs: number[]; probeMs: number[] };
  before: Footprint;
  after: Footprint;
}

export interface LiveShape {
  kind: KindName;
  count: number;
  width: number;
  directory: string;
  /** Time limit for the creation, and again for the probe. */
  limitMs: number;
  footprint?: (pid: number) => Footprint;
  /** Called with the number of creations that have ended. */
  progress?: (done: number) => void;
}

const WARMUP = 8;
const PROBES_AT_ONCE = 16;
const CLOSE_MS = 60_000;

export async function measureLive(open: OpenSidecar, shape: LiveShape): Promise<LiveResult> {
  const { footprint = readFootprint } = shape;
  const source = await openSource(shape.kind, open, shape.directory);
  try {
    await runRounds({ warmup: WARMUP, rounds: 0 }, () => createAndDispose(source));
    const before = footprint(source.sidecar.pid);
    const created = await createAll(source, shape);
    const after = footprint(source.sidecar.pid);
    const probed = await probeAll(source, created.runtimes, shape);
    const last = footprint(source.sidecar.pid);
    const live = created.runtimes.length;
    const each = (total: number) => (live === 0 ? 0 : total / live);
    const { readinessFailed, refused } = created;
    const outcomes = { success: live - probed.failures.length, partial: probed.failures.length, readinessFailed, refused };
    return {
      kind: shape.kind,
      count: shape.count,
      live,
      width: shape.width,
      outcomes,
      successRate: outcomes.success / shape.count,
      failures: countFailures([...created.failures, ...probed.failures]),
      privateKib: each(privateGrowthKib(before.memory, after.memory)),
      pageTablesKib: each(after.memory.pageTablesKib - before.memory.pageTablesKib),
      pssKib: each(after.memory.pssKib - before.memory.pssKib),
      mappings: each(after.mappings - before.mappings),
      descriptors: each(after.descriptors - before.descriptors),
      privateKibAfterProbe: each(privateGrowthKib(before.memory, last.memory)),
      createMs: summarize(created.ms.filter((value) => value !== undefined)),
      quarters: quarterMedians(created.ms),
      createWallMs: created.wallMs,
      probeMs: summarize(probed.ms),
      probeWallMs: probed.wallMs,
      samples: { createMs: created.ms.map((value) => value ?? 0), probeMs: probed.ms },
      before,
      after,
    };
  } finally {
    await withDeadline('closing the sidecar', CLOSE_MS, source.sidecar.close());
  }
}

async function createAndDispose(source: LiveSource): Promise<void> {
  const runtime = await source.create();
  await source.probe(runtime);
  await runtime.dispose();
}

async function createAll(source: LiveSource, { count, width, limitMs, progress = () => {} }: LiveShape) {
  const runtimes: MeasuredRuntime[] = [];
  const failures: string[] = [];
  const ms: (number | undefined)[] = Array.from({ length: count }, () => undefined);
  let [readinessFailed, refused] = [0, 0];
  const startedAt = now();
  const notBegun = await runConcurrently({ count, width, deadline: startedAt + limitMs }, async (index) => {
    const from = now();
    let runtime: MeasuredRuntime | undefined;
    try {
      runtime = await source.create();
      await source.probe(runtime);
      ms[index] = now() - from;
      runtimes.push(runtime);
    } catch (error) {
      failures.push(reason(error));
      if (runtime) readinessFailed++;
      else refused++;
    }
    progress(runtimes.length + failures.length);
  });
  failures.push(...Array.from({ length: notBegun }, () => 'no time left for the creation'));
  return { runtimes, failures, ms, readinessFailed, refused: refused + notBegun, wallMs: now() - startedAt };
}

async function probeAll(source: LiveSource, runtimes: readonly MeasuredRuntime[], { limitMs }: LiveShape) {
  const failures: string[] = [];
  const ms: number[] = [];
  const startedAt = now();
  const shape = { count: runtimes.length, width: PROBES_AT_ONCE, deadline: startedAt + limitMs };
  const notBegun = await runConcurrently(shape, async (index) => {
    const runtime = runtimes[index];
    const from = now();
    try {
      if (runtime) await source.probe(runtime);
      ms.push(now() - from);
    } catch (error) {
      failures.push(`probe: ${reason(error)}`);
    }
  });
  failures.push(...Array.from({ length: notBegun }, () => 'no time left for the probe'));
  return { failures, ms, wallMs: now() - startedAt };
}

const EXHAUSTED = 'ERR_RESOURCE_EXHAUSTED';

/**
 * Returns whether every failure is a refused creation whose error names the exhausted resource of
 * the system.
 */
export const isRefusedByName = ({ outcomes: { partial, readinessFailed, refused }, failures }: LiveResult): boolean =>
  partial + readinessFailed === 0 &&
  refused === Object.entries(failures).reduce((sum, [why, count]) => (why.startsWith(EXHAUSTED) ? sum + count : sum), 0);
