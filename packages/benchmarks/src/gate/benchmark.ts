// The gate: runs a set of operations and compares the figures with a kept baseline. The exit code
// is 1 if a row has regressed.
//
// Next: `rows.ts` for the rows, `rounds.ts` for the measurement, `verdict.ts` for the comparison.

import type { Hardware } from '../machine/hardware.js';
import { now } from '../statistics/timer.js';
import type { Allowance, Benchmark, Section } from '../suite/benchmark.js';
import { RowSkipped } from '../suite/failures.js';
import { numberOption, switchOption, textOption } from '../suite/options.js';
import { figure, type Table, table, time, words } from '../suite/table.js';
import { UsageError } from '../suite/usage-error.js';
import { BASELINE_SCHEMA, type Baseline, readBaseline, writeBaseline } from './baseline.js';
import { openGate } from './open.js';
import { measureRounds, type OpenRow, type RowFigures } from './rounds.js';
import type { GateRow } from './rows.js';
import { bestAttempt, FEWEST_ROUNDS, type GateVerdict, type Judged, judgeRow, needsAnotherAttempt, passes } from './verdict.js';

export type GateOptions = {
  baseline: string;
  /** Whether the run replaces the baseline. */
  update: boolean;
  only: string;
  rounds: number;
  attempts: number;
  budgetSeconds: number;
  quick: boolean;
};

/** One row of the result. */
export interface GateResult extends Judged, RowFigures {
  name: string;
  floor: string;
  threshold: number;
  baseline: number | null;
  /** The ratios of all attempts, in order. */
  attempts: number[];
}

export interface GateResults {
  rows: GateResult[];
  /** Rows of the baseline that the run does not have. */
  missing: string[];
  /** Differences between the machine of the baseline and the machine of the run. */
  differences: readonly string[];
}

export type GateRun = { gate: GateResults | null };

export interface GateSetup {
  rows: readonly (GateRow & { open: OpenRow })[];
  baseline: Baseline | undefined;
  differences: readonly string[];
  options: GateOptions;
}

const SLICE_MS = 12;
const QUICK_SLICE_MS = 1;
const FLOOR_SAMPLES = 10;

/** Measures all rows, and measures all rows again while a row seems to have regressed. */
export async function measureGate(
  { rows, baseline, differences, options }: GateSetup,
  { budgetMs, progress }: Pick<Allowance, 'budgetMs' | 'progress'>,
): Promise<GateResults> {
  const { rounds, attempts, quick, update, only } = options;
  const shape = {
    rounds,
    warmup: quick ? 0 : 2,
    sliceMs: quick ? QUICK_SLICE_MS : SLICE_MS,
    floorSamples: quick ? 1 : FLOOR_SAMPLES,
  };
  const taken = new Map<string, GateResult[]>();
  let left = rows;
  for (let attempt = 1; attempt <= attempts && left.length > 0; attempt++) {
    // Each attempt has an equal part of the time.
    const deadline = now() + budgetMs / attempts;
    if (attempt > 1) progress(`again: ${left.map(({ name }) => name).join('; ')}`);
    // All rows are measured again, because a row that follows itself would have other conditions.
    const open = rows.map((row) => row.open);
    const figures = await measureRounds(open, { ...shape, deadline }, progress);
    left = left.filter((row) => {
      const result = resultOf(row, figures[rows.indexOf(row)], update ? undefined : baseline?.rows[row.name]);
      taken.set(row.name, [...(taken.get(row.name) ?? []), result]);
      return needsAnotherAttempt(result);
    });
  }
  const names = new Set(rows.map(({ name }) => name));
  return {
    rows: rows.flatMap(({ name }) => {
      const [first, ...others] = taken.get(name) ?? [];
      if (!first) return [];
      const ratios = [first, ...others].flatMap(({ ratio }) => ratio ?? []);
      return [{ ...bestAttempt([first, ...others]), attempts: ratios }];
    }),
    missing: update || only !== '' ? [] : Object.keys(baseline?.rows ?? {}).filter((name) => !names.has(name)),
    differences,
  };
}

function resultOf(
  { name, floor, threshold: own }: GateRow,
  figures: RowFigures | undefined,
  kept: Baseline['rows'][string] | undefined,
): GateResult {
  if (!figures) throw new Error(`${name} was not measured`);
  const threshold = kept?.threshold ?? own;
  const judged = judgeRow(figures.value, kept?.value, threshold);
  return { name, floor, threshold, baseline: kept?.value.p50 ?? null, ...figures, ...judged, attempts: [] };
}

const gate: Section<GateSetup, GateRun, 'gate'> = {
  field: 'gate',
  isSingle: true,
  open: (setup) => ({
    rows: [
      {
        name: 'all rows, in rounds',
        key: { row: 'gate' },
        guessMs: 1,
        measure: (allowance) => {
          if (setup.rows.length === 0) throw new RowSkipped('no row has a name with this text (--only)');
          return measureGate(setup, allowance);
        },
      },
    ],
  }),
  describe: ({ rows, missing }) => {
    const failed = rows.filter(({ verdict }) => !passes(verdict)).length + missing.length;
    return failed === 0 ? `${rows.length} rows, none has regressed` : `${failed} of ${rows.length + missing.length} rows fail`;
  },
  outcomes: ({ rows, missing }) => [
    ...rows.map(({ name, runs, verdict, ratio, noise, threshold }) => ({
      name,
      total: runs.total,
      right: runs.right,
      failure: failureOf(verdict, ratio, noise, threshold) ?? Object.keys(runs.failures)[0],
      isAccepted: passes(verdict),
    })),
    ...missing.map((name) => ({ name, total: 0, right: 0, failure: 'in the baseline, but not in the run', isAccepted: false })),
  ],
  figures: ({ rows }) =>
    rows.flatMap(({ name, operationMs, floorMs }) => [
      { name, statistics: operationMs },
      { name: `${name}, floor`, statistics: floorMs, isFloor: true },
    ]),
  tables: ({ gate: results }) => (results ? tablesOfGate(results) : []),
};

