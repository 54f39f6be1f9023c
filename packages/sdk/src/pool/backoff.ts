// Delays the next attempt after a slot could not be made. Each failure doubles the delay, because
// frequent attempts load a sidecar that already fails.

const FIRST_MS = 100;
const LAST_MS = 5_000;

/** The delay between attempts. */
export class Backoff {
  readonly #onEnd: () => void;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `onEnd` is called when a delay has ended. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** Returns whether a delay is pending, so that no attempt may start now. */
  get isWaiting(): boolean {
    return this.#timer !== undefined;
  }

  /** Returns whether the last attempt failed. */
  get isFailing(): boolean {
    return this.#failures > 0;
  }

  /** Starts a delay after a failed attempt. */
  failed(): void {
    if (this.#timer !== undefined) return;
    const ms = Math.min(LAST_MS, FIRST_MS * 2 ** this.#failures++);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#onEnd();
    }, ms);
    this.#timer.unref();
  }

  /** Resets the delay after a successful attempt. */
  succeeded(): void {
    this.close();
    this.#failures = 0;
  }

  /** Cancels the delay. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
