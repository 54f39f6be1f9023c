// How far a median can be trusted, from its own samples.
//
// The standard error of a median is about 1.2533 × sigma / sqrt(n); sigma is estimated as 1.4826 × MAD, which outliers do not
// move. Both factors hold for a normal distribution; latencies have a longer tail, so this is a lower bound of the noise, and it
// knows nothing of a machine that was slower during a whole run. That is why `compare` shows the floors of both runs too.

import type { Statistics } from './statistics.js';

const SIGMA_PER_MAD = 1.4826;
const MEDIAN_PER_MEAN_ERROR = 1.2533;

/** Standard error of the median as a share of the median. */
export function relativeError({ mad, p50, count }: Pick<Statistics, 'mad' | 'p50' | 'count'>): number {
  return p50 === 0 ? Number.POSITIVE_INFINITY : (MEDIAN_PER_MEAN_ERROR * SIGMA_PER_MAD * mad) / Math.sqrt(count) / p50;
}

export interface Ratio {
  ratio: number;
  /** Half width of the interval (2 standard errors) in which the true ratio probably lies. */
  noise: number;
}

/** Ratio of the medians `b / a` with its noise. */
export function ratioOfMedians(a: Statistics, b: Statistics): Ratio {
  const ratio = b.p50 / a.p50;
  return { ratio, noise: 2 * ratio * Math.hypot(relativeError(a), relativeError(b)) };
}
