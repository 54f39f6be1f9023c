// The pool benchmark: the cost of a task in a pool of runtimes and without a pool, concurrent
// calls, and taking and releasing a slot.
//
// Each row has a sidecar and a folder of its own. Next: `tasks.ts`, `calls.ts` and `checkouts.ts`
// for the measurements.

import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ratioOf, summarize } from '../statistics/statistics.js';
import type { Benchmark, Section } from '../suite/benchmark.js';
import type { Tallied } from '../suite/failures.js';
import { numberOption, numbersOption } from '../suite/options.js';
import { worstPercentage } from '../suite/targets.js';
import { ms, percentage } from '../suite/text.js';
import { CALL_WAYS, type CallResult, measureCalls } from './calls.js';
import { callChart, taskChart } from './charts.js';
import { type CheckoutResult, measureCheckouts } from './checkouts.js';
import { type OpenPoolSidecar, openPoolSidecar } from './sidecar.js';
import { callTable, checkoutTable, publishedTable, taskTable } from './tables.js';
import { guessTaskMs, measureTasks, type TaskCounts, type TaskResult, type TaskShape, taskShapes, type Way } from './tasks.js';

export type PoolOptions = {
  /** Uses of a slot until the slot is replaced or rolled back (K). */
  uses: readonly number[];
  /** Tasks of each row. */
  tasks: number;
  /** Slots of a pool. */
  slots: number;
  /** Concurrent calls. */
  crowds: readonly number[];
  budgetSeconds: number;
  quick: boolean;
};

export type PoolRun = {
  /** Tasks with a pool and without a pool. */
  amortised: TaskResult[];
  /** Concurrent calls. */
  crowds: CallResult[];
  /** Taking and releasing a slot. */
  hygiene: CheckoutResult | null;
};

export interface PoolSetup extends TaskCounts, Pick<PoolOptions, 'crowds'> {
  open: OpenPoolSidecar;
  scratch: string;
  /** Rounds of calls. */
  rounds: number;
  /** Checkouts of the section `hygiene`: each takes and releases a slot. */
  checkouts: number;
}

const MOST = 100_000;
/** Rough durations of a sidecar and of a call, for the expected end of the run. */
const [OPEN_MS, CALL_MS] = [50, 1];

const taskName = ({ way, uses, width }: Pick<TaskShape, 'way' | 'uses' | 'width'>): string =>
  `${way}${uses === undefined ? '' : `, K = ${uses}`}, ${width} at a time`;

