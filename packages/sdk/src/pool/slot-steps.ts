// The steps of a slot's life. Each step is counted and has a deadline. If a step rejects, the slot
// is ended. Without a deadline, a slot whose step never settles would be unusable until the app
// restarts.

import { poolTimeout } from '../errors/make.js';
import type { Counters } from './counters.js';
import type { PoolableRuntime, SlotSource } from './slot-source.js';
import type { Slot } from './slots.js';

/** The deadline of one step in milliseconds. */
export const STEP_MS = 30_000;

/** The steps of all slots of a pool. */
export class SlotSteps<R extends PoolableRuntime> {
  readonly #source: SlotSource<R>;
  readonly #counters: Counters;

  constructor(source: SlotSource<R>, counters: Counters) {
    this.#source = source;
    this.#counters = counters;
  }

  async make(slot: Slot<R>): Promise<void> {
    slot.runtime = await inTime(this.#source.make(), (runtime) => runtime.dispose());
    this.#counters.add('created');
  }

  /** Removes every change of the slot's users. */
  async restore(slot: Slot<R>): Promise<void> {
    await inTime(this.#source.restore(slot.runtime as R));
    slot.dirty = false;
    this.#counters.add('recycled');
  }

  /**
   * Pauses a slot. Restores a used slot first, so that no tenant's data is ever written to disk.
   */
  async pause(slot: Slot<R>): Promise<void> {
    if (slot.dirty) await this.restore(slot);
    slot.snapshot = await inTime(this.#source.pause(slot.runtime as R), (snapshot) => snapshot.delete());
    this.#counters.add('pauses');
  }

  async resume(slot: Slot<R>): Promise<void> {
    await inTime((slot.runtime as R).resume());
    this.#counters.add('resumed');
  }

  /**
   * Ends the runtime and deletes the snapshot of its pause. Never rejects, because the slot is
   * removed after a failure too.
   */
  async end(slot: Slot<R>): Promise<void> {
    try {
      await inTime((slot.runtime as R).dispose());
    } catch {
      this.#counters.add('errors');
    }
    await this.deleteSnapshot(slot);
  }

  /** Deletes the snapshot of a pause. Never rejects. */
  async deleteSnapshot(slot: Slot<R>): Promise<void> {
    const { snapshot } = slot;
    slot.snapshot = undefined;
    if (snapshot === undefined || slot.lost) return;
    try {
      await inTime(snapshot.delete());
    } catch {
      this.#counters.add('errors');
    }
  }
}

// Returns the result of `work`. Rejects after the deadline, and passes a later result to `discard`.
// The timer does not keep the process alive.
function inTime<T>(work: Promise<T>, discard?: (value: T) => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(poolTimeout({ timeoutMs: STEP_MS }));
    }, STEP_MS);
    timer.unref();
    work.then(
      (value) => {
        clearTimeout(timer);
        if (isLate) Promise.resolve(discard?.(value)).catch(() => {});
        else resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
