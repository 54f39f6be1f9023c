// Summarizes a list of samples. Samples are milliseconds, unless a caller passes another unit.
//
// The median and the median absolute deviation are the main figures: a machine that disturbs one
// sample in twenty hardly changes these figures. Percentiles use the nearest rank: the smallest
// sample that at least p % of the samples do not exceed. So every percentile in a report is a
// measured sample. Next: `noise.ts` for the precision of a median.

export interface Statistics {
  count: number;
  mean: number;
  p50: number;
  p95: number;
  p99: number;
  min: number;
  max: number;
  /** Median absolute deviation from the median. */
  mad: number;
}

/** Returns the nearest-rank percentile of ascending samples. */
export function percentile(sorted: readonly number[], percent: number): number {
  const value = sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
  if (value === undefined) throw new RangeError('percentile of no samples');
  return value;
}

export const ascending = (samples: readonly number[]): number[] => [...samples].sort((a, b) => a - b);

export const median = (samples: readonly number[]): number => percentile(ascending(samples), 50);

/** Summarizes samples. Returns `null` without samples: a row without a right run has no latency. */
export function summarize(samples: readonly number[]): Statistics | null {
  if (samples.length === 0) return null;
  const sorted = ascending(samples);
  const p50 = percentile(sorted, 50);
  return {
    count: sorted.length,
    mean: sorted.reduce((sum, value) => sum + value, 0) / sorted.length,
    p50,
    p95: percentile(sorted, 95),
    p99: percentile(sorted, 99),
    min: percentile(sorted, 0),
    max: percentile(sorted, 100),
    mad: median(sorted.map((value) => Math.abs(value - p50))),
  };
}

/** Returns the statistics in another unit, such as microseconds for a factor of 1,000. */
export function scale(statistics: Statistics, factor: number): Statistics {
  const { count, ...values } = statistics;
  const scaled = Object.entries(values).map(([name, value]) => [name, value * factor] as const);
  return { count, ...(Object.fromEntries(scaled) as Omit<Statistics, 'count'>) };
}

/** Returns `a / b`, or `undefined` when a value is missing or `b` is 0. */
export const ratioOf = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || !b ? undefined : a / b;

const QUARTERS = 4;

/**
 * Returns the medians of the first to the last quarter of the samples. Rising medians reveal a cost
 * that grows with the number of earlier calls. `undefined` marks a call that has no time.
 */
export function quarterMedians(samples: readonly (number | undefined)[]): number[] {
  const size = Math.ceil(samples.length / QUARTERS);
  const quarters = Array.from({ length: QUARTERS }, (_, index) => samples.slice(index * size, (index + 1) * size));
  return quarters.flatMap((quarter) => summarize(quarter.filter((value) => value !== undefined))?.p50 ?? []);
}
