// Selects figures of the matrix, for targets, tables and charts.

import { type Statistics, summarize } from '../statistics/statistics.js';
import type { Mode } from './plan.js';
import type { RowResult } from './row.js';
import type { ScenarioName } from './scenarios.js';

/** The results of the matrix. */
export type MatrixRun = { results: RowResult[] };

export const rowsOf = (results: readonly RowResult[], scenario: ScenarioName, mode: Mode): RowResult[] =>
  results.filter((row) => row.scenario === scenario && row.mode === mode);

/** Summarizes all sequential samples of a scenario, over all batch sizes. */
export const pooled = (results: readonly RowResult[], scenario: ScenarioName, samples: 'coldMs' | 'warmMs'): Statistics | null =>
  summarize(rowsOf(results, scenario, 'sequential').flatMap((row) => row.samples[samples]));

/**
 * Returns the scenario's largest batch. The concurrency of a large batch has had time to settle.
 */
export const largest = (results: readonly RowResult[], scenario: ScenarioName, mode: Mode): RowResult | undefined =>
  rowsOf(results, scenario, mode).sort((a, b) => b.batchSize - a.batchSize)[0];
