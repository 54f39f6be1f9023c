// Limits the number of handlers of a binding that run at a time. Further calls wait in the order of
// their arrival. A permit is released when the handler has settled, not when the guest has aborted
// the call. So a guest that calls and aborts in a loop cannot start more handlers.

/** A call that waits for a permit. */
export interface WaitingCall {
  readonly permit: Promise<void>;
  /** Ends the wait. The call then gets no permit. */
  cancel(): void;
}

/** The limit of one binding. */
export class ConcurrencyLimit {
  readonly #limit: number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Takes a permit and returns `undefined`. If no permit is free, returns a call that waits for a
   * permit.
   */
  enter(): WaitingCall | undefined {
    if (this.#running < this.#limit) {
      this.#running++;
      return undefined;
    }
    let begin = (): void => {};
    const permit = new Promise<void>((resolve) => {
      begin = resolve;
    });
    this.#waiting.add(begin);
    // `leave` may have granted the permit although the waiting code has not continued yet. In that
    // case `cancel` releases the permit.
    const cancel = (): void => {
      if (!this.#waiting.delete(begin)) this.leave();
    };
    return { permit, cancel };
  }

  /** Releases a permit. The call that has waited for longest gets the permit. */
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
