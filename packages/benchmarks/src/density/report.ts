// The JSON of a density run.

import type { Floors } from '../floors/around.js';
import type { Observed } from '../machine/observe.js';
import type { TargetResult } from '../report/judge.js';
import type { BurstResult } from './burst.js';
import type { KindName } from './kinds.js';
import type { DensityPlan } from './plan.js';
import type { LiveResult } from './result.js';

export const SCHEMA = 'coldframe-density/1';

export interface SkippedCrowd {
  kind: KindName;
  count: number;
  reason: string;
}

export interface DensityMeasurements {
  floors: Floors;
  rows: LiveResult[];
  /** All at one moment. */
  holds: LiveResult[];
  bursts: BurstResult[];
  skipped: SkippedCrowd[];
}

export interface DensityReport extends DensityMeasurements, Observed {
  schema: typeof SCHEMA;
  plan: DensityPlan;
  packages: string;
  /** What the system allows one process. */
  system: { maxMapCount: number };
  targets: TargetResult[];
  warnings: string[];
}
