// The JSON of a cold-start run.
//
// `hardware` and `results[]` have the shape of the field's published matrix; everything else is what a reader needs to doubt the
// figures: floors of the same run, raw samples, the clock, the neighbours, what was left out.

import type { Knobs } from '../config/knobs.js';
import type { DensityResult } from '../extras/density.js';
import type { StartsResult } from '../extras/starts.js';
import type { ThroughputResult } from '../extras/throughput.js';
import type { FloorResult } from '../floors/floor.js';
import type { BinarySize } from '../machine/binary.js';
import type { Hardware } from '../machine/hardware.js';
import type { UsageShares } from '../machine/usage.js';
import type { SkippedRow } from '../matrix/matrix.js';
import type { RowResult } from '../matrix/result.js';
import type { TargetResult } from './judge.js';

export const SCHEMA = 'coldframe-coldstart/1';

/** A measurement besides the rows: its result, or why there is none. */
export type Extra<T> = T | { error: string };

export interface Measurements {
  floors: Record<string, FloorResult>;
  results: RowResult[];
  skipped: SkippedRow[];
  throughput?: Extra<ThroughputResult>;
  starts: Extra<StartsResult>[];
  density: Extra<DensityResult>[];
  sidecarBinary?: Extra<BinarySize>;
}

export interface ColdstartReport extends Measurements {
  schema: typeof SCHEMA;
  startedAt: string;
  durationMs: number;
  knobs: Knobs;
  hardware: Hardware;
  timer: { resolutionMs: number };
  machine?: UsageShares;
  warnings: string[];
  targets: TargetResult[];
}

export const failed = <T>(extra: Extra<T>): extra is { error: string } =>
  typeof extra === 'object' && extra !== null && 'error' in extra;

/** Six significant digits: far below the noise of anything here, and raw samples stay readable. */
export const toJson = (report: object): string =>
  JSON.stringify(report, (_key, value) => (typeof value === 'number' ? Number(value.toPrecision(6)) : value), 1);
