// Reads the clock and estimates its resolution.
//
// All times that the benchmark's own process measures are differences of `now()`. A sample of a few
// clock ticks measures the clock and not the operation. For that reason each run measures the
// clock's resolution at its start, and the cold-start benchmark compares its samples with the
// resolution. The idea and the first three classes of doubt come from tinybench.

import { median } from './statistics.js';

/** Returns the milliseconds of the monotonic clock. */
export const now = (): number => performance.now();

/** Returns the median of the smallest visible steps of the clock, in milliseconds. */
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

/**
 * Returns the reason why the clock's resolution is too low for these samples, or `undefined` if the
 * resolution is sufficient. Fewer than 20 samples cause no doubt.
 */
export function timerDoubt(samples: readonly number[], resolution: number): TimerDoubt | undefined {
  if (samples.length < 20) return undefined;
  const p50 = median(samples);
  if (samples.filter((sample) => sample === 0).length > samples.length / 2) return 'zero-dominated';
  if (new Set(samples).size < Math.min(10, samples.length / 10)) return 'low-distinct';
  if (median(samples.map((sample) => Math.abs(sample - p50))) === 0) return 'zero-mad';
  return p50 < 20 * resolution ? 'few-ticks' : undefined;
}
