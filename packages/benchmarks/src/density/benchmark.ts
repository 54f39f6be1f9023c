// The density benchmark: the cost of 1 to 10,000 live runtimes in one sidecar, the creation of many
// runtimes at once, and bursts.
//
// Every count has a sidecar of its own. The cost of 10,000 runtimes therefore contains no memory
// that 1,000 runtimes have left. A count that would exceed the machine's memory is skipped. The
// memory that a count needs is estimated from the cost of each runtime in the previous count of the
// kind. Next: `kinds.ts` for the kinds, `live.ts` and `bursts.ts` for the measurements.

import { readFileSync } from 'node:fs';
import { availableMemoryKib } from '../machine/hardware.js';
import { PACKAGES } from '../sandbox/packages.js';
import type { OpenSidecar } from '../sandbox/runtime.js';
import { openSidecar } from '../sandbox/sdk.js';
import { summarize } from '../statistics/statistics.js';
import type { Allowance, Benchmark, Figure, Outcome, Section } from '../suite/benchmark.js';
import { RowSkipped } from '../suite/failures.js';
import { namesOption, numberOption, numbersOption } from '../suite/options.js';
import { worstPercentage } from '../suite/targets.js';
import { ms, percentage } from '../suite/text.js';
import { type BurstResult, measureBurst } from './bursts.js';
import { burstChart, memoryChart, quarterChart } from './charts.js';
import { KIND_NAMES, KINDS, type KindName } from './kinds.js';
import { isRefusedByName, type LiveResult, type LiveShape, measureLive } from './live.js';
import { burstTable, costTable, creationTable, publishedTable } from './tables.js';

export type DensityOptions = {
  kinds: readonly KindName[];
  counts: readonly number[];
  /** Runtimes that are created at once. */
  hold: number;
  budgetSeconds: number;
  quick: boolean;
};

export type DensityRun = {
  rows: LiveResult[];
  /** Results of the rows that create `hold` runtimes at once. */
  holds: LiveResult[];
  bursts: BurstResult[];
};

export interface DensitySetup {
  kinds: readonly KindName[];
  counts: readonly number[];
  hold: number;
  bursts: readonly number[];
  burstRounds: number;
  open: OpenSidecar;
  scratch: string;
  measure: typeof measureLive;
  availableKib(): number;
  /**
   * Private memory of each runtime in the last count of a kind that has at least `RELIABLE_COUNT`
   * live runtimes.
   */
  eachKib: Map<KindName, number>;
}

const MOST = 100_000;
/** Creations in flight at once. */
const WIDTH = 16;
const LIMIT_MS = 60_000;
const LEAST_LIMIT_MS = 1_000;
const PROGRESS_STEP = 2_000;
/** The share of the available memory that a row may use. */
const MEMORY_SHARE = 0.8;
/** The least number of live runtimes for a reliable memory of each runtime. */
const RELIABLE_COUNT = 100;
/**
 * Rough milliseconds to open a sidecar and to create one runtime, for the expected end of the run.
 */
const [OPEN_MS, EACH_MS] = [200, 1];

async function measureRow(
  setup: DensitySetup,
  { kind, count, width }: Pick<LiveShape, 'kind' | 'count' | 'width'>,
  { leftMs, progress }: Allowance,
): Promise<LiveResult> {
  skipBeyondMemory(setup, kind, count);
  return setup.measure(setup.open, {
    kind,
    count,
    width,
    directory: setup.scratch,
    limitMs: Math.min(LIMIT_MS, Math.max(LEAST_LIMIT_MS, leftMs)),
    progress: (done) => {
      if (done % PROGRESS_STEP === 0 && done < count) progress(`${done} created`);
    },
  });
}

function skipBeyondMemory({ eachKib, availableKib }: DensitySetup, kind: KindName, count: number): void {
  const [needKib, haveKib] = [count * (eachKib.get(kind) ?? 0), availableKib() * MEMORY_SHARE];
  if (needKib <= haveKib) return;
  throw new RowSkipped(`the row needs ${Math.round(needKib / 1024)} MiB, and ${Math.round(haveKib / 1024)} MiB are allowed`);
}

