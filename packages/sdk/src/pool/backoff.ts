// After a slot could not be made the pool waits before it tries again, longer each time: whatever is wrong, a storm of attempts makes it worse.

const FIRST_MS = 100;
const LAST_MS = 5_000;

/** See the module. */
export class Backoff {
  readonly #over: () => void;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `over` is called when the wait has ended. */
  constructor(over: () => void) {
    this.#over = over;
  }

  /** Whether nothing may be tried now. */
  get waits(): boolean {
    return this.#timer !== undefined;
  }

  /** Whether the last attempt failed. */
  get failing(): boolean {
    return this.#failures > 0;
  }

  failed(): void {
    if (this.#timer !== undefined) return;
    const ms = Math.min(LAST_MS, FIRST_MS * 2 ** this.#failures++);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#over();
    }, ms);
    this.#timer.unref();
  }

  worked(): void {
    this.close();
    this.#failures = 0;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
