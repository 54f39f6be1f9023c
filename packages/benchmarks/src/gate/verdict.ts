// Compares a row with its baseline.
//
// The figure of a row is the time of its operation divided by the time of its floor, one value for
// each round. The ratio is the median of the run divided by the median of the baseline. The noise
// is twice the standard error of the ratio, estimated from the rounds of both. A row has regressed
// if the ratio minus the noise is above the row's threshold. A row that seems to have regressed is
// measured again, and the attempt with the lowest ratio counts.

import { ratioOfMedians } from '../statistics/noise.js';
import type { Statistics } from '../statistics/statistics.js';

/**
 * `regressed` and `missing` fail the gate. `unsure`: the ratio is above the threshold, but not the
 * ratio minus the noise. `new`: the baseline does not have the row. `failed`: the run has no
 * figure.
 */
export type GateVerdict = 'same' | 'faster' | 'unsure' | 'regressed' | 'new' | 'failed' | 'missing';

/** The fewest rounds of a run, and of a baseline, whose spread estimates the noise. */
export const FEWEST_ROUNDS = 5;

export interface Judged {
  verdict: GateVerdict;
  ratio: number | null;
  noise: number | null;
}

export function judgeRow(current: Statistics | null, baseline: Statistics | undefined, threshold: number): Judged {
  if (current === null) return { verdict: 'failed', ratio: null, noise: null };
  if (baseline === undefined) return { verdict: 'new', ratio: null, noise: null };
  const { ratio, noise } = ratioOfMedians(baseline, current);
  const verdict = verdictOf(ratio, noise, threshold);
  const isCertain = Math.min(current.count, baseline.count) >= FEWEST_ROUNDS;
  return { verdict: isCertain ? verdict : uncertain(verdict), ratio, noise };
}

/** Returns the result for rounds that are too few for an estimate of the noise. */
const uncertain = (verdict: GateVerdict): GateVerdict =>
  verdict === 'regressed' ? 'unsure' : verdict === 'faster' ? 'same' : verdict;

function verdictOf(ratio: number, noise: number, threshold: number): GateVerdict {
  if (ratio - noise > threshold) return 'regressed';
  if (ratio > threshold) return 'unsure';
  return ratio + noise < 1 / threshold ? 'faster' : 'same';
}

/** Returns whether the row must be measured again. */
export const needsAnotherAttempt = ({ verdict }: Judged): boolean => verdict === 'regressed' || verdict === 'unsure';

/** Returns whether a row with this result passes the gate. */
export const passes = (verdict: GateVerdict): boolean => verdict !== 'regressed' && verdict !== 'failed' && verdict !== 'missing';

/**
 * Returns the attempt with the lowest ratio. An attempt without a ratio counts only if all have
 * none.
 */
export function bestAttempt<Attempt extends Judged>(attempts: readonly [Attempt, ...Attempt[]]): Attempt {
  const [first, ...others] = attempts;
  return others.reduce<Attempt>(
    (best, attempt) => (attempt.ratio !== null && (best.ratio === null || attempt.ratio < best.ratio) ? attempt : best),
    first,
  );
}
