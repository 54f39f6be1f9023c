// How many handlers of a binding run at a time. Who comes later waits for its turn, in order. A place is free again when the handler has really
// settled, not when its caller has given up: a guest that calls and gives up in a loop does not have more of them running.

/** See above. */
export class Gate {
  readonly #limit: number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** A place now: `undefined`; or a promise of one, which `giveUp` takes back. */
  enter(): { readonly turn: Promise<void>; giveUp(): void } | undefined {
    if (this.#running < this.#limit) {
      this.#running++;
      return undefined;
    }
    let begin = (): void => {};
    const turn = new Promise<void>((resolve) => {
      begin = resolve;
    });
    this.#waiting.add(begin);
    // Its turn may have come in this very moment.
    const giveUp = (): void => {
      if (!this.#waiting.delete(begin)) this.leave();
    };
    return { turn, giveUp };
  }

  /** A place is free. */
  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running--;
    } else {
      this.#waiting.delete(next);
      next();
    }
  }
}
