// The shape of one row in the JSON.

import type { UsageShares } from '../machine/usage.js';
import type { Statistics } from '../stats/statistics.js';
import type { OperationName } from './plan.js';

export interface Measure {
  /** From the common start to the last one, failures included: one value per round. */
  wall: Statistics | null;
  /** Wall time divided by `n`. */
  per: Statistics | null;
  /** Each right one from the common start, or the single call that made all of them. */
  each: Statistics | null;
  /** Raw, in ms, in order. */
  samples: { wallMs: number[]; eachMs: number[] };
}

export interface LifecycleRow {
  operation: OperationName;
  variant: string;
  n: number;
  megabytes: number;
  way?: string;
  rounds: number;
  warmup: number;
  measures: Record<string, Measure>;
  runs: { total: number; right: number; successRate: number; failures: Record<string, number> };
  /** What else each round found, such as the bytes that were really dirty. */
  facts: Record<string, Statistics>;
  machine?: UsageShares;
  notes: string[];
}