const describeLive = ({ live, privateKib, mappings, createMs, successRate, failures }: LiveResult): string =>
  [
    `${live} live, ${privateKib.toFixed(1)} KiB and ${mappings.toFixed(1)} mappings each`,
    `created in ${ms(createMs?.p50)} ms, right ${percentage(successRate)}`,
    ...Object.keys(failures).slice(0, 1),
  ].join('; ');

const liveOutcome = (name: string, row: LiveResult): Outcome => ({
  name,
  total: row.count,
  right: row.outcomes.success,
  failure: Object.keys(row.failures)[0],
  isAccepted: row.successRate === 1 || isRefusedByName(row),
});

const liveFigures = (name: string, { createMs, probeMs, privateKib }: LiveResult): Figure[] => [
  { name: `${name}, create`, statistics: createMs },
  { name: `${name}, probe`, statistics: probeMs },
  { name: `${name}, private KiB each`, statistics: summarize([privateKib]) },
];

/**
 * A count with a failed runtime has no figure, because the failed runtimes use no memory.
 */
const privateKib = ({ rows }: DensityRun, kind: KindName, count: number): number | undefined =>
  rows.find((row) => row.kind === kind && row.count === count && row.successRate === 1)?.privateKib;

const lives: Section<DensitySetup, DensityRun, 'rows'> = {
  field: 'rows',
  open: (setup) => ({
    rows: setup.kinds.flatMap((kind) =>
      setup.counts.map((count) => ({
        name: `${kind}, ${count}`,
        key: { kind, count },
        guessMs: OPEN_MS + count * EACH_MS,
        measure: async (allowance: Allowance) => {
          const result = await measureRow(setup, { kind, count, width: WIDTH }, allowance);
          if (result.live >= RELIABLE_COUNT) setup.eachKib.set(kind, result.privateKib);
          return result;
        },
      })),
    ),
  }),
  describe: describeLive,
  outcomes: (row) => [liveOutcome(`${row.kind}, ${row.count}`, row)],
  figures: (row) => liveFigures(`${row.kind} ${row.count}`, row),
  targets: KIND_NAMES.flatMap((kind) =>
    KINDS[kind].memory.map(({ promise, count, what }) => ({
      promise,
      what,
      unit: 'KiB' as const,
      atMost: 300,
      measured: (run) => privateKib(run, kind, count),
    })),
  ),
  tables: ({ rows, holds }) => [costTable(rows), creationTable([...rows, ...holds])],
  charts: ({ rows }) => [memoryChart(rows)],
};

const holds: Section<DensitySetup, DensityRun, 'holds'> = {
  field: 'holds',
  open: (setup) => ({
    rows: (setup.hold > 0 ? setup.kinds : []).map((kind) => ({
      name: `${kind}, ${setup.hold} at once`,
      key: { kind, count: setup.hold, width: setup.hold },
      guessMs: OPEN_MS + setup.hold * EACH_MS,
      measure: (allowance) => measureRow(setup, { kind, count: setup.hold, width: setup.hold }, allowance),
    })),
  }),
  describe: describeLive,
  outcomes: (row) => [liveOutcome(`${row.kind}, ${row.count} at once`, row)],
  figures: (row) => liveFigures(`${row.kind} ${row.count} at one moment`, row),
  charts: ({ rows, holds }) => [quarterChart(rows, holds)],
};

