// The life of the slots: made, cleaned, put to sleep, woken, ended. Nothing here decides who gets one; `scheduler.ts` does. Whatever fails costs the slot
// and nothing else: a runtime that cannot be brought back to its template is never handed out again. Next: `steps.ts`, what is done each time.

import { isColdframeError } from '../errors/error.js';
import { Backoff } from './backoff.js';
import type { Counters } from './counters.js';
import { Ledger } from './ledger.js';
import type { PoolableRuntime, SlotSource } from './poolable.js';
import { Shelf, type Slot } from './slot.js';
import { Steps } from './steps.js';

/** How many slots are made or woken at a time: enough to keep a sidecar's threads busy, too few to be a storm. */
const AT_A_TIME = 8;

/** The rules for slots. */
export interface KeeperRules {
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
  /** All of them. */
  readonly slots = new Ledger<R>();
  readonly backoff: Backoff;
  readonly #steps: Steps<R>;
  readonly #rules: KeeperRules;
  readonly #counters: Counters;
  readonly #hooks: KeeperHooks;
  // What is known of the sidecar's: none since the last slot was to be made, or a slot has gone since, whose place may take a moment to be free.
  #room: 'unknown' | 'none' | 'coming' = 'unknown';
  // Of what woken slots have left on disk.
  readonly #deletions = new Set<Promise<void>>();
  #closed = false;

  constructor(source: SlotSource<R>, rules: KeeperRules, counters: Counters, hooks: KeeperHooks) {
    this.#steps = new Steps(source, counters);
    this.#rules = rules;
    this.#counters = counters;
    this.#hooks = hooks;
    this.backoff = new Backoff(() => hooks.changed());
  }

  /** Whether another slot may be made or woken now. */
  get mayStart(): boolean {
    return this.slots.count('making') + this.slots.count('resuming') < AT_A_TIME;
  }

  /** Whether the sidecar has no room for another slot unless one of these goes. */
  get short(): boolean {
    return this.#room === 'none';
  }

  /** Whether nothing is left, and nothing under way. */
  get empty(): boolean {
    return this.slots.size === 0 && this.#deletions.size === 0;
  }

  /** Begins to make a slot that belongs to nobody. */
  make(): void {
    void this.#make(this.slots.open('making'));
  }

  async #make(slot: Slot<R>): Promise<void> {
    try {
      await this.#steps.make(slot);
    } catch (error) {
      // Nobody needs it any more, and it has been told so.
      if (!this.#closed) {
        this.#counters.add('errors');
        this.backoff.failed();
      }
      this.#drop(slot);
      this.#room = isColdframeError(error, 'ERR_RESOURCE_EXHAUSTED') && this.#room !== 'coming' ? 'none' : 'unknown';
      this.#hooks.failed(error);
      this.#hooks.changed();
      return;
    }
    this.backoff.worked();
    this.#room = 'unknown';
    this.#settle(slot);
  }

  /** Takes a slot for `tenant` whose it is from now on. */
  take(tenant: string): Slot<R> | undefined {
    const slot = this.idle.take(tenant);
    if (slot === undefined) return undefined;
    clearTimeout(slot.timer);
    this.slots.own(slot, tenant);
    this.slots.move(slot, 'busy');
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
    this.slots.move(slot, 'cleaning');
    try {
      await this.#steps.restore(slot);
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
    this.slots.move(slot, 'resuming');
    void this.#resume(slot);
    return true;
  }

  async #resume(slot: Slot<R>): Promise<void> {
    try {
      await this.#steps.resume(slot);
    } catch {
      return this.#fail(slot);
    }
    const deletion = this.#steps.forget(slot).then(() => {
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
    for (const slot of this.slots) slot.lost = true;
    this.#endResting();
  }

  #endResting(): void {
    for (const shelf of [this.idle, this.paused]) {
      for (const slot of [...shelf]) {
        shelf.remove(slot);
        this.#end(slot);
      }
    }
  }

  // Something has been done with it: it lies on the shelf again, unless it has no future.
  #settle(slot: Slot<R>): void {
    if (this.#closed || slot.lost) {
      this.#end(slot);
      return;
    }
    this.slots.move(slot, 'idle');
    this.idle.add(slot);
    this.#watch(slot);
    this.#hooks.changed();
  }

  #watch(slot: Slot<R>): void {
    this.#later(slot, () => {
      if (this.#hooks.surplus(slot)) void this.#pause(slot);
      else this.#watch(slot);
    });
  }

  async #pause(slot: Slot<R>): Promise<void> {
    this.idle.remove(slot);
    this.slots.move(slot, 'pausing');
    try {
      await this.#steps.pause(slot);
    } catch {
      return this.#fail(slot);
    }
    if (this.#closed || slot.lost) return this.#end(slot);
    this.slots.move(slot, 'paused');
    this.#room = 'coming';
    this.paused.add(slot);
    // As long again: so there are never more of them than slots that can have been idle for so long.
    this.#later(slot, () => {
      this.paused.remove(slot);
      this.#counters.add('evicted');
      this.#end(slot);
    });
    this.#hooks.changed();
  }

  #later(slot: Slot<R>, act: () => void): void {
    slot.timer = setTimeout(act, this.#rules.idleTimeoutMs);
    slot.timer.unref();
  }

  #fail(slot: Slot<R>): void {
    this.#counters.add('errors');
    this.#end(slot);
  }

  #end(slot: Slot<R>): void {
    clearTimeout(slot.timer);
    this.slots.move(slot, slot.state === 'paused' ? 'forgetting' : 'ending');
    void this.#steps.end(slot).then(() => {
      this.#drop(slot);
      this.#room = 'coming';
      this.#hooks.changed();
    });
  }

  #drop(slot: Slot<R>): void {
    if (this.slots.drop(slot)) this.#hooks.left(slot.owner as string);
  }
}
