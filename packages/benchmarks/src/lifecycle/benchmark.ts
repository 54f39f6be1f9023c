// The lifecycle benchmark: the cost of snapshots, restores, rollbacks, clones, pauses, spawns from
// a warm parent, and live branches. The soak counts the resources that remain after many cycles.
//
// The operations declare their rows, targets and chart lines (`operations/`). The budget is for the
// rows of the operations. The soak runs after these rows and has no budget.

import { statfsSync } from 'node:fs';
import { PACKAGES } from '../sandbox/packages.js';
import type { OpenSidecar } from '../sandbox/runtime.js';
import { openSidecar } from '../sandbox/sdk.js';
import { ratioOf } from '../statistics/statistics.js';
import type { Benchmark, Section } from '../suite/benchmark.js';
import { namesOption, numberOption, textOption } from '../suite/options.js';
import type { Recorded } from '../suite/run.js';
import { isFailure } from '../suite/run.js';
import type { Target } from '../suite/targets.js';
import { ms, percentage } from '../suite/text.js';
import { countChart, rangesChart, sizeChart } from './charts.js';
import { slowest, tenAgainstOne, wallP50, worstOf } from './figures.js';
import { OPERATION_NAMES, type OperationName, operations } from './operations/index.js';
import { planRows, variantOf } from './plan.js';
import { type LifecycleRow, runRow } from './row.js';
import { measureSoak, type SoakResult } from './soak.js';
import { factTable, operationTable, publishedTable, soakTable, tenTable } from './tables.js';

export type LifecycleOptions = {
  only: readonly OperationName[];
  /** The number of cycles of the soak. */
  soak: number;
  budgetSeconds: number;
  settleMs: number;
  /** The folder for snapshots. Empty: the system's folder for temporary files. */
  directory: string;
  quick: boolean;
};

export type LifecycleRun = {
  rows: LifecycleRow[];
  soak?: Recorded<SoakResult> | null;
};

interface LifecycleSetup {
  options: LifecycleOptions;
  open: OpenSidecar;
  scratch: string;
  cores: number;
}

const SOAK_WIDTH = 4;
const SOAK_STEP = 5_000;
const ROW_OVERHEAD_MS = 100;
const MOST_CYCLES = 10_000_000;

/** Returns the name of a row for warnings and progress lines. */
const nameOf = ({ operation, variant, n }: Pick<LifecycleRow, 'operation' | 'variant' | 'n'>): string =>
  `${operation}, ${variant}, ${n}`;

const operationTargets: readonly Target<LifecycleRun>[] = OPERATION_NAMES.flatMap((operation) =>
  operations[operation].targets.map(({ promise, what, atMost, measure, rows: selected, each }) => ({
    promise,
    what,
    unit: 'ms' as const,
    atMost,
    measured: ({ rows }: LifecycleRun) =>
      worstOf(
        selected.map((shape) => {
          const wall = wallP50(rows, { operation, measure, ...shape });
          return each ? ratioOf(wall, shape.n) : wall;
        }),
      ),
  })),
);

const rows: Section<LifecycleSetup, LifecycleRun, 'rows'> = {
  field: 'rows',
  open: ({ options: { only, quick, settleMs }, open, scratch, cores }) => ({
    rows: planRows(only, quick).map((plan) => {
      const { operation, n, rounds, warmup, guessMs } = plan;
      const key = { operation, variant: variantOf(plan), n };
      return {
        name: nameOf(key),
        key,
        guessMs: ROW_OVERHEAD_MS + guessMs * (rounds + warmup),
        measure: ({ budgetMs }) => runRow(plan, { open, operation: operations[operation], scratch, budgetMs, cores, settleMs }),
      };
    }),
  }),
  describe: ({ measures, rounds, runs, notes }) => {
    const figures = Object.entries(measures).map(([name, { wall }]) => `${name} ${ms(wall?.p50)}`);
    return [`× ${rounds}: ${figures.join(', ')} ms, right ${percentage(runs.successRate)}`, ...notes].join('; ');
  },
  outcomes: (row) => [
    {
      name: nameOf(row),
      total: row.runs.total,
      right: row.runs.right,
      failure: Object.keys(row.runs.failures)[0],
      notes: row.notes,
    },
  ],
  figures: ({ operation, variant, n, measures }) =>
    Object.entries(measures).flatMap(([measure, { wall, each }]) => {
      const name = `${operation} ${variant} ${n}, ${measure}`;
      if (n === 1) return [{ name, statistics: wall }];
      return [
        { name: `${name}, wall`, statistics: wall },
        { name: `${name}, each`, statistics: each },
      ];
    }),
  targets: [
    ...operationTargets,
    {
      promise: 'C14',
      what: 'ten at once against one, slowest operation',
      unit: '×',
      atMost: 6,
      measured: (run) => worstOf(tenAgainstOne(run.rows).map(({ ratio }) => ratio)),
    },
    {
      promise: 'C15',
      what: 'slowest single operation of all rows',
      unit: 'ms',
      atMost: 1_000,
      measured: (run) => slowest(run.rows),
    },
    {
      promise: 'C16',
      what: 'right, all rows',
      unit: '%',
      atLeast: 100,
      measured: (run) => {
        const total = run.rows.reduce((sum, { runs }) => sum + runs.total, 0);
        const right = run.rows.reduce((sum, { runs }) => sum + runs.right, 0);
        return ratioOf(100 * right, total);
      },
    },
  ],
  tables: (run) => [operationTable(run.rows), factTable(run.rows), tenTable(run.rows)],
  charts: (run) => [rangesChart(run), countChart(run.rows), sizeChart(run.rows)],
};

