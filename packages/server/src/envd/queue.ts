// A queue between a producer that can wait and the loop that reads it.

/** An async iterable of values that another part pushes. */
export class Queue<T> implements AsyncIterable<T> {
  readonly #most: number;
  readonly #sizeOf: (value: T) => number;
  readonly #values: T[] = [];
  #size = 0;
  #isOver = false;
  #arrived: (() => void) | undefined;
  #left: (() => void)[] = [];

  /** A push waits while the values in the queue have `most` or more, as `sizeOf` measures them. */
  constructor(most: number, sizeOf: (value: T) => number) {
    this.#most = most;
    this.#sizeOf = sizeOf;
  }

  /** Adds a value. If the queue is full, returns a promise that resolves when values have left. */
  push(value: T): Promise<void> | undefined {
    if (this.#isOver) return undefined;
    this.#values.push(value);
    this.#size += this.#sizeOf(value);
    this.#arrived?.();
    return this.#size < this.#most ? undefined : new Promise((resolve) => this.#left.push(resolve));
  }

  /** Ends the queue after its present values. */
  end(): void {
    this.#isOver = true;
    this.#arrived?.();
    this.#release();
  }

  /** Ends the queue, and returns the values that no loop has read. */
  close(): T[] {
    const values = this.#values.splice(0);
    this.#size = 0;
    this.end();
    return values;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    for (;;) {
      while (this.#values.length > 0) {
        const value = this.#values.shift() as T;
        this.#size -= this.#sizeOf(value);
        if (this.#size < this.#most) this.#release();
        yield value;
      }
      if (this.#isOver) return;
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
      this.#arrived = undefined;
    }
  }

  #release(): void {
    for (const resolve of this.#left.splice(0)) resolve();
  }
}
