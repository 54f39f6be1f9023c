// The micro-benchmark: single operations, measured with tinybench and summarized with the
// statistics of this package.
//
// Each section opens a group of tasks, which can share a sidecar. A new row is a task in a group. A
// new group is a section. Next: `evaluation.ts`, `system-call.ts`, `codec.ts`.

import { Bench } from 'tinybench';
import { openEmbedded, openEmbeddedInline, spawnShared } from '../sandbox/sidecars.js';
import { type Statistics, scale, summarize } from '../statistics/statistics.js';
import { now } from '../statistics/timer.js';
import type { Benchmark, Section } from '../suite/benchmark.js';
import { figure, type Table, table, times, words } from '../suite/table.js';
import { ms } from '../suite/text.js';
import { codecGroup } from './codec.js';
import { evaluationGroup } from './evaluation.js';
import { systemCallGroup, WITH_CALL, WITHOUT_CALL } from './system-call.js';
import type { MicroGroup, MicroTask } from './task.js';

/** One result in the JSON. */
export interface MicroResult {
  name: string;
  what: string;
  /** Milliseconds per operation. `null` when a sample failed. */
  statistics: Statistics | null;
  error?: string;
}

export type MicroRun = { results: MicroResult[] };

const TIME_MS = 1_000;
const WARMUP_MS = 250;
const MICROSECONDS = 1_000;

async function measureTask({ name, what, sample, operations }: MicroTask): Promise<MicroResult> {
  const bench = new Bench({ time: TIME_MS, warmupTime: WARMUP_MS, retainSamples: true });
  bench.add(name, async () => {
    const begunAt = now();
    const elapsed = await sample();
    // A sample is the time of one operation. The time limit counts all time, preparation included.
    return { overriddenDuration: elapsed / operations, overriddenIterationCost: now() - begunAt };
  });
  const [task] = await bench.run();
  const result = task?.result;
  if (result?.state === 'completed') return { name, what, statistics: summarize(result.latency.samples ?? []) };
  const error = result?.state === 'errored' ? String(result.error) : `tinybench: ${result?.state}`;
  return { name, what, statistics: null, error };
}

const sectionOf = (open: () => Promise<MicroGroup>): Section<undefined, MicroRun, 'results'> => ({
  field: 'results',
  open: async () => {
    const { tasks, close } = await open();
    const rows = tasks.map((task) => ({ name: task.name, key: { row: task.name }, measure: () => measureTask(task) }));
    return { rows, ...(close && { close }) };
  },
  describe: ({ statistics, error }) => error ?? `${ms(statistics && statistics.p50 * MICROSECONDS)} µs`,
  outcomes: ({ name, error }) => [{ name, total: 1, right: error === undefined ? 1 : 0, failure: error }],
  figures: ({ name, statistics }) => [{ name, statistics }],
});

/** Returns the milliseconds of a system call. */
function systemCallMs({ results }: MicroRun): number | null {
  const p50 = (name: string) => results.find((result) => result.name === name)?.statistics?.p50;
  const [withCall, without] = [p50(WITH_CALL), p50(WITHOUT_CALL)];
  return withCall === undefined || without === undefined ? null : withCall - without;
}

function resultTable(run: MicroRun): Table {
  const lines: { name: string; what: string; statistics: Partial<Statistics> | null }[] = run.results.map(
    ({ name, what, statistics, error }) => ({
      name,
      what: error === undefined ? what : 'failed',
      statistics: statistics && scale(statistics, MICROSECONDS),
    }),
  );
  const systemCall = systemCallMs(run);
  if (systemCall !== null) {
    const statistics = { p50: systemCall * MICROSECONDS };
    lines.push({ name: 'guest clock call', what: 'difference of the two loops', statistics });
  }
  type Line = (typeof lines)[number];
  return table('Single operations (µs)', lines, [
    words('operation', ({ name }) => name),
    words('what', ({ what }) => what),
    ...times(['p50', 'p95', 'p99', 'MAD'], ({ statistics }: Line) => statistics),
    figure('n', ({ statistics }) => statistics?.count),
  ]);
}

export const micro: Benchmark<object, undefined, MicroRun> = {
  name: 'micro',
  schema: 'coldframe-micro/1',
  heading: 'Coldframe: single operations',
  summary: `Warm evaluation, fresh program, create + drop and ping on each kind of sidecar, a guest's system call, the
frame codec.`,
  options: {},
  floorSamples: () => 0,
  open: () => ({ setup: undefined }),
  facts: (run) => ({ systemCallMs: systemCallMs(run) }),
  sections: [
    sectionOf(() => evaluationGroup('shared', spawnShared)),
    sectionOf(() => evaluationGroup('embedded', openEmbedded)),
    sectionOf(() => evaluationGroup('embedded inline', openEmbeddedInline)),
    sectionOf(systemCallGroup),
    sectionOf(codecGroup),
  ],
  tables: (run) => [resultTable(run)],
};
