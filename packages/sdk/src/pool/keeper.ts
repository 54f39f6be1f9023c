// The life of the slots: making, cleaning, putting to sleep, waking, ending. Nothing here decides who gets one; `scheduler.ts` does. Every step has
// a deadline, and whatever fails costs the slot and nothing else: a runtime that cannot be brought back to its template is never handed out again.

import { poolTimeout } from '../errors/make.js';
import { Backoff } from './backoff.js';
import type { Counters } from './counters.js';
import { STEP_MS, within } from './deadline.js';
import type { PoolableRuntime, SlotSource } from './poolable.js';
import { Shelf, SLOT_STATES, Slot, type SlotState } from './slot.js';

/** How many slots are made or woken at a time: enough to keep a sidecar's threads busy, too few to be a storm. */
export const AT_A_TIME = 8;

/** The rules for slots. */
export interface KeeperRules {
  size: number;
  /** Uses of a slot. */
  reuse: number;
  /** Whether it is rolled back after each use and replaced after the last, or rolled back after the last. */
  recycle: 'each-use' | 'last-use';
  /** How long a slot may be idle, and then how long it may be paused. */
  idleTimeoutMs: number;
}

/** Who is told. */
export interface KeeperHooks {
  /** A slot has come, gone, or become free. */
  changed(): void;
  /** A slot could not be made. */
  failed(error: unknown): void;
  /** A slot has been idle for too long: whether it may go. */
  surplus(slot: Slot<PoolableRuntime>): boolean;
  /** The last slot of this tenant has gone. */
  left(tenant: string): void;
}

/** See the module. */
export class Keeper<R extends PoolableRuntime> {
  /** Slots that can be had at once. */
  readonly idle = new Shelf<R>();
  /** Slots on disk. */
  readonly paused = new Shelf<R>();
  readonly backoff: Backoff;
  readonly #source: SlotSource<R>;
  readonly #rules: KeeperRules;
  readonly #counters: Counters;
  readonly #hooks: KeeperHooks;
  readonly #slots = new Set<Slot<R>>();
  readonly #counts = Object.fromEntries(SLOT_STATES.map((state) => [state, 0])) as Record<SlotState, number>;
  readonly #owners = new Map<string, number>();
  // Of what woken slots have left on disk.
  readonly #deletions = new Set<Promise<void>>();
  #closed = false;

  constructor(source: SlotSource<R>, rules: KeeperRules, counters: Counters, hooks: KeeperHooks) {
    this.#source = source;
    this.#rules = rules;
    this.#counters = counters;
    this.#hooks = hooks;
    this.backoff = new Backoff(() => hooks.changed());
  }

  /** How many slots are in that state. */
  count(state: SlotState): number {
    return this.#counts[state];
  }

  /** How many slots hold memory. */
  get mapped(): number {
    return this.#slots.size - this.#counts.paused - this.#counts.forgetting;
  }

  /** Whether another slot may be made or woken now. */
  get mayStart(): boolean {
    return this.#counts.making + this.#counts.resuming < AT_A_TIME;
  }

  /** All slots. */
  *[Symbol.iterator](): Generator<Readonly<Slot<R>>, void> {
    yield* this.#slots;
  }

  /** Begins to make a slot that belongs to nobody. */
  make(): void {
    const slot = new Slot<R>('making');
    this.#slots.add(slot);
    this.#counts.making++;
    void this.#make(slot);
  }

  async #make(slot: Slot<R>): Promise<void> {
    try {
      slot.runtime = await this.#within(this.#source.make(), (runtime) => runtime.dispose());
    } catch (error) {
      this.#drop(slot);
      this.#counters.add('errors');
      if (!this.#closed) this.backoff.failed();
      this.#hooks.failed(error);
      this.#hooks.changed();
      return;
    }
    this.backoff.worked();
    this.#counters.add('created');
    this.#settle(slot);
  }

  /** Takes a slot for `tenant` whose it is from now on. */
  take(tenant: string): Slot<R> | undefined {
    const slot = this.idle.take(tenant);
    if (slot === undefined) return undefined;
    clearTimeout(slot.timer);
    if (slot.owner === undefined) {
      slot.owner = tenant;
      this.#owners.set(tenant, (this.#owners.get(tenant) ?? 0) + 1);
    }
    this.#move(slot, 'busy');
    return slot;
  }

  /** Its user is done with it. `fit`: whether a rollback leaves nothing of what the user did. */
  giveBack(slot: Slot<R>, fit: boolean): void {
    const { reuse, recycle } = this.#rules;
    slot.uses++;
    slot.dirty = true;
    const spent = slot.uses >= reuse;
    if (!fit || slot.lost || slot.runtime?.state !== 'running' || (spent && recycle === 'each-use')) {
      this.#counters.add('replaced');
      this.#end(slot);
    } else if (!spent && recycle === 'last-use') this.#settle(slot);
    else void this.#clean(slot);
  }

  async #clean(slot: Slot<R>): Promise<void> {
    this.#move(slot, 'cleaning');
    try {
      await this.#restore(slot);
    } catch {
      return this.#fail(slot);
    }
    if (this.#rules.recycle === 'last-use') slot.uses = 0;
    this.#settle(slot);
  }

