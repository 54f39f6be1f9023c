// The clock and how fine it is.
//
// Every time in this package comes from `now()`. A benchmark whose samples are only a few ticks long measures its clock, so the
// resolution is measured at the start and samples are classified against it (the idea and the three classes are tinybench's).

import { median } from './statistics.js';

/** Milliseconds of the monotonic clock. */
export const now = (): number => performance.now();

/** The median of the smallest visible steps of the clock, in milliseconds. */
export function timerResolution(clock: () => number = now, steps = 201): number {
  const seen: number[] = [];
  for (let step = 0; step < steps; step++) {
    const start = clock();
    let next = clock();
    for (let spins = 0; next === start && spins < 1_000_000; spins++) next = clock();
    seen.push(next - start);
  }
  return median(seen);
}

export type TimerDoubt = 'zero-dominated' | 'low-distinct' | 'zero-mad' | 'few-ticks';

/** Why the clock is too coarse for these samples, or `undefined` if it is not. Fewer than 20 samples are not judged. */
export function timerDoubt(samples: readonly number[], resolution: number): TimerDoubt | undefined {
  if (samples.length < 20) return undefined;
  const p50 = median(samples);
  if (samples.filter((sample) => sample === 0).length > samples.length / 2) return 'zero-dominated';
  if (new Set(samples).size < Math.min(10, samples.length / 10)) return 'low-distinct';
  if (median(samples.map((sample) => Math.abs(sample - p50))) === 0) return 'zero-mad';
  return p50 < 20 * resolution ? 'few-ticks' : undefined;
}
