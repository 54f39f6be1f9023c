// Floors: what the machine itself charges for comparable steps, measured in the same run as the matrix.
//
// A floor is taken in two halves, one before and one after the matrix. Both go into its statistics; if they differ, the machine
// changed while we measured, and the run says so. Next: `index.ts` for the list.

import { withDeadline } from '../matrix/deadline.js';
import { median, type Statistics, summarize } from '../stats/statistics.js';

export interface FloorProbe {
  /** One measurement in milliseconds; rejects when what was started did not do what it should. */
  measure(): Promise<number>;
  close?(): Promise<void>;
}

export interface FloorDefinition {
  name: string;
  what: string;
  /** Measurements per sample asked for: more for what takes microseconds. */
  repeat: number;
  open(): Promise<FloorProbe>;
}

export interface FloorResult {
  what: string;
  statistics: Statistics | null;
  successRate: number;
  samples: number[];
  /** Median of the second half over that of the first. */
  drift?: number;
  /** Why there is no figure, or why one measurement failed. */
  error?: string;
}

export interface FloorHalf {
  samples: number[];
  attempts: number;
  error?: string;
}

const WARMUP = 3;
const HANG_MS = 10_000;

/** Takes `count × repeat` samples; a floor that cannot be opened has none and says why. */
export async function takeHalf(floor: FloorDefinition, count: number): Promise<FloorHalf> {
  const half: FloorHalf = { samples: [], attempts: 0 };
  let probe: FloorProbe | undefined;
  try {
    probe = await withDeadline(`opening ${floor.name}`, HANG_MS, floor.open());
    for (let index = 0; index < WARMUP + count * floor.repeat; index++) {
      if (index >= WARMUP) half.attempts++;
      const sample = await withDeadline(floor.name, HANG_MS, probe.measure());
      if (index >= WARMUP) half.samples.push(sample);
    }
  } catch (error) {
    half.error = String(error);
  }
  await probe?.close?.();
  return half;
}

export function joinHalves(floor: FloorDefinition, first: FloorHalf, second: FloorHalf): FloorResult {
  const samples = [...first.samples, ...second.samples];
  const attempts = first.attempts + second.attempts;
  const bothHalves = first.samples.length > 0 && second.samples.length > 0;
  const error = first.error ?? second.error;
  return {
    what: floor.what,
    statistics: summarize(samples),
    successRate: attempts === 0 ? 0 : samples.length / attempts,
    samples,
    ...(bothHalves && { drift: median(second.samples) / median(first.samples) }),
    ...(error !== undefined && { error }),
  };
}