const failureOf = (verdict: GateVerdict, ratio: number | null, noise: number | null, threshold: number): string | undefined =>
  verdict === 'regressed'
    ? `regressed: ${ratio?.toFixed(2)} × its baseline, ± ${noise?.toFixed(2)}, above ${threshold}`
    : undefined;

function tablesOfGate({ rows, missing }: GateResults): Table[] {
  const failing = rows.filter(({ verdict }) => !passes(verdict));
  return [
    gateTable('Rows of the gate: the time of the operation divided by the time of its floor', rows),
    table('Rows of the baseline that the run does not have', missing, [words('row', (name) => name)]),
    gateTable('Regressed', failing),
  ];
}

const gateTable = (title: string, rows: readonly GateResult[]): Table =>
  table(title, rows, [
    words('row', ({ name }) => name),
    words('floor', ({ floor }) => floor),
    time('floor ms', ({ floorMs }) => floorMs?.p50),
    time('operation ms', ({ operationMs }) => operationMs?.p50),
    time('baseline', ({ baseline }) => baseline),
    time('value', ({ value }) => value?.p50),
    figure('ratio', ({ ratio }) => ratio?.toFixed(2)),
    figure('±', ({ noise }) => noise?.toFixed(2)),
    figure('threshold', ({ threshold }) => threshold),
    figure('attempts', ({ attempts }) => attempts.map((ratio) => ratio.toFixed(2)).join(' ')),
    words('verdict', ({ verdict }) => verdict),
  ]);

/** Returns the baseline of a run. @throws when a row has no figure. */
export function baselineOf(
  rows: readonly Pick<GateResult, 'name' | 'threshold' | 'value'>[],
  { startedAt, hardware }: { startedAt: string; hardware: Hardware },
  before: Baseline | undefined,
): Baseline {
  const kept = (name: string, own: number) => before?.rows[name]?.threshold ?? own;
  const entries = rows.map(({ name, threshold, value }) => {
    if (value === null) throw new Error(`the baseline was not updated: ${name} has no figure`);
    if (value.count < FEWEST_ROUNDS) {
      throw new Error(`the baseline was not updated: ${name} has ${value.count} rounds, at least ${FEWEST_ROUNDS} are needed`);
    }
    return [name, { threshold: kept(name, threshold), value }] as const;
  });
  const { cpu, cores, kernel, node } = hardware;
  return {
    schema: BASELINE_SCHEMA,
    measuredAt: startedAt,
    hardware: { cpu, cores, kernel, node },
    // An update of some rows keeps the other rows.
    rows: { ...before?.rows, ...Object.fromEntries(entries) },
  };
}

export const gateBenchmark: Benchmark<GateOptions, GateSetup, GateRun> = {
  name: 'gate',
  schema: 'coldframe-gate/1',
  heading: 'Coldframe: the gate',
  summary: `Compares operations with a kept baseline. The exit code is 1 if a row has regressed. --update measures the
baseline. Compare runs of one machine.`,
  options: {
    baseline: textOption({ name: '--baseline', placeholder: 'FILE', help: 'the baseline', fallback: 'gate-baseline.json' }),
    update: switchOption({ name: '--update', help: 'replace the baseline by this run; keeps the thresholds of the file' }),
    only: textOption({ name: '--only', placeholder: 'TEXT', help: 'only the rows whose name contains TEXT', fallback: '' }),
    rounds: numberOption({ name: '--rounds', placeholder: 'N', help: 'rounds', fallback: 21, quick: 5, from: 1, to: 10_000 }),
    attempts: numberOption({
      name: '--attempts',
      placeholder: 'N',
      help: 'measurements of a row that seems to have regressed',
      fallback: 4,
      from: 1,
      to: 100,
    }),
    budgetSeconds: numberOption({
      name: '--seconds',
      placeholder: 'N',
      help: 'time of the whole run; if the time is short, there are fewer rounds',
      fallback: 180,
      from: 5,
      to: 86_400,
    }),
  },
  hasQuickForm: true,
  floorSamples: () => 0,
  budgetMs: ({ budgetSeconds }) => budgetSeconds * 1_000,
  open: async (options, { scratch }) => {
    const baseline = readBaseline(options.baseline);
    if (!baseline && !options.update) {
      throw new UsageError(`${options.baseline}: no baseline; measure the baseline with --update`);
    }
    return openGate(options, baseline, scratch);
  },
  sections: [gate],
  afterRun: ({ gate: results }, { update, baseline }, head) => {
    if (update && results) writeBaseline(baseline, baselineOf(results.rows, head, readBaseline(baseline)));
  },
  warnings: ({ gate: results }) => (results ? gateWarnings(results) : []),
};

const gateWarnings = ({ rows, differences }: GateResults): string[] => [
  ...differences.map((difference) => `the baseline is of another machine: ${difference}`),
  ...rows.flatMap(({ name, rounds }) =>
    rounds.length < FEWEST_ROUNDS ? [`${name}: ${rounds.length} rounds, too few for a decision (--seconds)`] : [],
  ),
  ...rows.flatMap(({ name, verdict, ratio, noise }) =>
    verdict === 'unsure' ? [`${name}: ${ratio?.toFixed(2)} ± ${noise?.toFixed(2)} × its baseline, too noisy for a decision`] : [],
  ),
];
