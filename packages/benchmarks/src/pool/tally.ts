// Times of those that were right, reasons of those that were not.

import { reason } from '../lifecycle/box.js';
import { type Statistics, summarize } from '../stats/statistics.js';
import { now } from '../stats/timer.js';

export interface Tallied {
  total: number;
  right: number;
  successRate: number;
  failures: Record<string, number>;
  /** Of each right one, from the call to its answer. */
  eachMs: Statistics | null;
  samples: number[];
}

const KINDS = 10;

export class Tally {
  readonly #samples: number[] = [];
  readonly #failures: Record<string, number> = {};
  #total = 0;

  /** Does `work`, which gives what is wrong, and files it. */
  async time(work: () => Promise<string | undefined>): Promise<void> {
    this.#total++;
    const from = now();
    const problem = await work().catch(reason);
    if (problem === undefined) this.#samples.push(now() - from);
    else this.fail(problem);
  }

  fail(problem: string): void {
    const key = problem in this.#failures || Object.keys(this.#failures).length < KINDS ? problem : 'others';
    this.#failures[key] = (this.#failures[key] ?? 0) + 1;
  }

  end(): Tallied {
    const right = this.#samples.length;
    return {
      total: this.#total,
      right,
      successRate: this.#total === 0 ? 0 : right / this.#total,
      failures: this.#failures,
      eachMs: summarize(this.#samples),
      samples: this.#samples,
    };
  }
}
