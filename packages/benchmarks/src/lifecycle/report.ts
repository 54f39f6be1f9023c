// The JSON of a lifecycle run.

import type { Floors } from '../floors/around.js';
import type { Observed } from '../machine/observe.js';
import type { TargetResult } from '../report/judge.js';
import type { Extra } from '../report/report.js';
import type { LifecycleRow } from './result.js';
import type { SoakResult } from './soak.js';

export const SCHEMA = 'coldframe-lifecycle/1';

export interface SkippedRow {
  operation: string;
  variant: string;
  n: number;
  reason: string;
}

export interface LifecycleMeasurements {
  floors: Floors;
  rows: LifecycleRow[];
  skipped: SkippedRow[];
  soak?: Extra<SoakResult>;
}

export interface LifecycleReport extends LifecycleMeasurements, Observed {
  schema: typeof SCHEMA;
  options: { only: readonly string[]; quick: boolean; soak: number; budgetSeconds: number; settleMs: number };
  /** The file system that snapshots were written to. */
  store: { fileSystem: string };
  packages: string;
  targets: TargetResult[];
  warnings: string[];
}
