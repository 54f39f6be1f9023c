// What can be done with the runtime of a slot, each with a deadline and counted. What rejects has cost the slot.

import { poolTimeout } from '../errors/make.js';
import type { Counters } from './counters.js';
import { STEP_MS, within } from './deadline.js';
import type { PoolableRuntime, SlotSource } from './poolable.js';
import type { Slot } from './slot.js';

/** See the module. */
export class Steps<R extends PoolableRuntime> {
  readonly #source: SlotSource<R>;
  readonly #counters: Counters;

  constructor(source: SlotSource<R>, counters: Counters) {
    this.#source = source;
    this.#counters = counters;
  }

  async make(slot: Slot<R>): Promise<void> {
    slot.runtime = await soon(this.#source.make(), (runtime) => runtime.dispose());
    this.#counters.add('created');
  }

  /** Nothing of its uses is left afterwards. */
  async restore(slot: Slot<R>): Promise<void> {
    await soon(this.#source.restore(slot.runtime as R));
    slot.dirty = false;
    this.#counters.add('recycled');
  }

  /** Only what is as the template is goes to disk: nothing that a tenant has done is ever written. */
  async pause(slot: Slot<R>): Promise<void> {
    if (slot.dirty) await this.restore(slot);
    slot.saved = await soon(this.#source.pause(slot.runtime as R), (saved) => saved.delete());
    this.#counters.add('pauses');
  }

  async resume(slot: Slot<R>): Promise<void> {
    await soon((slot.runtime as R).resume());
    this.#counters.add('resumed');
  }

  /** Ends the runtime. Never rejects: whatever fails, the slot is gone. */
  async end(slot: Slot<R>): Promise<void> {
    try {
      await soon((slot.runtime as R).dispose());
    } catch {
      this.#counters.add('errors');
    }
    await this.forget(slot);
  }

  /** Takes away what its pause has left on disk. Never rejects. */
  async forget(slot: Slot<R>): Promise<void> {
    const { saved } = slot;
    slot.saved = undefined;
    if (saved === undefined || slot.lost) return;
    try {
      await soon(saved.delete());
    } catch {
      this.#counters.add('errors');
    }
  }
}

function soon<T>(work: Promise<T>, discard?: (value: T) => unknown): Promise<T> {
  return within(work, () => poolTimeout({ timeoutMs: STEP_MS }), discard);
}
