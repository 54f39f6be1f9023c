// Who gets which slot, and what is begun for those who get none yet.
//
// One function, run after everything that happens, looks at what is there and keeps no promises of its own: for each waiter, in turn, a slot that it may
// have; or one that is on its way; or one that is begun now: woken from disk, made, or made possible by ending the slot of another tenant that has been
// idle longest. Then, when nobody waits for more, the reserve is filled. It costs at most a step for each slot that is on its way.

import type { Keeper } from './keeper.js';
import type { PoolableRuntime } from './poolable.js';
import type { FairQueue, Waiting } from './queue.js';
import type { Slot } from './slot.js';

/** The rules for slots and tenants. */
export interface SchedulerRules {
  /** Slots that may hold memory at a time. */
  size: number;
  /** Slots to have ready. */
  min: number;
  /** The pool's own tenant. */
  tenant: string;
}

/** See the module. */
export class Scheduler<R extends PoolableRuntime, W extends Waiting> {
  readonly #keeper: Keeper<R>;
  readonly #queue: FairQueue<W>;
  readonly #rules: SchedulerRules;
  readonly #grant: (waiter: W, slot: Slot<R>) => void;

  /** `grant` hands a slot to a waiter, who is in the queue no more. */
  constructor(keeper: Keeper<R>, queue: FairQueue<W>, rules: SchedulerRules, grant: (waiter: W, slot: Slot<R>) => void) {
    this.#keeper = keeper;
    this.#queue = queue;
    this.#rules = rules;
    this.#grant = grant;
  }

  /** Serves who can be served. */
  serve(): void {
    const granted: [W, Slot<R>][] = [];
    const coming = new Coming(this.#keeper);
    for (const waiter of this.#queue.inTurn()) {
      const slot = this.#keeper.take(waiter.tenant);
      if (slot !== undefined) granted.push([waiter, slot]);
      else if (!coming.claim(waiter.tenant) && !this.#begin(waiter.tenant, coming) && this.#keeper.idle.size === 0) break;
    }
    this.#queue.served(granted.map(([waiter]) => waiter));
    for (const [waiter, slot] of granted) this.#grant(waiter, slot);
  }

  /** Whether a slot should be made for the reserve, and can be: there is room without taking one from anybody. */
  get lacking(): boolean {
    const keeper = this.#keeper;
    if (this.#queue.size > 0 || keeper.slots.mapped >= this.#rules.size || keeper.backoff.waits || !keeper.mayStart) return false;
    return this.#ready + keeper.slots.count('making') < this.#rules.min;
  }

  /** Makes slots until there are as many ready as there should be. */
  refill(): void {
    while (this.lacking) this.#keeper.make();
  }

  /** Whether the pool has enough without this slot, which has been idle for long. */
  surplus({ owner }: { readonly owner: string | undefined }): boolean {
    const forOthers = owner !== undefined && owner !== this.#rules.tenant;
    return forOthers || this.#ready > this.#rules.min;
  }

  // What the next call of the pool's own tenant finds. Slots that nobody has used are there for every tenant.
  get #ready(): number {
    const { idle } = this.#keeper;
    return idle.count(undefined) + idle.count(this.#rules.tenant);
  }

  // Begins what brings `tenant` a slot; false when it has to wait for somebody to give one back.
  #begin(tenant: string, coming: Coming): boolean {
    const keeper = this.#keeper;
    if (keeper.slots.mapped + coming.postponed < this.#rules.size) {
      if (!keeper.mayStart) coming.postponed++;
      else if (keeper.resume(tenant)) return true;
      // Who else has runtimes in the sidecar is nothing that the pool knows: only what is idle here can make room.
      else if (keeper.short && this.#awaitRoom(coming)) return true;
      else if (keeper.backoff.waits) coming.postponed++;
      else keeper.make();
      return true;
    }
    return this.#awaitRoom(coming);
  }

  // Counts a slot that is going, or ends one that is idle; whether there is either.
  #awaitRoom(coming: Coming): boolean {
    if (coming.room > 0) {
      coming.room--;
      return true;
    }
    return !this.#keeper.backoff.waits && this.#keeper.evict();
  }
}

// What is on its way and has not been counted for a waiter yet.
class Coming {
  /** Slots that could be begun, but not now. */
  postponed = 0;
  /** Slots that are going: there is room for others then. */
  room: number;
  #making: number;
  readonly #own = new Map<string | undefined, number>();

  constructor(keeper: Keeper<PoolableRuntime> | Keeper<never>) {
    this.room = keeper.slots.count('ending') + keeper.slots.count('pausing');
    this.#making = keeper.slots.count('making');
    if (keeper.slots.count('cleaning') + keeper.slots.count('resuming') === 0) return;
    for (const { state, owner } of keeper.slots) {
      if (state === 'cleaning' || state === 'resuming') this.#own.set(owner, (this.#own.get(owner) ?? 0) + 1);
    }
  }

  /** Counts one that `tenant` can have; whether there is one. */
  claim(tenant: string): boolean {
    for (const owner of [tenant, undefined]) {
      const own = this.#own.get(owner) ?? 0;
      if (own === 0) continue;
      this.#own.set(owner, own - 1);
      return true;
    }
    if (this.#making === 0) return false;
    this.#making--;
    return true;
  }
}
