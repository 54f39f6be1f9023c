// The options of the cold-start benchmark, which are environment variables.
//
// The names and defaults are equal in a published matrix of another system, so that figures can be
// compared.

import { namesOption, numberOption, numbersOption, type OptionTable } from '../suite/options.js';
import { SCENARIO_NAMES, type ScenarioName } from './scenarios.js';

export type ColdstartOptions = {
  /** The numbers of runtimes in a batch. Each number has its rows. */
  batchSizes: readonly number[];
  /** Batches per row. */
  iterations: number | undefined;
  /** Batches per row that run first, as a warm-up, and are not counted. */
  warmup: number;
  scenarios: readonly ScenarioName[];
  /** The number of starts in flight at once in concurrent rows. */
  maxConcurrency: number;
  /** The largest number of runtimes alive at once in a row. */
  maxLive: number;
  /** Seconds for the whole run, floors and density included. */
  budgetSeconds: number;
  /** Live runtimes in the density rows. */
  density: number;
  floorSamples: number;
};

const knob = (name: string, help: string, from: number, to: number) => ({ name, placeholder: 'N', help, from, to });

export const coldstartOptions: OptionTable<ColdstartOptions> = {
  batchSizes: numbersOption({ ...knob('BENCH_BATCH_SIZES', 'runtimes per batch', 1, 10_000), fallback: [1, 10, 50, 100, 200] }),
  iterations: numberOption({
    ...knob('BENCH_ITERATIONS', 'batches per row (default enough for 100 samples, at least 10)', 1, 100_000),
    fallback: undefined,
  }),
  warmup: numberOption({ ...knob('BENCH_WARMUP', 'batches per row that run first and are not counted', 0, 1_000), fallback: 1 }),
  scenarios: namesOption({ name: 'BENCH_SCENARIOS', help: 'scenarios' }, SCENARIO_NAMES),
  maxConcurrency: numberOption({
    ...knob('BENCH_MAX_CONCURRENCY', 'starts in flight at once in concurrent rows', 1, 10_000),
    fallback: 16,
  }),
  maxLive: numberOption({ ...knob('BENCH_MAX_LIVE', 'runtimes alive at once in a row', 1, 10_000), fallback: 8 }),
  budgetSeconds: numberOption({
    ...knob('BENCH_BUDGET_SECONDS', 'time of the whole run, floors and density included', 10, 86_400),
    fallback: 270,
  }),
  density: numberOption({
    ...knob('BENCH_DENSITY', 'live runtimes in the density rows; 0 omits these rows', 0, 100_000),
    fallback: 1_000,
  }),
  floorSamples: numberOption({ ...knob('BENCH_FLOOR_SAMPLES', 'samples of each floor', 2, 10_000), fallback: 40 }),
};
