// Bounds work that requests without a token cause.

/** A number of units in a second. A burst may have as many as one second. */
export class Budget {
  readonly #perSecond: number;
  #left: number;
  #at = performance.now();

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
    this.#left = perSecond;
  }

  /** Takes `units`, and returns whether they were available. */
  take(units: number): boolean {
    const now = performance.now();
    this.#left = Math.min(this.#perSecond, this.#left + ((now - this.#at) / 1_000) * this.#perSecond);
    this.#at = now;
    if (this.#left < units) return false;
    this.#left -= units;
    return true;
  }
}
