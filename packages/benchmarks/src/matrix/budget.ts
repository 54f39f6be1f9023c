// Shares the time that is left among the rows that are left.
//
// Each row is weighted with its number of runtimes times its scenario's rough cost; what a fast row does not use goes to those
// after it. A row learns from its own warm-up how many batches fit.

import { median } from '../stats/statistics.js';
import { now } from '../stats/timer.js';
import type { RowPlan } from './plan.js';

/** Opening and closing a row's sidecar, in the units of the guess below. */
const ROW_OVERHEAD_MS = 30;

export class Budget {
  readonly #end: number;
  readonly #clock: () => number;
  readonly #costMs: (row: RowPlan) => number;

  constructor(totalMs: number, startCostMs: (row: RowPlan) => number, clock: () => number = now) {
    this.#clock = clock;
    this.#end = clock() + totalMs;
    this.#costMs = (row) => ROW_OVERHEAD_MS + (row.iterations + row.warmup) * row.batchSize * startCostMs(row);
  }

  get leftMs(): number {
    return Math.max(0, this.#end - this.#clock());
  }

  /** Milliseconds for `rows[0]`, the rest being for the others. */
  shareOfFirst(rows: readonly RowPlan[]): number {
    const [first] = rows;
    if (!first) return 0;
    return (this.leftMs * this.#costMs(first)) / this.guessMs(rows);
  }

  guessMs(rows: readonly RowPlan[]): number {
    return rows.reduce((sum, row) => sum + this.#costMs(row), 0);
  }
}

/** Whether one more batch like those before is expected to end in time. One disturbed batch does not decide: the median does. */
export const anotherFits = (batches: readonly { wallMs: number }[], leftMs: number): boolean =>
  leftMs > 0 && median(batches.map(({ wallMs }) => wallMs)) <= leftMs;
