// Plans the rows of the cold-start matrix: the scenario, batch size and mode of each row, its
// number of batches, and its live runtimes.

import type { ColdstartOptions } from './options.js';
import type { ScenarioName } from './scenarios.js';

export type Mode = 'sequential' | 'concurrent';

export interface RowPlan {
  scenario: ScenarioName;
  batchSize: number;
  mode: Mode;
  /** Counted batches. The budget can lower the number. */
  iterations: number;
  /** Batches before the counted batches. */
  warmup: number;
  /** Runtimes alive at once. */
  concurrency: number;
}

const MODES = ['sequential', 'concurrent'] as const;

/**
 * Returns the default number of batches. The number is sufficient for a p95 of single starts, and
 * for a median that one disturbed batch hardly changes.
 */
const defaultIterations = (batchSize: number): number => Math.max(10, Math.ceil(100 / batchSize));

export function planRows(options: ColdstartOptions): RowPlan[] {
  return options.scenarios.flatMap((scenario) =>
    options.batchSizes.flatMap((batchSize) =>
      MODES.map((mode) => ({
        scenario,
        batchSize,
        mode,
        iterations: options.iterations ?? defaultIterations(batchSize),
        warmup: options.warmup,
        // A start in flight is a live runtime, so the lower of the two limits applies.
        concurrency: mode === 'sequential' ? 1 : Math.min(batchSize, options.maxConcurrency, options.maxLive),
      })),
    ),
  );
}
