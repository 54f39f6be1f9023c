// Picks figures out of the measurements, for the targets and the charts.

import type { ScenarioName } from '../config/knobs.js';
import type { DensityResult } from '../extras/density.js';
import type { Mode } from '../matrix/plan.js';
import type { RowResult } from '../matrix/result.js';
import { type Statistics, summarize } from '../stats/statistics.js';
import { failed, type Measurements } from './report.js';

export const rowsOf = (results: readonly RowResult[], scenario: ScenarioName, mode: Mode): RowResult[] =>
  results.filter((row) => row.scenario === scenario && row.mode === mode);

/** All sequential samples of a scenario, whatever the batch size: no row is chosen, so none can be cherry-picked. */
export const pooled = (results: readonly RowResult[], scenario: ScenarioName, which: 'coldMs' | 'warmMs'): Statistics | null =>
  summarize(rowsOf(results, scenario, 'sequential').flatMap((row) => row.samples[which]));

/** The scenario's largest batch, which is where concurrency has had time to settle. */
export const largest = (results: readonly RowResult[], scenario: ScenarioName, mode: Mode): RowResult | undefined =>
  rowsOf(results, scenario, mode).sort((a, b) => b.batchSize - a.batchSize)[0];

export const floorP50 = ({ floors }: Measurements, name: string): number | undefined => floors[name]?.statistics?.p50;

/** Median of the starts of a kind, in ms. */
export function startsP50({ starts }: Measurements, kind: string): number | undefined {
  for (const row of starts) if (!failed(row) && row.kind === kind && row.successRate === 1) return row.coldMs?.p50;
  return undefined;
}

export function densityOf({ density }: Measurements, kind: string): DensityResult | undefined {
  for (const row of density) if (!failed(row) && row.kind === kind) return row;
  return undefined;
}
