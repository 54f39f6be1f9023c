// Statistics of a list of samples, all in milliseconds unless a caller says otherwise.
//
// Robust ones first: the median and the median absolute deviation do not move when one sample in twenty was disturbed by the
// machine. Percentiles are by nearest rank (the smallest sample that at least p % of the samples do not exceed), as the other
// benchmarks of this field compute them: every figure we print was really measured. Next: `noise.ts`, what a median is worth.

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

/** Nearest-rank percentile of ascending samples. */
export function percentile(sorted: readonly number[], percent: number): number {
  const value = sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
  if (value === undefined) throw new RangeError('percentile of no samples');
  return value;
}

export const ascending = (samples: readonly number[]): number[] => [...samples].sort((a, b) => a - b);

export const median = (samples: readonly number[]): number => percentile(ascending(samples), 50);

/** `null` for no samples: a row in which every run failed has no latency. */
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
