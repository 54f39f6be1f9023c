// How many live runtimes of which kind, and how wide a burst.

import { KINDS, type KindName } from './kinds.js';

export interface DensityPlan {
  kinds: readonly KindName[];
  counts: readonly number[];
  /** All of these are asked for at one moment. */
  hold: number;
  bursts: readonly number[];
  burstRounds: number;
  /** In flight while the counts are made. */
  width: number;
}

export const ORDINARY: DensityPlan = {
  kinds: KINDS,
  counts: [1, 5, 10, 20, 100, 1_000, 10_000],
  hold: 1_000,
  bursts: [4, 8, 16, 24, 32, 48, 64],
  burstRounds: 20,
  width: 16,
};

export const QUICK: DensityPlan = { ...ORDINARY, counts: [1, 5, 20], hold: 20, bursts: [2, 4], burstRounds: 2 };
