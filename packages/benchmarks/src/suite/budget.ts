// Divides the remaining time among the remaining rows.
//
// Each row has a guess of its duration as its weight. Time that a fast row leaves unused is divided
// among the later rows. After each round, a row computes whether another round fits into its share
// (`rounds.ts`).

import { now } from '../statistics/timer.js';

interface Weighted {
  readonly guessMs: number;
}

export class Budget {
  readonly #end: number;
  readonly #clock: () => number;
  readonly #leastShareMs: number;

  constructor(totalMs: number, leastShareMs = 0, clock: () => number = now) {
    this.#clock = clock;
    this.#end = clock() + totalMs;
    this.#leastShareMs = leastShareMs;
  }

  get leftMs(): number {
    return Math.max(0, this.#end - this.#clock());
  }

  /**
   * Returns the milliseconds for the first of `rows`. The remaining time is for the later rows. A
   * guess of milliseconds is less accurate than a guess of seconds. A short row may therefore
   * exceed its share up to the least share, but not beyond a quarter of the time that is left.
   */
  shareOfFirst(rows: readonly Weighted[]): number {
    const [first] = rows;
    if (!first) return 0;
    const { leftMs } = this;
    return Math.max((leftMs * first.guessMs) / guessOf(rows), Math.min(this.#leastShareMs, leftMs / 4));
  }

  /** Returns the milliseconds in which `rows` will probably end: their guesses or the rest. */
  expectedMs(rows: readonly Weighted[]): number {
    return Math.min(guessOf(rows), this.leftMs);
  }
}

const guessOf = (rows: readonly Weighted[]): number => rows.reduce((sum, { guessMs }) => sum + guessMs, 0);
