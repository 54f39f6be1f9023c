// Estimates the precision of a median from its own samples.
//
// The standard error of a median is about 1.2533 × sigma / sqrt(n). Sigma is estimated as 1.4826 ×
// MAD, because outliers hardly change the MAD. The two factors are exact for a normal distribution.
// Latencies have a longer tail, so the estimate is rough. The estimate does not include a machine
// that was slower during a whole run. For that reason `bench:compare` shows the floors.

import type { Statistics } from './statistics.js';

const SIGMA_PER_MAD = 1.4826;
const MEDIAN_PER_MEAN_ERROR = 1.2533;

/** Returns the standard error of the median as a share of the median. */
export function relativeError({ mad, p50, count }: Pick<Statistics, 'mad' | 'p50' | 'count'>): number {
  return p50 === 0 ? Number.POSITIVE_INFINITY : (MEDIAN_PER_MEAN_ERROR * SIGMA_PER_MAD * mad) / Math.sqrt(count) / p50;
}

export interface Ratio {
  ratio: number;
  /** Half width of the interval (2 standard errors) that probably contains the true ratio. */
  noise: number;
}

/** Returns the ratio of the medians `b / a` with its noise. */
export function ratioOfMedians(a: Statistics, b: Statistics): Ratio {
  const ratio = b.p50 / a.p50;
  return { ratio, noise: 2 * ratio * Math.hypot(relativeError(a), relativeError(b)) };
}