  /** Begins to wake a slot that `tenant` may have; whether there is one. */
  resume(tenant: string): boolean {
    const slot = this.paused.take(tenant);
    if (slot === undefined) return false;
    clearTimeout(slot.timer);
    this.#move(slot, 'resuming');
    void this.#resume(slot);
    return true;
  }

  async #resume(slot: Slot<R>): Promise<void> {
    try {
      await this.#within((slot.runtime as R).resume());
      this.#counters.add('resumed');
    } catch {
      return this.#fail(slot);
    }
    const deletion = this.#forget(slot).then(() => {
      this.#deletions.delete(deletion);
      this.#hooks.changed();
    });
    this.#deletions.add(deletion);
    this.#settle(slot);
  }

  /** Ends the slot that has been idle longest, to make room; whether there was one. */
  evict(): boolean {
    const slot = this.idle.oldest;
    if (slot === undefined) return false;
    this.idle.remove(slot);
    this.#counters.add('evicted');
    this.#end(slot);
    return true;
  }

  /** Whatever comes to rest from now on ends, and what rests ends now. */
  close(): void {
    this.#closed = true;
    this.backoff.close();
    this.#endResting();
  }

  /** All that were made so far are gone. */
  lost(): void {
    for (const slot of this.#slots) slot.lost = true;
    this.#endResting();
  }

  /** Whether nothing is left, and nothing under way. */
  get empty(): boolean {
    return this.#slots.size === 0 && this.#deletions.size === 0;
  }

  #endResting(): void {
    for (const slot of [...this.idle]) {
      this.idle.remove(slot);
      this.#end(slot);
    }
    for (const slot of [...this.paused]) {
      this.paused.remove(slot);
      this.#end(slot);
    }
  }

  // Something has been done with it: it lies on the shelf again, unless it has no future.
  #settle(slot: Slot<R>): void {
    if (this.#closed || slot.lost) {
      this.#end(slot);
      return;
    }
    this.#move(slot, 'idle');
    this.idle.add(slot);
    this.#watch(slot);
    this.#hooks.changed();
  }

  #watch(slot: Slot<R>): void {
    slot.timer = setTimeout(() => {
      if (this.#hooks.surplus(slot)) void this.#pause(slot);
      else this.#watch(slot);
    }, this.#rules.idleTimeoutMs);
    slot.timer.unref();
  }

  // Only what is as the template is goes to disk: nothing that a tenant has done is ever written.
  async #pause(slot: Slot<R>): Promise<void> {
    this.idle.remove(slot);
    this.#move(slot, 'pausing');
    try {
      if (slot.dirty) await this.#restore(slot);
      slot.saved = await this.#within((slot.runtime as R).pause(), (saved) => saved.delete());
    } catch {
      return this.#fail(slot);
    }
    this.#counters.add('pauses');
    if (this.#closed || slot.lost) return this.#end(slot);
    this.#move(slot, 'paused');
    this.paused.add(slot);
    // As long again: so there are never more of them than slots that can have been idle for so long.
    slot.timer = setTimeout(() => {
      this.paused.remove(slot);
      this.#counters.add('evicted');
      this.#end(slot);
    }, this.#rules.idleTimeoutMs);
    slot.timer.unref();
    this.#hooks.changed();
  }

  async #restore(slot: Slot<R>): Promise<void> {
    await this.#within(this.#source.restore(slot.runtime as R));
    slot.dirty = false;
    this.#counters.add('recycled');
  }

  #fail(slot: Slot<R>): void {
    this.#counters.add('errors');
    this.#end(slot);
  }

  #end(slot: Slot<R>): void {
    if (slot.state === 'ending' || slot.state === 'forgetting') return;
    clearTimeout(slot.timer);
    this.#move(slot, slot.state === 'paused' ? 'forgetting' : 'ending');
    void this.#dispose(slot);
  }

  async #dispose(slot: Slot<R>): Promise<void> {
    try {
      await this.#within((slot.runtime as R).dispose());
    } catch {
      this.#counters.add('errors');
    }
    await this.#forget(slot);
    this.#drop(slot);
    this.#hooks.changed();
  }

  // What its pause has left on disk is of no use any more.
  async #forget(slot: Slot<R>): Promise<void> {
    const saved = slot.saved;
    slot.saved = undefined;
    if (saved === undefined || slot.lost) return;
    try {
      await this.#within(saved.delete());
    } catch {
      this.#counters.add('errors');
    }
  }

  #drop(slot: Slot<R>): void {
    this.#slots.delete(slot);
    this.#counts[slot.state]--;
    if (slot.owner === undefined) return;
    const left = (this.#owners.get(slot.owner) ?? 0) - 1;
    if (left > 0) this.#owners.set(slot.owner, left);
    else {
      this.#owners.delete(slot.owner);
      this.#hooks.left(slot.owner);
    }
  }

  /** Whether a tenant has slots. */
  owns(tenant: string): boolean {
    return this.#owners.has(tenant);
  }

  #move(slot: Slot<R>, state: SlotState): void {
    this.#counts[slot.state]--;
    slot.state = state;
    this.#counts[state]++;
  }

  #within<T>(work: Promise<T>, discard?: (value: T) => unknown): Promise<T> {
    return within(work, () => poolTimeout({ timeoutMs: STEP_MS }), discard);
  }
}
