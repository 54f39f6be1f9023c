// Repeats a measurement: rounds that only warm up, and then the rounds that count.

import { median } from '../statistics/statistics.js';

export interface RoundCounts {
  warmup: number;
  rounds: number;
}

/** Runs the warm-up rounds, and then the counted rounds while `fits` allows another round. */
export async function runRounds(
  { warmup, rounds }: RoundCounts,
  round: (isWarmup: boolean) => Promise<void>,
  fits: () => boolean = () => true,
): Promise<void> {
  for (let index = 0; index < warmup; index++) await round(true);
  for (let index = 0; index < rounds && fits(); index++) await round(false);
}

/**
 * Returns whether another round probably ends within `leftMs`. Uses the median of the previous
 * rounds, so that one disturbed round does not decide.
 */
export const anotherFits = (rounds: readonly { wallMs: number }[], leftMs: number): boolean =>
  leftMs > 0 && median(rounds.map(({ wallMs }) => wallMs)) <= leftMs;
