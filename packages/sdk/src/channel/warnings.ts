// Who is told when a runtime comes near a limit. A warning answers no request, so that nothing waits for it, and what a listener throws must
// not look like a fault of the connection: listeners are called on their own.

import type { LimitWarning, LimitWarningListener } from '../options/limits.js';

/** The listeners of a connection's runtimes, by their numbers. */
export class Warnings {
  readonly #listeners = new Map<number, LimitWarningListener>();

  /** From now on `listener` hears of the runtime. */
  listen(runtime: number, listener: LimitWarningListener | undefined): void {
    if (listener !== undefined) this.#listeners.set(runtime, listener);
  }

  /** The runtime is gone. */
  leave(runtime: number): void {
    this.#listeners.delete(runtime);
  }

  /** One has come. It may have crossed the end of its runtime: then nobody is told. */
  tell(runtime: number, warning: LimitWarning): void {
    const listener = this.#listeners.get(runtime);
    if (listener !== undefined) queueMicrotask(() => listener(warning));
  }
}
