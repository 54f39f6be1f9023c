// Limits the handlers of a binding that run at a time. Later calls wait for their turn in order. A
// turn ends when the handler has settled, not when its caller has given up: a guest that calls and
// gives up in a loop cannot start more handlers.

/** A turn that has not come yet. */
export interface WaitingTurn {
  readonly turn: Promise<void>;
  /** Gives up the turn. */
  giveUp(): void;
}

/** The limit of one binding. */
export class ConcurrencyLimit {
  readonly #limit: number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes a turn. Returns `undefined` if the turn has come, else a promise of it. */
  enter(): WaitingTurn | undefined {
    if (this.#running < this.#limit) {
      this.#running++;
      return undefined;
    }
    let begin = (): void => {};
    const turn = new Promise<void>((resolve) => {
      begin = resolve;
    });
    this.#waiting.add(begin);
    // The turn may have come already, unnoticed.
    const giveUp = (): void => {
      if (!this.#waiting.delete(begin)) this.leave();
    };
    return { turn, giveUp };
  }

  /** Ends a turn, and starts the next. */
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
