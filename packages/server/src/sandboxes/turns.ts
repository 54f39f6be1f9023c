// Runs the calls about one sandbox one after the other.

/** A queue of calls for each id. */
export class Turns {
  /** The last call about each id that has calls. */
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `call` after the earlier calls about `id`. */
  run<T>(id: string, call: () => Promise<T>): Promise<T> {
    const turn = (this.#last.get(id) ?? Promise.resolve()).then(call, call);
    this.#last.set(id, turn);
    const clear = (): void => {
      if (this.#last.get(id) === turn) this.#last.delete(id);
    };
    turn.then(clear, clear);
    return turn;
  }
}
