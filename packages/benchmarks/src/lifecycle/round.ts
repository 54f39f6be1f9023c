// Records one round of an operation: times, failures, and facts beside the times.
//
// A round is done with `count` runtimes at once, which are numbered from 0. Each runtime counts
// once: as right, or as failed with its first reason. A runtime that failed, or whose state was
// wrong afterwards, has no time of its own. The wall times include the failed runtimes.

import { isValue, type Timing, type Together } from '../suite/concurrency.js';

export interface Round {
  timings: Record<string, { wallMs: number; eachMs: number[] }>;
  attempts: number;
  failures: string[];
  facts: Record<string, number>;
}

export class RoundRecord {
  readonly #count: number;
  readonly #timings = new Map<string, Timing>();
  readonly #failures = new Map<number, string>();
  readonly facts: Record<string, number> = {};

  constructor(count: number) {
    this.#count = count;
  }

  fail(index: number, why: string): void {
    if (!this.#failures.has(index)) this.#failures.set(index, why);
  }

  failAll(why: string): void {
    for (let index = 0; index < this.#count; index++) this.fail(index, why);
  }

  hasFailed = (index: number): boolean => this.#failures.has(index);

  /** Adds the timings and failures of work on all runtimes. Returns the values by index. */
  add<T>({ timings, items }: Together<T>): (T | undefined)[] {
    for (const [name, timing] of Object.entries(timings)) this.#timings.set(name, timing);
    return items.map((item, index) => {
      if (isValue(item)) return item.value;
      this.fail(index, item.error);
      return undefined;
    });
  }

  /** Adds one time for all runtimes, such as the time of a call that creates all runtimes. */
  time(name: string, wallMs: number): void {
    this.#timings.set(name, { wallMs, eachMs: [wallMs] });
  }

  end(): Round {
    const withoutFailed = ([name, { wallMs, eachMs }]: [string, Timing]) => {
      const isSingle = eachMs.length < this.#count;
      const right = eachMs.filter((_, index) => isSingle || !this.hasFailed(index));
      return [name, { wallMs, eachMs: right.filter((value) => value !== undefined) }] as const;
    };
    // A round without any right runtime has no times.
    const timings = this.#failures.size === this.#count ? [] : [...this.#timings].map(withoutFailed);
    return {
      timings: Object.fromEntries(timings),
      attempts: this.#count,
      failures: [...this.#failures.values()],
      facts: this.facts,
    };
  }
}
