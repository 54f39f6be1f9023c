// The cold-start benchmark: the matrix of scenarios, throughput, other starts, density, and the
// size of the sidecar's binary. The matrix has the rows of a published matrix of another system.
//
// The matrix uses the part of the budget that the other sections probably do not need. Next:
// `scenarios.ts` for the rows of the matrix, `starts.ts` for other starts.

import type { Benchmark } from '../suite/benchmark.js';
import { type BinaryRun, binaryWarnings, sidecarBinary } from './binary.js';
import { type DensityRun, density } from './density.js';
import type { MatrixRun } from './figures.js';
import { clockWarnings, type MatrixSetup, matrix } from './matrix.js';
import { type ColdstartOptions, coldstartOptions } from './options.js';
import { scenarios } from './scenarios.js';
import { type StartsRun, starts } from './starts.js';
import { otherTable } from './tables.js';
import { type ThroughputRun, throughput } from './throughput.js';

export type ColdstartRun = MatrixRun & ThroughputRun & StartsRun & DensityRun & BinaryRun;

/** Milliseconds reserved for the sections other than the matrix. */
const OTHERS_MS = 15_000;

export const coldstart: Benchmark<ColdstartOptions, MatrixSetup, ColdstartRun> = {
  name: 'coldstart',
  schema: 'coldframe-coldstart/1',
  heading: 'Coldframe cold starts',
  summary: `Cold and warm starts of each scenario, in batches, one after the other and several at a time; throughput,
other starts, density, and the size of the sidecar. The options are environment variables, which
packages/benchmarks/README.md explains.`,
  options: coldstartOptions,
  floorSamples: ({ floorSamples }) => floorSamples,
  budgetMs: ({ budgetSeconds }, floorsMs) => Math.max(0, budgetSeconds * 1_000 - 2 * floorsMs - OTHERS_MS),
  outOfTime: 'no time left (BENCH_BUDGET_SECONDS)',
  open: (options, { cores }) => ({ setup: { options, scenarios, cores } }),
  sections: [matrix, throughput, starts, density, sidecarBinary],
  tables: (run) => [otherTable(run)],
  warnings: (run, resolutionMs) => [...clockWarnings(run, resolutionMs), ...binaryWarnings(run)],
  nameSkipped: ({ scenario }) => `${scenario}`,
};
