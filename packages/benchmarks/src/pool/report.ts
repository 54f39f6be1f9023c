// The JSON of a pool run.

import type { Floors } from '../floors/around.js';
import type { Observed } from '../machine/observe.js';
import type { TargetResult } from '../report/judge.js';
import type { AmortisedRow } from './amortised.js';
import type { CrowdRow } from './crowds.js';
import type { HygieneResult } from './hygiene.js';
import type { PoolPlan } from './plan.js';

export const SCHEMA = 'coldframe-pool/1';

export interface PoolMeasurements {
  floors: Floors;
  /** B18. */
  amortised: AmortisedRow[];
  /** B19. */
  crowds: CrowdRow[];
  /** B23. */
  hygiene: HygieneResult | undefined;
  skipped: { row: string; reason: string }[];
}

export interface PoolReport extends PoolMeasurements, Observed {
  schema: typeof SCHEMA;
  plan: PoolPlan;
  targets: TargetResult[];
  warnings: string[];
}
