// The listeners for limit warnings. A warning belongs to no request. Each listener runs in its own
// microtask, so that an error that a listener throws does not close the connection.

import type { LimitName, LimitWarning, LimitWarningListener } from '../options/limits.js';
import type { RuntimeId, LimitWarning as WarningMessage } from '../protocol/generated/messages.js';

/** The listeners of a connection's runtimes, by the ids of the runtimes. */
export class WarningListeners {
  readonly #listeners = new Map<RuntimeId, LimitWarningListener>();

  /** Sets the listener of a runtime. Does nothing if `listener` is `undefined`. */
  listen(runtime: RuntimeId, listener: LimitWarningListener | undefined): void {
    if (listener !== undefined) this.#listeners.set(runtime, listener);
  }

  /** Removes the listener of a disposed runtime. */
  remove(runtime: RuntimeId): void {
    this.#listeners.delete(runtime);
  }

  /**
   * Notifies the runtime's listener. Ignores a warning that arrives after the runtime was disposed.
   */
  notify(runtime: RuntimeId, { limit, ...rest }: Omit<WarningMessage, 'runtime'>): void {
    const listener = this.#listeners.get(runtime);
    if (listener === undefined) return;
    // A sidecar of this version sends no other names.
    const warning = { limit: limit as LimitName, ...rest } as LimitWarning;
    queueMicrotask(() => listener(warning));
  }
}
