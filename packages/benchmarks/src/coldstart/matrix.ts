// The matrix of the cold-start benchmark: each scenario in batches of each size, sequential and
// concurrent.
//
// Target S10 is a ratio for equal work, of two amortised times in the largest batch. The time of a
// concurrent runtime is divided by the time of a sequential runtime. Each time includes two
// snippets and the disposal, and is a median over the batches. A batch has one amortised time, the
// batch's wall time divided by its runtimes.

import { ratioOf } from '../statistics/statistics.js';
import { timerDoubt } from '../statistics/timer.js';
import type { Section } from '../suite/benchmark.js';
import type { Target } from '../suite/targets.js';
import { ms, percentage } from '../suite/text.js';
import { batchChart, rangeChart } from './charts.js';
import { distributionChart } from './distribution.js';
import { largest, type MatrixRun, pooled } from './figures.js';
import type { ColdstartOptions } from './options.js';
import { phaseChart } from './phases.js';
import { planRows, type RowPlan } from './plan.js';
import { type RowResult, runRow } from './row.js';
import type { Scenario, ScenarioTarget } from './scenario.js';
import { SCENARIO_NAMES, type ScenarioName, scenarios } from './scenarios.js';
import { phaseTable, startTable } from './tables.js';

export interface MatrixSetup {
  options: ColdstartOptions;
  scenarios: Readonly<Record<ScenarioName, Scenario>>;
  cores: number;
}

/** A guess of the milliseconds for opening and closing the sidecar of a row. */
const ROW_OVERHEAD_MS = 30;

export const guessMs = ({ batchSize, iterations, warmup }: RowPlan, startGuessMs: number): number =>
  ROW_OVERHEAD_MS + (iterations + warmup) * batchSize * startGuessMs;

const targetOf = (scenario: ScenarioName, { promise, what, samples, atMost, against }: ScenarioTarget): Target<MatrixRun> => ({
  promise,
  what,
  unit: against === undefined ? 'ms' : '×',
  atMost,
  measured: ({ results, floors }) => {
    const p50 = pooled(results, scenario, samples)?.p50;
    return against === undefined ? p50 : ratioOf(p50, floors[against]?.statistics?.p50);
  },
});

const concurrencyTarget = (scenario: ScenarioName): Target<MatrixRun> => ({
  promise: 'S10',
  what: `${scenario}: concurrent batch, amortised / sequential`,
  unit: '×',
  atMost: 1.2,
  nameIn: ({ results }) => {
    const size = largest(results, scenario, 'concurrent')?.batchSize;
    return `${scenario}: concurrent batch${size === undefined ? '' : ` ${size}`}, amortised / sequential`;
  },
  measured: ({ results }) => {
    const concurrent = largest(results, scenario, 'concurrent');
    const sequential = largest(results, scenario, 'sequential');
    // A wrong run can be a fast run, so the amortised time is valid only when all runs were right.
    const right = [concurrent, sequential].every((row) => row && row.runs.right === row.runs.total);
    return right ? ratioOf(concurrent?.amortised?.p50, sequential?.amortised?.p50) : undefined;
  },
});

const nameOf = ({ scenario, batchSize, mode }: Pick<RowResult, 'scenario' | 'batchSize' | 'mode'>): string =>
  `${scenario} ${batchSize} ${mode}`;

export const matrix: Section<MatrixSetup, MatrixRun, 'results'> = {
  field: 'results',
  open: ({ options, scenarios: all, cores }) => ({
    rows: planRows(options).map((plan) => {
      const { scenario, batchSize, mode } = plan;
      return {
        name: `${scenario.padEnd(15)} ${mode.padEnd(10)} ${String(batchSize).padStart(4)}`,
        key: { scenario, batchSize, mode },
        guessMs: guessMs(plan, all[scenario].startGuessMs),
        measure: ({ budgetMs }) => runRow(all[scenario], plan, budgetMs, cores),
      };
    }),
  }),
  describe: ({ coldStart, warmStart, iterations, runs, notes }) => {
    const figures = `cold p50 ${ms(coldStart?.p50)} ms, warm p50 ${ms(warmStart?.p50)} ms, right ${percentage(runs.successRate)}`;
    return [`× ${iterations}: ${figures}`, ...notes].join('; ');
  },
  outcomes: (row) => {
    const { total, right, failures } = row.runs;
    return [{ name: nameOf(row), total, right, failure: Object.keys(failures)[0], notes: row.notes }];
  },
  figures: ({ scenario, mode, batchSize, coldStart, warmStart }) => [
    { name: `${scenario} ${mode} ${batchSize} cold`, statistics: coldStart },
    { name: `${scenario} ${mode} ${batchSize} warm`, statistics: warmStart },
  ],
  targets: [
    ...SCENARIO_NAMES.flatMap((scenario) => scenarios[scenario].targets.map((target) => targetOf(scenario, target))),
    ...SCENARIO_NAMES.map(concurrencyTarget),
    {
      promise: 'S11',
      what: 'right runs, all rows',
      unit: '%',
      atLeast: 100,
      measured: ({ results }) => {
        const total = results.reduce((sum, row) => sum + row.runs.total, 0);
        const right = results.reduce((sum, row) => sum + row.runs.right, 0);
        return ratioOf(100 * right, total);
      },
    },
  ],
  tables: ({ results }) => [startTable(results), phaseTable(results)],
  charts: (run) => [rangeChart(run), batchChart(run), phaseChart(run.results), distributionChart(run.results)],
};

/** Returns a warning for each scenario whose warm runs are too short for the clock. */
export const clockWarnings = ({ results }: MatrixRun, resolutionMs: number): string[] =>
  SCENARIO_NAMES.flatMap((scenario) => {
    const samples = results.filter((row) => row.scenario === scenario).flatMap((row) => row.samples.warmMs);
    const doubt = timerDoubt(samples, resolutionMs);
    if (doubt === undefined) return [];
    const p50 = pooled(results, scenario, 'warmMs')?.p50;
    return [`clock too coarse for ${scenario} warm (p50 ${p50} ms, resolution ${resolutionMs} ms): ${doubt}`];
  });
