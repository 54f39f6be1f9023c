// Which rows the matrix has, how many batches each gets by default, and how wide a concurrent one is.

import type { Knobs, ScenarioName } from '../config/knobs.js';

export type Mode = 'sequential' | 'concurrent';

export interface RowPlan {
  scenario: ScenarioName;
  batchSize: number;
  mode: Mode;
  /** Batches to run; the time budget may lower it. */
  iterations: number;
  warmup: number;
  /** Runtimes alive at once. */
  concurrency: number;
}

/** Enough samples for a p95 of single starts, and enough batches that one which the machine disturbed does not decide. */
const defaultIterations = (batchSize: number): number => Math.max(10, Math.ceil(100 / batchSize));

export function planRows(knobs: Knobs): RowPlan[] {
  return knobs.scenarios.flatMap((scenario) =>
    knobs.batchSizes.flatMap((batchSize) =>
      (['sequential', 'concurrent'] as const).map((mode) => ({
        scenario,
        batchSize,
        mode,
        iterations: knobs.iterations ?? defaultIterations(batchSize),
        warmup: knobs.warmup,
        // A start in flight is a live runtime, so the lower of the two caps binds.
        concurrency: mode === 'sequential' ? 1 : Math.min(batchSize, knobs.maxConcurrency, knobs.maxLive),
      })),
    ),
  );
}
