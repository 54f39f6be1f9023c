// The listeners for requests that wait for a function of the app, by runtime.
//
// Programs of a restored runtime run before this process has made the runtime's handle. Their
// requests wait here for the listener. The number of waiting requests is bounded: a request that is
// dropped gets its response from the edge process, after its time-out.

import type { RuntimeId } from '../protocol/generated/messages.js';
import type { HandlerListener } from './sidecar-connection.js';

/** The largest number of requests of all runtimes that wait for a listener. */
const MAX_EARLY = 1_024;

/** The listeners of one connection. */
export class HandlerListeners {
  readonly #listeners = new Map<RuntimeId, HandlerListener>();
  #early: { readonly runtime: RuntimeId; readonly number: number }[] = [];

  /** Passes a request to the listener of its runtime. */
  wanted(runtime: RuntimeId, number: number): void {
    const listener = this.#listeners.get(runtime);
    if (listener !== undefined) listener(number);
    else if (this.#early.length < MAX_EARLY) this.#early.push({ runtime, number });
  }

  /** Sets or removes the listener of a runtime. */
  watch(runtime: RuntimeId, listener: HandlerListener | undefined): void {
    if (listener === undefined) {
      this.remove(runtime);
      return;
    }
    this.#listeners.set(runtime, listener);
    const early = this.#early.filter((one) => one.runtime === runtime);
    this.#early = this.#early.filter((one) => one.runtime !== runtime);
    for (const { number } of early) listener(number);
  }

  /** Forgets a runtime. */
  remove(runtime: RuntimeId): void {
    this.#listeners.delete(runtime);
    this.#early = this.#early.filter((one) => one.runtime !== runtime);
  }
}
