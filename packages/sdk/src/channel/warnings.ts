// The listeners for limit warnings. A warning belongs to no request, and the error of a listener
// must not look like a fault of the connection, so listeners run in a microtask of their own.

import type { LimitWarning, LimitWarningListener } from '../options/limits.js';

/** The listeners of a connection's runtimes, by the ids of the runtimes. */
export class Warnings {
  readonly #listeners = new Map<number, LimitWarningListener>();

  /** Sets the listener of a runtime. */
  listen(runtime: number, listener: LimitWarningListener | undefined): void {
    if (listener !== undefined) this.#listeners.set(runtime, listener);
  }

  /** Removes the listener of a disposed runtime. */
  leave(runtime: number): void {
    this.#listeners.delete(runtime);
  }

  /** Notifies the listener. A warning may cross the end of its runtime and is ignored then. */
  notify(runtime: number, warning: LimitWarning): void {
    const listener = this.#listeners.get(runtime);
    if (listener !== undefined) queueMicrotask(() => listener(warning));
  }
}
