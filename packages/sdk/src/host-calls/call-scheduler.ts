// Shares the app's event loop among the host calls of several runtimes, by weight. A call runs at
// once while the calls of the present window have used little time. Further calls wait in a queue.
// The queue runs calls for one slice, and then lets the event loop handle other events. So neither
// timers of the app nor the calls of another runtime wait for all calls of a runtime.
//
// The queue serves the runtime with the smallest virtual time: the time that its calls have used,
// divided by its weight. Only the synchronous part of a call is measured: reading and checking the
// input, and the handler up to its first `await`. Next: `dispatcher.ts`, which makes the calls.

import { now } from '../clock.js';
import type { RuntimeId } from '../protocol/generated/messages.js';

/** Milliseconds that calls may use before the event loop handles other events. */
export const SLICE_MS = 4;
/** Milliseconds after which calls may run at once again. */
const WINDOW_MS = 2 * SLICE_MS;
/** The weight of a runtime without the option `weight`. */
export const DEFAULT_WEIGHT = 100;

/** The queue of the host calls of one connection. */
export class CallScheduler {
  readonly #clock: () => number;
  readonly #defer: (drain: () => void) => void;
  /** The waiting calls. The sidecar bounds the calls of a runtime, so that `shift()` is fast. */
  readonly #lines = new Map<RuntimeId, (() => void)[]>();
  readonly #times = new Map<RuntimeId, number>();
  readonly #weights = new Map<RuntimeId, number>();
  #virtualNow = 0;
  #windowStart = Number.NEGATIVE_INFINITY;
  #used = 0;

  /** `defer` calls a function after the event loop has handled other events. */
  constructor(clock: () => number = now, defer: (drain: () => void) => void = (drain) => void setImmediate(drain)) {
    this.#clock = clock;
    this.#defer = defer;
  }

  /** Sets the weight of a runtime. */
  setWeight(runtime: RuntimeId, weight: number): void {
    this.#weights.set(runtime, weight);
  }

  /** Returns the weight of a runtime. */
  weight(runtime: RuntimeId): number {
    return this.#weights.get(runtime) ?? DEFAULT_WEIGHT;
  }

  /** Forgets a runtime that is disposed. Its waiting calls still run in their turn. */
  remove(runtime: RuntimeId): void {
    this.#weights.delete(runtime);
    this.#times.delete(runtime);
  }

  /** Runs `call` now or later. `call` does not throw. */
  run(runtime: RuntimeId, call: () => void): void {
    if (this.#lines.size > 0 || !this.#mayRunNow()) {
      this.#push(runtime, call);
      return;
    }
    this.#used += this.#timed(runtime, call);
  }

  #mayRunNow(): boolean {
    const time = this.#clock();
    if (time - this.#windowStart >= WINDOW_MS) {
      this.#windowStart = time;
      this.#used = 0;
    }
    return this.#used < SLICE_MS;
  }

  // Runs a call and charges its runtime. Returns the used time.
  #timed(runtime: RuntimeId, call: () => void): number {
    const begin = this.#clock();
    call();
    const used = this.#clock() - begin;
    const time = Math.max(this.#times.get(runtime) ?? 0, this.#virtualNow);
    this.#times.set(runtime, time + (used * DEFAULT_WEIGHT) / this.weight(runtime));
    return used;
  }

  #push(runtime: RuntimeId, call: () => void): void {
    const line = this.#lines.get(runtime);
    if (line === undefined) {
      if (this.#lines.size === 0) this.#defer(() => this.#drain());
      this.#lines.set(runtime, [call]);
    } else {
      line.push(call);
    }
  }

  // Runs waiting calls for one slice.
  #drain(): void {
    const begin = this.#clock();
    do {
      const runtime = this.#nextRuntime();
      const line = runtime === undefined ? undefined : this.#lines.get(runtime);
      const call = line?.shift();
      if (runtime === undefined || line === undefined || call === undefined) break;
      this.#timed(runtime, call);
      if (line.length === 0) this.#lines.delete(runtime);
    } while (this.#lines.size > 0 && this.#clock() - begin < SLICE_MS);
    if (this.#lines.size > 0) this.#defer(() => this.#drain());
  }

  // Returns the waiting runtime with the smallest virtual time. Of equal runtimes, returns the
  // runtime that has waited for longest.
  #nextRuntime(): RuntimeId | undefined {
    let best: RuntimeId | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const runtime of this.#lines.keys()) {
      const time = Math.max(this.#times.get(runtime) ?? 0, this.#virtualNow);
      if (time < least) [best, least] = [runtime, time];
    }
    if (best !== undefined) this.#virtualNow = least;
    return best;
  }
}
