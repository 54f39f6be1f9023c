// The transitions of slots: made, cleaned, paused, resumed, ended. `scheduler.ts` assigns slots to
// calls.
//
// A failure costs only the slot: a runtime that cannot be restored to its template is never lent
// again. Next: `slot-steps.ts`, the work of each transition.

import { isColdframeError } from '../errors/error.js';
import { Backoff } from './backoff.js';
import type { Counters } from './counters.js';
import type { PoolableRuntime, SlotSource } from './slot-source.js';
import { SlotSteps } from './slot-steps.js';
import { type Slot, SlotTable, UnusedSlots } from './slots.js';

/**
 * The largest number of slots that are made or resumed at a time: enough for a sidecar's threads,
 * too few to overload the sidecar.
 */
const CONCURRENT_STARTS = 8;

/** The rules for slots. */
export interface LifecycleRules {
  /** The number of uses after which a slot is replaced or rolled back. */
  reuse: number;
  /**
   * `'each-use'`: rollback after each use and replacement after `reuse` uses. `'last-use'`:
   * rollback after `reuse` uses.
   */
  recycle: 'each-use' | 'last-use';
  /** Milliseconds until an idle slot is paused, and until a paused slot is ended. */
  idleTimeoutMs: number;
}

/** The receiver of notifications about transitions. */
export interface LifecycleHooks {
  /**
   * Called when a slot became idle, was paused or was removed, when a snapshot was deleted, and
   * when the delay after a failure has ended.
   */
  changed(): void;
  /** Called when a slot could not be made. */
  failed(error: unknown): void;
  /** Returns whether a slot that has been idle for too long may be paused. */
  isSurplus(slot: Slot<PoolableRuntime>): boolean;
  /** Called when the last slot that `tenant` owned was removed. */
  ownerLeft(tenant: string): void;
}

/** The slots of one pool. */
export class SlotLifecycle<R extends PoolableRuntime> {
  /** Slots that are ready for a call. */
  readonly idle = new UnusedSlots<R>();
  /** Slots on disk. */
  readonly paused = new UnusedSlots<R>();
  /** All slots. */
  readonly slots = new SlotTable<R>();
  readonly backoff: Backoff;
  readonly #steps: SlotSteps<R>;
  readonly #rules: LifecycleRules;
  readonly #counters: Counters;
  readonly #hooks: LifecycleHooks;
  /**
   * Whether the sidecar accepts another slot. `none` after the sidecar refused a slot. `coming`
   * after a slot was ended or paused, because the slot's place may become free a little later.
   */
  #room: 'unknown' | 'none' | 'coming' = 'unknown';
  /** Deletions of the snapshots of resumed slots. */
  readonly #deletions = new Set<Promise<void>>();
  #closed = false;

  constructor(source: SlotSource<R>, rules: LifecycleRules, counters: Counters, hooks: LifecycleHooks) {
    this.#steps = new SlotSteps(source, counters);
    this.#rules = rules;
    this.#counters = counters;
    this.#hooks = hooks;
    this.backoff = new Backoff(() => hooks.changed());
  }

  /** Returns whether another slot may be made or resumed now. */
  get mayStart(): boolean {
    return this.slots.count('making') + this.slots.count('resuming') < CONCURRENT_STARTS;
  }

  /** Returns whether the sidecar accepts no other slot. */
  get isSidecarFull(): boolean {
    return this.#room === 'none';
  }

  /** Returns whether the pool has no slot and no pending work. */
  get isEmpty(): boolean {
    return this.slots.size === 0 && this.#deletions.size === 0;
  }

  /** Starts to make a slot without an owner. */
  make(): void {
    void this.#make(this.slots.add('making'));
  }