async function inFolder<Result>(scratch: string, work: (directory: string) => Promise<Result>): Promise<Result> {
  const directory = mkdtempSync(join(scratch, 'row-'));
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const describe = ({ eachMs, successRate }: Tallied): string => `${ms(eachMs?.p50)} ms, right ${percentage(successRate)}`;

const outcomeOf = (name: string, { total, right, failures }: Tallied) => [
  { name, total, right, failure: Object.keys(failures)[0] },
];

/** Returns the row of a way, or `undefined` if a task of the row was wrong. */
const task = ({ amortised }: PoolRun, way: Way, uses?: number): TaskResult | undefined =>
  amortised.find((row) => row.way === way && row.uses === uses && row.width === 1 && row.successRate === 1);

const tasks: Section<PoolSetup, PoolRun, 'amortised'> = {
  field: 'amortised',
  open: (setup) => ({
    rows: taskShapes(setup).map((shape) => ({
      name: taskName(shape),
      key: { row: taskName(shape) },
      guessMs: OPEN_MS + shape.tasks * guessTaskMs(shape.way),
      measure: () => inFolder(setup.scratch, (directory) => measureTasks(setup.open, directory, shape)),
    })),
  }),
  describe,
  outcomes: (row) => outcomeOf(taskName(row), row),
  figures: (row) => [
    { name: `${taskName(row)}, amortised`, statistics: summarize([row.amortisedMs]) },
    { name: `${taskName(row)}, each`, statistics: row.eachMs },
  ],
  targets: [
    {
      promise: 'W1',
      what: 'task in an idle slot, K = 100, as its caller sees it',
      unit: 'ms',
      atMost: 0.5,
      measured: (run) => task(run, 'pool', 100)?.eachMs?.p50,
    },
    {
      promise: 'W2',
      what: 'task, K = 100, with all work of the pool',
      unit: 'ms',
      atMost: 1.5,
      measured: (run) => task(run, 'pool', 100)?.amortisedMs,
    },
    {
      promise: 'W3',
      what: 'task, K = 100, against `node -e`',
      unit: '×',
      atMost: 0.1,
      measured: (run) => ratioOf(task(run, 'pool', 100)?.amortisedMs, task(run, 'node -e')?.amortisedMs),
    },
  ],
  tables: ({ amortised }) => [taskTable(amortised)],
  charts: ({ amortised }) => [taskChart(amortised)],
};

const calls: Section<PoolSetup, PoolRun, 'crowds'> = {
  field: 'crowds',
  open: ({ crowds, rounds, scratch, open }) => ({
    rows: CALL_WAYS.flatMap((way) =>
      crowds.map((at) => ({
        name: `${way}, ${at} at once`,
        key: { row: `${way}, ${at} at once` },
        guessMs: OPEN_MS * rounds + rounds * at * CALL_MS,
        measure: () => inFolder(scratch, (directory) => measureCalls(open, directory, { way, at, rounds })),
      })),
    ),
  }),
  describe,
  outcomes: (row) => outcomeOf(`${row.way}, ${row.at} at once`, row),
  figures: ({ way, at, eachMs, wallMs }) => [
    { name: `${way}, ${at} at one moment, each`, statistics: eachMs },
    { name: `${way}, ${at} at one moment, wall`, statistics: wallMs },
  ],
  targets: [
    {
      promise: 'W4',
      what: '10 calls at once for idle slots, first answer',
      unit: 'ms',
      atMost: 10,
      measured: ({ crowds }) =>
        crowds.find(({ way, at, successRate }) => way === 'prewarm' && at === 10 && successRate === 1)?.eachMs?.mean,
    },
    {
      promise: 'W7',
      what: 'hits of slots that were created before the calls',
      unit: '%',
      atLeast: 100,
      measured: ({ crowds }) => worstPercentage(crowds.flatMap(({ hitRatio }) => hitRatio ?? [])),
    },
  ],
  tables: ({ crowds }) => [callTable(crowds)],
  charts: ({ crowds }) => [callChart(crowds)],
};

const checkouts: Section<PoolSetup, PoolRun, 'hygiene'> = {
  field: 'hygiene',
  isSingle: true,
  open: ({ open, scratch, checkouts: count }) => ({
    rows: [
      {
        name: 'checkouts',
        key: { row: 'checkouts' },
        guessMs: OPEN_MS + count * CALL_MS,
        measure: () => inFolder(scratch, (directory) => measureCheckouts(open, directory, count)),
      },
    ],
  }),
  describe,
  outcomes: (result) => outcomeOf('checkouts', result),
  targets: [
    { promise: 'W5', what: 'checkout', unit: 'ms', atMost: 0.1, measured: ({ hygiene }) => hygiene?.eachMs?.p50 },
    {
      promise: 'W6',
      what: 'release, until the caller continues',
      unit: 'ms',
      atMost: 0.1,
      measured: ({ hygiene }) => hygiene?.releaseMs?.p50,
    },
    {
      promise: 'W8',
      what: 'left behind by a pool: runtimes, processes, descriptors, files',
      unit: '',
      atMost: 0,
      // A number that has decreased must not hide a number that has increased.
      measured: ({ hygiene }) =>
        hygiene ? Object.values(hygiene.left).reduce((sum, count) => sum + Math.max(0, count), 0) : undefined,
    },
  ],
  tables: ({ hygiene }) => (hygiene ? [checkoutTable(hygiene)] : []),
};

export const pool: Benchmark<PoolOptions, PoolSetup, PoolRun> = {
  name: 'pool',
  schema: 'coldframe-pool/1',
  heading: 'Coldframe: pools',
  summary: `Tasks in a pool of runtimes, in runtimes that are created for each task, and in \`node -e\`. Calls at
one moment: cold, prewarmed, and from disk after kill -9. Taking and releasing a slot, and what a
pool leaves behind.`,
  options: {
    uses: numbersOption({
      name: '--uses',
      placeholder: 'N,…',
      help: 'uses of a slot',
      fallback: [1, 10, 100],
      from: 1,
      to: MOST,
    }),
    tasks: numberOption({
      name: '--tasks',
      placeholder: 'N',
      help: 'tasks of each row',
      fallback: 2_000,
      quick: 40,
      from: 1,
      to: MOST,
    }),
    slots: numberOption({
      name: '--slots',
      placeholder: 'N',
      help: 'slots of a pool',
      fallback: 8,
      quick: 4,
      from: 1,
      to: 1_000,
    }),
    crowds: numbersOption({
      name: '--crowds',
      placeholder: 'N,…',
      help: 'calls at one moment',
      fallback: [1, 10, 50],
      quick: [1, 4],
      from: 1,
      to: 1_000,
    }),
    budgetSeconds: numberOption({
      name: '--budget',
      placeholder: 'SECONDS',
      help: 'time for floors and rows; rows after this time are skipped',
      fallback: 300,
      from: 1,
      to: 86_400,
    }),
  },
  hasQuickForm: true,
  floorSamples: ({ quick }) => (quick ? 4 : 40),
  budgetMs: ({ budgetSeconds }, floorsMs) => budgetSeconds * 1_000 - floorsMs,
  open: ({ uses, tasks: count, slots, crowds, quick }, { scratch }) => ({
    setup: {
      open: openPoolSidecar,
      scratch,
      uses,
      tasks: count,
      slots,
      crowds,
      tenants: 4,
      slowTasks: quick ? 4 : 60,
      rounds: quick ? 2 : 20,
      checkouts: quick ? 10 : 500,
    },
  }),
  sections: [tasks, calls, checkouts],
  targets: [
    {
      promise: 'W9',
      what: 'right, the worst row',
      unit: '%',
      atLeast: 100,
      measured: ({ amortised, crowds, hygiene }) =>
        worstPercentage([...amortised, ...crowds, ...(hygiene ? [hygiene] : [])].map(({ successRate }) => successRate)),
    },
  ],
  tables: (run) => [publishedTable(run)],
};
