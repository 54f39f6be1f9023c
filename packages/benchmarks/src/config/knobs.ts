// The knobs of the cold-start matrix: environment variables, checked once, here.
//
// The names and defaults are those of the field's published matrix, so that figures can be set side by side. An unknown `BENCH_*`
// name is an error that lists the known ones: a typo would otherwise silently measure something else. Next: `plan.ts` in matrix.

import { list, wholeNumber } from './parse.js';
import { UsageError } from './usage-error.js';

export const SCENARIOS = ['owned-sidecar', 'shared-sidecar', 'resident-runner', 'embedded', 'embedded-inline'] as const;
export type ScenarioName = (typeof SCENARIOS)[number];

export interface Knobs {
  /** BENCH_BATCH_SIZES: runtimes per batch. @default 1,10,50,100,200 */
  batchSizes: number[];
  /** BENCH_ITERATIONS: batches per row. @default as many as give 100 samples, at least 10 */
  iterations: number | undefined;
  /** BENCH_WARMUP: batches per row that run first and are not counted. @default 1 */
  warmup: number;
  /** BENCH_SCENARIOS @default all */
  scenarios: ScenarioName[];
  /** BENCH_MAX_CONCURRENCY: starts in flight at once in concurrent rows. @default 16 */
  maxConcurrency: number;
  /** BENCH_MAX_LIVE: runtimes alive at once in a row. @default 8 */
  maxLive: number;
  /** BENCH_BUDGET_SECONDS: the whole run, floors and density included, ends in about this time. @default 270 */
  budgetSeconds: number;
  /** BENCH_DENSITY: live runtimes in the density rows; 0 leaves them out. @default 1000 */
  density: number;
  /** BENCH_FLOOR_SAMPLES: samples of each floor. @default 40 */
  floorSamples: number;
}

const whole = (name: string, min: number, max: number) => (text: string) => wholeNumber(name, text, min, max);

const PARSERS: { [K in keyof Knobs]: { name: string; fallback: Knobs[K]; parse: (text: string) => Knobs[K] } } = {
  batchSizes: {
    name: 'BENCH_BATCH_SIZES',
    fallback: [1, 10, 50, 100, 200],
    parse: (text) => list('BENCH_BATCH_SIZES', text, whole('BENCH_BATCH_SIZES', 1, 10_000)),
  },
  iterations: { name: 'BENCH_ITERATIONS', fallback: undefined, parse: whole('BENCH_ITERATIONS', 1, 100_000) },
  warmup: { name: 'BENCH_WARMUP', fallback: 1, parse: whole('BENCH_WARMUP', 0, 1_000) },
  scenarios: {
    name: 'BENCH_SCENARIOS',
    fallback: [...SCENARIOS],
    parse: (text) => list('BENCH_SCENARIOS', text, scenarioName),
  },
  maxConcurrency: { name: 'BENCH_MAX_CONCURRENCY', fallback: 16, parse: whole('BENCH_MAX_CONCURRENCY', 1, 10_000) },
  maxLive: { name: 'BENCH_MAX_LIVE', fallback: 8, parse: whole('BENCH_MAX_LIVE', 1, 10_000) },
  budgetSeconds: { name: 'BENCH_BUDGET_SECONDS', fallback: 270, parse: whole('BENCH_BUDGET_SECONDS', 10, 86_400) },
  density: { name: 'BENCH_DENSITY', fallback: 1_000, parse: whole('BENCH_DENSITY', 0, 100_000) },
  floorSamples: { name: 'BENCH_FLOOR_SAMPLES', fallback: 40, parse: whole('BENCH_FLOOR_SAMPLES', 2, 10_000) },
};

function scenarioName(text: string): ScenarioName {
  const known = SCENARIOS.find((name) => name === text);
  if (known) return known;
  throw new UsageError(`BENCH_SCENARIOS: expected names out of ${SCENARIOS.join(', ')}, got ${JSON.stringify(text)}`);
}

export function readKnobs(env: Readonly<Record<string, string | undefined>>): Knobs {
  const known = Object.values(PARSERS).map(({ name }) => name);
  const unknown = Object.keys(env).filter((name) => name.startsWith('BENCH_') && !known.includes(name));
  if (unknown.length > 0) throw new UsageError(`unknown knob ${unknown.join(', ')}; known are ${known.join(', ')}`);
  const read = <K extends keyof Knobs>(key: K): Knobs[K] => {
    const { name, fallback, parse } = PARSERS[key];
    const text = env[name];
    return text === undefined || text === '' ? fallback : parse(text);
  };
  return {
    batchSizes: read('batchSizes'),
    iterations: read('iterations'),
    warmup: read('warmup'),
    scenarios: read('scenarios'),
    maxConcurrency: read('maxConcurrency'),
    maxLive: read('maxLive'),
    budgetSeconds: read('budgetSeconds'),
    density: read('density'),
    floorSamples: read('floorSamples'),
  };
}