const soakOf = ({ soak }: LifecycleRun): SoakResult | undefined => (soak && !isFailure(soak) ? soak : undefined);

const soak: Section<LifecycleSetup, LifecycleRun, 'soak'> = {
  field: 'soak',
  isSingle: true,
  recordsFailures: true,
  open: ({ options, open, scratch: directory }) => ({
    rows:
      options.soak === 0
        ? []
        : [
            {
              name: 'soak',
              key: { operation: 'soak' },
              measure: ({ progress }) => {
                const report = (done: number) => {
                  if (done % SOAK_STEP === 0) progress(`${done} of ${options.soak} cycles`);
                };
                return measureSoak(open, { cycles: options.soak, width: SOAK_WIDTH, directory, progress: report });
              },
            },
          ],
  }),
  describe: ({ cycles, cycleMs, successRate }) => `× ${cycles}: cycle ${ms(cycleMs?.p50)} ms, right ${percentage(successRate)}`,
  outcomes: ({ cycles, right, failures: [failure] }) => [{ name: 'soak', total: cycles, right, failure }],
  targets: [
    {
      promise: 'C17',
      what: 'left behind by the soak: runtimes, processes, descriptors, files',
      unit: '',
      atMost: 0,
      measured: (run) => {
        const left = soakOf(run)?.left;
        // A number that has decreased must not hide a number that has increased.
        const counts = left && [left.runtimes, left.processes, left.descriptors, left.files];
        return counts?.reduce((sum, count) => sum + Math.max(0, count), 0);
      },
    },
    {
      promise: 'C18',
      what: 'growth of memory in the soak',
      unit: 'KiB',
      atMost: 2_048,
      measured: (run) => soakOf(run)?.grownKib,
    },
    {
      promise: 'C19',
      what: 'right cycles of the soak',
      unit: '%',
      atLeast: 100,
      measured: (run) => {
        const result = soakOf(run);
        return result && result.successRate * 100;
      },
    },
  ],
  tables: (run) => {
    const result = soakOf(run);
    return result ? [soakTable(result)] : [];
  },
};

export const lifecycle: Benchmark<LifecycleOptions, LifecycleSetup, LifecycleRun> = {
  name: 'lifecycle',
  schema: 'coldframe-lifecycle/1',
  heading: 'Coldframe: snapshot, branch, roll back, clone, pause',
  summary: `Snapshots, runtimes from snapshots, rollbacks, clones, pauses, spawns from a warm parent, live branches,
and snapshots that outlive kill -9.`,
  options: {
    only: namesOption({ name: '--only', help: 'operations' }, OPERATION_NAMES),
    soak: numberOption({
      name: '--soak',
      placeholder: 'N',
      help: 'cycles of create, answer, dispose; 0 omits the soak',
      fallback: 1_000,
      quick: 20,
      from: 0,
      to: MOST_CYCLES,
    }),
    budgetSeconds: numberOption({
      name: '--budget',
      placeholder: 'SECONDS',
      help: 'time for the rows, which get fewer rounds when the time is short',
      fallback: 270,
      from: 0,
      to: 86_400,
    }),
    settleMs: numberOption({
      name: '--settle',
      placeholder: 'MS',
      help: 'wait between two rounds; published scripts wait 500 to 2,000',
      fallback: 20,
      from: 0,
      to: 60_000,
    }),
    directory: textOption({
      name: '--directory',
      placeholder: 'DIR',
      help: "folder for snapshots; by default in the system's folder for temporary files",
      fallback: '',
    }),
  },
  hasQuickForm: true,
  floorSamples: ({ quick }) => (quick ? 4 : 40),
  budgetMs: ({ budgetSeconds }) => budgetSeconds * 1_000,
  leastShareMs: 6_000,
  open: (options, { scratch, cores }) => ({ setup: { options, open: openSidecar, scratch, cores } }),
  scratchIn: ({ directory }) => (directory === '' ? undefined : directory),
  facts: (_run, { scratch }) => ({ store: { fileSystem: fileSystemOf(scratch) }, packages: PACKAGES }),
  sections: [rows, soak],
  tables: (run) => [publishedTable(run.rows)],
  nameSkipped: ({ operation, variant, n }) => (variant === undefined ? `${operation}` : `${operation}, ${variant}, ${n}`),
};

/** The numbers with which the system reports its kinds of file systems. */
const FILE_SYSTEMS: Readonly<Record<number, string>> = {
  61267: 'ext4',
  16914836: 'tmpfs',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  2035054128: 'overlay',
};

function fileSystemOf(path: string): string {
  const { type } = statfsSync(path);
  return FILE_SYSTEMS[type] ?? `0x${type.toString(16)}`;
}