const bursts: Section<DensitySetup, DensityRun, 'bursts'> = {
  field: 'bursts',
  open: ({ kinds, bursts: sizes, burstRounds: rounds, open, scratch: directory }) => ({
    rows: kinds.map((kind) => ({
      name: `${kind}, bursts of ${sizes.join(', ')}`,
      key: { kind, bursts: sizes.join(', ') },
      guessMs: OPEN_MS + rounds * EACH_MS * sizes.reduce((sum, n) => sum + n, 0),
      measure: () => measureBurst(open, { kind, sizes, rounds, directory }),
    })),
  }),
  describe: ({ knee }) => `the rate rises up to ${knee ?? '–'}`,
  outcomes: ({ kind, rows }) =>
    rows.map(({ n, rounds, successRate, failures: [failure] }) => ({
      name: `${kind}, bursts of ${n}`,
      total: n * rounds,
      right: Math.round(successRate * n * rounds),
      failure,
    })),
  figures: ({ kind, rows }) => rows.map(({ n, answerMs }) => ({ name: `${kind}, burst of ${n}, answer`, statistics: answerMs })),
  targets: [
    {
      promise: 'D7',
      what: 'right in bursts of 4 to 64',
      unit: '%',
      atLeast: 100,
      measured: ({ bursts: all }) => worstPercentage(all.flatMap(({ rows }) => rows.map(({ successRate }) => successRate))),
    },
  ],
  tables: ({ bursts: all }) => [burstTable(all)],
  charts: ({ bursts: all }) => [burstChart(all)],
};

/**
 * Returns the share of right runtimes. If all failures of a row are refusals that name the
 * exhausted resource, the share is 1.
 */
const shareOfMade = (row: LiveResult): number => (isRefusedByName(row) && row.outcomes.success > 0 ? 1 : row.successRate);

const liveOf = ({ rows, holds: held }: DensityRun, meetsMappingLimit: boolean): LiveResult[] =>
  [...rows, ...held].filter(({ kind }) => (KINDS[kind].meetsMappingLimit ?? false) === meetsMappingLimit);

export const density: Benchmark<DensityOptions, DensitySetup, DensityRun> = {
  name: 'density',
  schema: 'coldframe-density/1',
  heading: 'Coldframe: many live runtimes',
  summary: `Live runtimes in one sidecar: memory, page tables, mappings and descriptors of each, the time to
create one more, and a probe of every runtime afterwards.`,
  options: {
    counts: numbersOption({
      name: '--counts',
      placeholder: 'N,…',
      help: 'live runtimes',
      fallback: [1, 5, 10, 20, 100, 1_000, 10_000],
      quick: [1, 5, 20],
      from: 1,
      to: MOST,
    }),
    kinds: namesOption({ name: '--kinds', help: 'kinds of live runtimes' }, KIND_NAMES),
    hold: numberOption({
      name: '--hold',
      placeholder: 'N',
      help: 'runtimes that are created at one moment; 0 omits these rows',
      fallback: 1_000,
      quick: 20,
      from: 0,
      to: MOST,
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
  open: ({ kinds, counts, hold, quick }, { scratch }) => ({
    setup: {
      kinds,
      counts,
      hold,
      bursts: quick ? [2, 4] : [4, 8, 16, 24, 32, 48, 64],
      burstRounds: quick ? 2 : 20,
      open: openSidecar,
      scratch,
      measure: measureLive,
      availableKib: availableMemoryKib,
      eachKib: new Map(),
    },
  }),
  facts: () => ({
    packages: PACKAGES,
    /** The limit of mappings that the system sets for one process. */
    system: { maxMapCount: Number(readFileSync('/proc/sys/vm/max_map_count', 'utf8')) },
  }),
  sections: [lives, holds, bursts],
  targets: [
    {
      promise: 'D5',
      what: 'created, and right when probed, the worst row of both kinds',
      unit: '%',
      atLeast: 100,
      measured: (run) => worstPercentage(liveOf(run, false).map(({ successRate }) => successRate)),
    },
    {
      promise: 'D6',
      what: 'created copies, right when probed',
      unit: '%',
      atLeast: 100,
      measured: (run) => worstPercentage(liveOf(run, true).map(shareOfMade)),
    },
  ],
  tables: ({ rows }) => [publishedTable(rows)],
  nameSkipped: ({ kind, count, width, bursts: sizes }) =>
    sizes === undefined ? `${kind}, ${count}${width === undefined ? '' : ' at once'}` : `${kind}, bursts of ${sizes}`,
};
