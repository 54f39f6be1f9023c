// Measures floors: the cost of comparable steps on this machine, in the same run as the rows.
//
// A floor is measured in two halves, before and after the rows. The statistics contain both halves.
// If the halves differ, the machine changed during the run, and the report warns of the change.
// Next: `definitions.ts` for the list of floors.

import { median, type Statistics, summarize } from '../statistics/statistics.js';
import { withDeadline } from '../suite/deadline.js';

export interface FloorProbe {
  /** Returns one measurement in milliseconds. Rejects when the step had a wrong result. */
  measure(): Promise<number>;
  close?(): Promise<void>;
}

export interface FloorDefinition {
  name: string;
  what: string;
  /** Measurements per requested sample: more than 1 for a step that takes microseconds. */
  repeat: number;
  open(): Promise<FloorProbe>;
}

export interface FloorResult {
  what: string;
  statistics: Statistics | null;
  successRate: number;
  samples: number[];
  /** Median of the second half divided by the median of the first half. */
  drift?: number;
  /** Reason of the first failure. */
  error?: string;
}

export type Floors = Record<string, FloorResult>;

export interface FloorHalf {
  samples: number[];
  attempts: number;
  error?: string;
}

const WARMUP = 3;
const HANG_MS = 10_000;

/** Measures the first half of each floor, waits for `work`, and measures the second half. */
export async function withFloors<T>(
  floors: readonly FloorDefinition[],
  samples: number,
  write: (line: string) => void,
  work: () => Promise<T>,
): Promise<{ floors: Floors; result: T }> {
  write('floors, first half');
  const first = await takeHalves(floors, Math.floor(samples / 2));
  const result = await work();
  write('floors, second half');
  const second = await takeHalves(floors, Math.ceil(samples / 2));
  const none: FloorHalf = { samples: [], attempts: 0 };
  const joined = floors.map(
    (floor, index) => [floor.name, joinHalves(floor, first[index] ?? none, second[index] ?? none)] as const,
  );
  return { floors: Object.fromEntries(joined), result };
}

async function takeHalves(floors: readonly FloorDefinition[], count: number): Promise<FloorHalf[]> {
  const halves: FloorHalf[] = [];
  for (const floor of floors) halves.push(await takeHalf(floor, count));
  return halves;
}

/**
 * Takes `count × repeat` samples. If the floor fails, returns the samples so far and the reason.
 */
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
