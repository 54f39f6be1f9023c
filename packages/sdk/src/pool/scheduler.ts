// Assigns slots to waiting calls and starts slots for calls that find no slot.
//
// One function runs after every event and reads the present state only. Waiting calls are handled
// in the order of service. Each call gets an idle slot, reserves a slot that is being prepared, or
// causes the start of a slot. To start a slot, the scheduler resumes or makes a slot, or ends the
// longest idle slot of another tenant. When no call needs a slot, the reserve, which is `min` ready
// slots, is filled. Usually the work for one event grows with the number of slots, not with the
// number of waiting calls.

import type { FairQueue, WaitingCall } from './fair-queue.js';
import type { SlotLifecycle } from './slot-lifecycle.js';
import type { PoolableRuntime } from './slot-source.js';
import type { Slot } from './slots.js';

/** The rules for slots and tenants. */
export interface SchedulerRules {
  /** The largest number of slots that use memory at a time. */
  size: number;
  /** The number of slots that are kept ready. */
  min: number;
  /** The pool's own tenant. */
  tenant: string;
}

/** The scheduler of one pool. */
export class Scheduler<R extends PoolableRuntime, W extends WaitingCall> {
  readonly #lifecycle: SlotLifecycle<R>;
  readonly #queue: FairQueue<W>;
  readonly #rules: SchedulerRules;
  readonly #grant: (call: W, slot: Slot<R>) => void;

  /** `grant` passes a slot to a call that has left the queue. */
  constructor(lifecycle: SlotLifecycle<R>, queue: FairQueue<W>, rules: SchedulerRules, grant: (call: W, slot: Slot<R>) => void) {
    this.#lifecycle = lifecycle;
    this.#queue = queue;
    this.#rules = rules;
    this.#grant = grant;
  }

  /**
   * Assigns slots to all waiting calls that can have a slot now. For the other calls, starts slots,
   * or ends idle slots of other keys.
   */
  serve(): void {
    const granted: [W, Slot<R>][] = [];
    const coming = new ComingSlots(this.#lifecycle);
    for (const call of this.#queue.inTurn()) {
      const slot = this.#lifecycle.take(call.tenant);
      if (slot !== undefined) granted.push([call, slot]);
      else if (!coming.claim(call.tenant) && !this.#begin(call.tenant, coming) && this.#lifecycle.idle.size === 0) break;
    }
    this.#queue.served(granted.map(([call]) => call));
    for (const [call, slot] of granted) this.#grant(call, slot);
  }

  /** Returns whether the reserve lacks a slot that can be made without ending another slot. */
  get isLacking(): boolean {
    const lifecycle = this.#lifecycle;
    const { slots, backoff } = lifecycle;
    if (this.#queue.size > 0 || slots.mapped >= this.#rules.size || backoff.isWaiting || !lifecycle.mayStart) return false;
    return this.#ready + slots.count('making') < this.#rules.min;
  }

  /** Fills the reserve. */
  refill(): void {
    while (this.isLacking) this.#lifecycle.make();
  }

  /** Returns whether the pool does not need a slot that has been idle for long. */
  isSurplus({ owner }: { readonly owner: string | undefined }): boolean {
    const isForOthers = owner !== undefined && owner !== this.#rules.tenant;
    return isForOthers || this.#ready > this.#rules.min;
  }

  // The number of slots that are ready for the pool's own tenant. Every tenant may use a slot
  // without an owner.
  get #ready(): number {
    const { idle } = this.#lifecycle;
    return idle.count(undefined) + idle.count(this.#rules.tenant);
  }

  // Starts a slot for `tenant`. Returns false if the call has to wait for a release.
  #begin(tenant: string, coming: ComingSlots): boolean {
    const lifecycle = this.#lifecycle;
    if (lifecycle.slots.mapped + coming.postponed < this.#rules.size) {
      if (!lifecycle.mayStart) coming.postponed++;
      else if (lifecycle.resume(tenant)) return true;
      // The pool cannot end other runtimes of the sidecar, so only the end of an idle slot frees a
      // place in the sidecar.
      else if (lifecycle.isSidecarFull && this.#makeRoom(coming)) return true;
      else if (lifecycle.backoff.isWaiting) coming.postponed++;
      else lifecycle.make();
      return true;
    }
    return this.#makeRoom(coming);
  }

  // Reserves the place of a slot that is ending, or ends an idle slot. Returns false if no such
  // slot exists.
  #makeRoom(coming: ComingSlots): boolean {
    if (coming.room > 0) {
      coming.room--;
      return true;
    }
    return !this.#lifecycle.backoff.isWaiting && this.#lifecycle.evict();
  }
}

/** Slots that are being prepared and that no waiting call has reserved. */
class ComingSlots {
  /** The number of slots that can be started, but not now. */
  postponed = 0;
  /** The number of slots that are ending, each of which frees a place. */
  room: number;
  #making: number;
  readonly #byOwner = new Map<string | undefined, number>();

  constructor(lifecycle: SlotLifecycle<PoolableRuntime> | SlotLifecycle<never>) {
    const { slots } = lifecycle;
    this.room = slots.count('ending') + slots.count('pausing');
    this.#making = slots.count('making');
    if (slots.count('cleaning') + slots.count('resuming') === 0) return;
    for (const { state, owner } of slots) {
      if (state === 'cleaning' || state === 'resuming') this.#byOwner.set(owner, (this.#byOwner.get(owner) ?? 0) + 1);
    }
  }

  /** Reserves a slot that `tenant` may use. Returns false if no such slot exists. */
  claim(tenant: string): boolean {
    for (const owner of [tenant, undefined]) {
      const count = this.#byOwner.get(owner) ?? 0;
      if (count === 0) continue;
      this.#byOwner.set(owner, count - 1);
      return true;
    }
    if (this.#making === 0) return false;
    this.#making--;
    return true;
  }
}
