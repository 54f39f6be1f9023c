// The book of one round: what was timed, what failed, and facts beside the times.
//
// Each of a round's `count` places counts once: it is right, or it has failed with its first reason. A place that has failed, or whose state turned out
// wrong afterwards, has no time of its own; the wall times keep it in.

import { isValue, type Timing, type Together } from './together.js';

export interface Round {
  timings: Record<string, { wallMs: number; eachMs: number[] }>;
  attempts: number;
  failures: string[];
  facts: Record<string, number>;
}

export class RoundBook {
  readonly #count: number;
  readonly #timings = new Map<string, Timing>();
  readonly #failures = new Map<number, string>();
  readonly facts: Record<string, number> = {};

  constructor(count: number) {
    this.#count = count;
  }

  fail(place: number, why: string): void {
    if (!this.#failures.has(place)) this.#failures.set(place, why);
  }

  failAll(why: string): void {
    for (let place = 0; place < this.#count; place++) this.fail(place, why);
  }

  hasFailed = (place: number): boolean => this.#failures.has(place);

  /** Files the laps, and the failures by place; gives the values by place. */
  file<T>({ laps, items }: Together<T>): (T | undefined)[] {
    for (const [name, timing] of Object.entries(laps)) this.#timings.set(name, timing);
    return items.map((item, place) => {
      if (isValue(item)) return item.value;
      this.fail(place, item.error);
      return undefined;
    });
  }

  /** One time for all places together, such as that of a call which makes them all. */
  time(name: string, wallMs: number): void {
    this.#timings.set(name, { wallMs, eachMs: [wallMs] });
  }

  end(): Round {
    const kept = ([name, { wallMs, eachMs }]: [string, Timing]) => {
      const single = eachMs.length < this.#count;
      const right = eachMs.filter((value, place) => value !== undefined && (single || !this.hasFailed(place)));
      return [name, { wallMs, eachMs: right.filter((value) => value !== undefined) }] as const;
    };
    // A round in which nothing was right has no times at all.
    const timings = this.#failures.size === this.#count ? [] : [...this.#timings].map(kept);
    return {
      timings: Object.fromEntries(timings),
      attempts: this.#count,
      failures: [...this.#failures.values()],
      facts: this.facts,
    };
  }
}
