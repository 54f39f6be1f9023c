// The shape of one row in the JSON: the field's (`scenario` … `phases`) plus what is needed to doubt it.

import type { ScenarioName } from '../config/knobs.js';
import type { UsageShares } from '../machine/usage.js';
import type { Statistics } from '../stats/statistics.js';
import type { Mode } from './plan.js';

export interface RowResult {
  scenario: ScenarioName;
  batchSize: number;
  mode: Mode;
  /** Batches that were run and counted. */
  iterations: number;
  /** Runtimes alive at once. */
  concurrency: number;
  /** Start of what the row's runtimes share; in no other figure. */
  sidecarSetupMs?: number;
  /** The very first cold start on the row's fresh sidecar: a warm-up, so in no other figure. */
  firstColdMs?: number;
  /** `null` when no run was right. */
  coldStart: Statistics | null;
  warmStart: Statistics | null;
  /** Wall time of a batch, from first start to last disposal, divided by its size: one value per batch. */
  amortised: Statistics | null;
  phases: Record<string, Statistics>;
  /** The same phases during the second snippet. */
  warmPhases: Record<string, Statistics>;
  runs: { total: number; right: number; successRate: number; failures: Record<string, number> };
  /** Raw, in milliseconds, in order of completion. */
  samples: { coldMs: number[]; warmMs: number[]; batchWallMs: number[] };
  machine?: UsageShares;
  notes: string[];
}