  async #make(slot: Slot<R>): Promise<void> {
    try {
      await this.#steps.make(slot);
    } catch (error) {
      // In a closed pool the close itself causes the failure, so the failure is not counted.
      if (!this.#closed) {
        this.#counters.add('errors');
        this.backoff.failed();
      }
      this.#remove(slot);
      this.#room = isColdframeError(error, 'ERR_RESOURCE_EXHAUSTED') && this.#room !== 'coming' ? 'none' : 'unknown';
      this.#hooks.failed(error);
      this.#hooks.changed();
      return;
    }
    this.backoff.succeeded();
    this.#room = 'unknown';
    this.#makeIdle(slot);
  }

  /**
   * Takes an idle slot for a tenant, which becomes the slot's owner. Returns `undefined` if no such
   * slot is idle.
   */
  take(tenant: string): Slot<R> | undefined {
    const slot = this.idle.take(tenant);
    if (slot === undefined) return undefined;
    clearTimeout(slot.timer);
    this.slots.own(slot, tenant);
    this.slots.move(slot, 'busy');
    return slot;
  }

  /**
   * Takes a slot back from its user. `isReusable`: whether a rollback undoes everything that the
   * user did.
   */
  release(slot: Slot<R>, isReusable: boolean): void {
    const { reuse, recycle } = this.#rules;
    slot.uses++;
    slot.dirty = true;
    const isUsedUp = slot.uses >= reuse;
    if (!isReusable || slot.lost || slot.runtime?.state !== 'running' || (isUsedUp && recycle === 'each-use')) {
      this.#counters.add('replaced');
      this.#end(slot);
    } else if (!isUsedUp && recycle === 'last-use') this.#makeIdle(slot);
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
    this.#makeIdle(slot);
  }

  /** Starts to resume a paused slot that a tenant may use. Returns false if no such slot exists. */
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
    const deletion = this.#steps.deleteSnapshot(slot).then(() => {
      this.#deletions.delete(deletion);
      this.#hooks.changed();
    });
    this.#deletions.add(deletion);
    this.#makeIdle(slot);
  }

  /** Ends the slot that has been idle for longest. Returns false if no slot is idle. */
  evict(): boolean {
    const slot = this.idle.oldest;
    if (slot === undefined) return false;
    this.idle.remove(slot);
    this.#counters.add('evicted');
    this.#end(slot);
    return true;
  }

  /** Ends all unused slots now, and each used slot when its use ends. */
  close(): void {
    this.#closed = true;
    this.backoff.close();
    this.#endUnused();
  }

  /** Marks all present slots as lost, and ends the unused slots. */
  lost(): void {
    for (const slot of this.slots) slot.lost = true;
    this.#endUnused();
  }

  #endUnused(): void {
    for (const unused of [this.idle, this.paused]) {
      for (const slot of [...unused]) {
        unused.remove(slot);
        this.#end(slot);
      }
    }
  }

  #makeIdle(slot: Slot<R>): void {
    if (this.#closed || slot.lost) {
      this.#end(slot);
      return;
    }
    this.slots.move(slot, 'idle');
    this.idle.add(slot);
    this.#startIdleTimer(slot);
    this.#hooks.changed();
  }

  #startIdleTimer(slot: Slot<R>): void {
    this.#startTimer(slot, () => {
      if (this.#hooks.isSurplus(slot)) void this.#pause(slot);
      else this.#startIdleTimer(slot);
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
    // A paused slot is ended after `idleTimeoutMs`, which bounds the number of paused slots.
    this.#startTimer(slot, () => {
      this.paused.remove(slot);
      this.#counters.add('evicted');
      this.#end(slot);
    });
    this.#hooks.changed();
  }

  #startTimer(slot: Slot<R>, onEnd: () => void): void {
    slot.timer = setTimeout(onEnd, this.#rules.idleTimeoutMs);
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
      this.#remove(slot);
      this.#room = 'coming';
      this.#hooks.changed();
    });
  }

  #remove(slot: Slot<R>): void {
    if (this.slots.remove(slot)) this.#hooks.ownerLeft(slot.owner as string);
  }
}
