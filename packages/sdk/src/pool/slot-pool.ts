// A pool of equal runtimes of any class: admits calls, queues calls that wait for a slot, and ends
// the pool. `slot-lifecycle.ts` has the transitions of slots, and `scheduler.ts` assigns slots to
// calls.

import { poolDisposed, poolExhausted, poolTimeout } from '../errors/make.js';
import { holdEventLoop, releaseEventLoop } from '../event-loop.js';
import { type CountedEvent, Counters } from './counters.js';
import { FairQueue } from './fair-queue.js';
import { Lease } from './lease.js';
import { lend } from './lent-runtime.js';
import { Scheduler, type SchedulerRules } from './scheduler.js';
import { type LifecycleRules, SlotLifecycle } from './slot-lifecycle.js';
import type { Loss, PoolableRuntime, SlotSource } from './slot-source.js';
import type { Slot } from './slots.js';
import { type PoolStats, statsOf } from './stats.js';
import { Waiter } from './waiter.js';

/** All rules of a pool. */
export interface PoolRules extends LifecycleRules, SchedulerRules {
  /** Milliseconds that a call may wait for a slot. */
  acquireTimeoutMs: number;
  /** Calls that may be admitted beyond `size` calls. */
  maxWaiting: number;
}

/** The options of one call. */
export interface AcquireRequest {
  tenant?: string;
  signal?: AbortSignal;
}

/** A pool. */
export class SlotPool<R extends PoolableRuntime> {
  readonly #rules: PoolRules;
  readonly #source: SlotSource<R>;
  readonly #counters = new Counters();
  readonly #queue = new FairQueue<Waiter<Lease<R>>>();
  readonly #lifecycle: SlotLifecycle<R>;
  readonly #scheduler: Scheduler<R, Waiter<Lease<R>>>;
  readonly #leases = new Set<Lease<R>>();
  #state: 'open' | 'draining' | 'disposed' = 'open';
  /** The error of the last slot that could not be made. */
  #lastFailure: unknown;
  /** The error after which the pool can make no slot. */
  #finalFailure: unknown;
  #refill: NodeJS.Immediate | undefined;
  #handlingLoss: Promise<void> | undefined;
  #isRunning = false;
  #onEmpty: (() => void)[] = [];
  #disposal: Promise<void> | undefined;

  constructor(source: SlotSource<R>, rules: PoolRules) {
    this.#source = source;
    this.#rules = rules;
    this.#lifecycle = new SlotLifecycle(source, rules, this.#counters, {
      changed: () => this.#run(),
      failed: (error) => this.#failed(error),
      isSurplus: (slot) => this.#scheduler.isSurplus(slot),
      ownerLeft: (tenant) => this.#forget(tenant),
    });
    this.#scheduler = new Scheduler(this.#lifecycle, this.#queue, rules, (waiter, slot) => waiter.resolve(this.#leaseOf(slot)));
    this.#run();
  }

  /** Returns the lease of a slot that the tenant may use. Waits until a slot is free. */
  async acquire({ tenant = this.#rules.tenant, signal }: AcquireRequest = {}): Promise<Lease<R>> {
    const handlingLoss = this.#checkLoss();
    if (handlingLoss !== undefined) await handlingLoss;
    signal?.throwIfAborted();
    if (this.#state !== 'open') throw poolDisposed(this.#state === 'draining');
    if (this.#finalFailure !== undefined) throw this.#finalFailure;
    // The usual and fast case: no call waits, and a slot is ready.
    const slot = this.#queue.size === 0 ? this.#lifecycle.take(tenant) : undefined;
    if (slot === undefined) return this.#wait(tenant, signal);
    this.#counters.acquired(tenant, true);
    this.#refillLater();
    return this.#leaseOf(slot);
  }

  #wait(tenant: string, signal: AbortSignal | undefined): Promise<Lease<R>> {
    this.#admit(tenant);
    const waiter = new Waiter<Lease<R>>(tenant);
    this.#queue.push(waiter);
    this.#run();
    const isWaiting = this.#queue.has(waiter);
    this.#counters.acquired(tenant, !isWaiting);
    if (isWaiting) this.#limit(waiter, signal);
    return waiter.outcome;
  }

  stats(): PoolStats {
    return statsOf(this.#rules.size, this.#lifecycle.slots, this.#queue, this.#counters);
  }

  /** Returns the number of tenants whose events the pool counts. */
  get countedTenants(): number {
    return this.#counters.tenants;
  }

  /**
   * Refuses new calls. Resolves when all admitted calls have released their slots and no slot is
   * left.
   */
  drain(): Promise<void> {
    if (this.#state === 'open') this.#state = 'draining';
    return new Promise((resolve) => {
      this.#onEmpty.push(resolve);
      this.#run();
    });
  }

  /**
   * Refuses new and waiting calls. Revokes slots that are in use after `timeoutMs`. Then closes the
   * source.
   */
  dispose(timeoutMs: number): Promise<void> {
    this.#disposal ??= this.#dispose(timeoutMs);
    return this.#disposal;
  }

  async #dispose(timeoutMs: number): Promise<void> {
    this.#state = 'disposed';
    this.#rejectAll(poolDisposed(false));
    this.#source.abandon(poolDisposed(false));
    const deadline = setTimeout(() => {
      for (const lease of [...this.#leases]) lease.revoke(poolDisposed(false));
    }, timeoutMs);
    await this.drain();
    clearTimeout(deadline);
    await this.#source.close();
  }

  // Admits a call if fewer than `size + maxWaiting` calls are admitted. Otherwise the tenant with
  // the most waiting calls loses its newest call, or the new call fails with `ERR_POOL_EXHAUSTED`.
  #admit(tenant: string): void {
    const { size, maxWaiting } = this.#rules;
    if (this.#queue.size + this.#lifecycle.slots.count('busy') < size + maxWaiting) return;
    const other = this.#queue.yieldingTo(tenant);
    if (other === undefined) {
      this.#counters.add('refused');
      throw this.#exhausted(tenant);
    }
    this.#giveUp(other, 'refused', this.#exhausted(other.tenant));
  }

  #exhausted(tenant: string): Error {
    return poolExhausted({ ...this.#facts(tenant), maxWaiting: this.#rules.maxWaiting });
  }

  #facts(tenant: string): { tenant: string; size: number; busy: number; waiting: number } {
    return { tenant, size: this.#rules.size, busy: this.#lifecycle.slots.count('busy'), waiting: this.#queue.size };
  }

  #limit(waiter: Waiter<Lease<R>>, signal: AbortSignal | undefined): void {
    const timeoutMs = this.#rules.acquireTimeoutMs;
    const onTimeout = (): void => {
      const cause = this.#lifecycle.backoff.isFailing ? this.#lastFailure : undefined;
      this.#giveUp(waiter, 'timeouts', poolTimeout({ timeoutMs, ...this.#facts(waiter.tenant) }, cause));
    };
    waiter.limit(timeoutMs, onTimeout, signal, () => this.#giveUp(waiter, 'aborted', signal?.reason));
  }

  #giveUp(waiter: Waiter<Lease<R>>, event: CountedEvent, reason: unknown): void {
    if (!this.#queue.remove(waiter)) return;
    this.#counters.add(event);
    waiter.reject(reason);
    this.#forget(waiter.tenant);
    this.#run();
  }

  #rejectAll(error: unknown): void {
    for (const waiter of [...this.#queue.inTurn()]) {
      this.#queue.remove(waiter);
      this.#counters.add('failed');
      waiter.reject(error);
      this.#forget(waiter.tenant);
    }
  }

  #leaseOf(slot: Slot<R>): Lease<R> {
    const lent = lend(slot.runtime as R, slot.owner as string, this.#source);
    const lease = new Lease(lent, (isReusable) => {
      this.#leases.delete(lease);
      this.#lifecycle.release(slot, isReusable);
    });
    this.#leases.add(lease);
    return lease;
  }

  // Waiting calls keep waiting while slots are in use and will be released, or while lost slots are
  // made again. If the pool has no slot, the next attempt would probably fail too, so the calls
  // fail now.
  #failed(error: unknown): void {
    this.#lastFailure = error;
    if (this.#checkLoss() !== undefined) return;
    const { slots } = this.#lifecycle;
    if (slots.mapped === slots.count('ending')) this.#rejectAll(error);
  }

  // Checks for a loss before a slot is granted, because the user of a lost slot would get errors.
  #checkLoss(): Promise<void> | undefined {
    const loss = this.#handlingLoss === undefined ? this.#source.lost() : undefined;
    if (loss === undefined) return this.#handlingLoss;
    this.#lifecycle.lost();
    this.#handlingLoss = this.#handleLoss(loss);
    return this.#handlingLoss;
  }

  async #handleLoss(loss: Promise<Loss>): Promise<void> {
    const { error, final } = await loss;
    this.#handlingLoss = undefined;
    if (final) {
      this.#finalFailure = error;
      this.#rejectAll(error);
    }
    this.#run();
  }

  #forget(tenant: string): void {
    if (!this.#lifecycle.slots.hasOwner(tenant) && this.#queue.count(tenant) === 0) this.#counters.forget(tenant);
  }

  // Assigns slots and fills the reserve. Runs after every event.
  #run(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    if (this.#finalFailure === undefined) this.#scheduler.serve();
    this.#isRunning = false;
    if (this.#state === 'open') this.#refillLater();
    else if (this.#queue.size === 0) this.#end();
    this.#holdWhileDraining();
  }

  // A slot that is being made may wait for the app's `prepare`, and the deadline of that wait does
  // not keep the event loop alive. Without a hold, the process could end before `drain()` resolves.
  #holdWhileDraining(): void {
    if (this.#onEmpty.length > 0 && this.#lifecycle.slots.count('making') > 0) holdEventLoop(this);
    else releaseEventLoop(this);
  }

  // Ends every unused slot of a draining pool. When no slot is left, resolves the promises of
  // `drain()`.
  #end(): void {
    this.#lifecycle.close();
    if (!this.#lifecycle.isEmpty) return;
    for (const onEmpty of this.#onEmpty.splice(0)) onEmpty();
  }

  // Fills the reserve in a later turn, so that the user of a granted slot runs first.
  #refillLater(): void {
    if (this.#finalFailure !== undefined || this.#refill !== undefined || !this.#scheduler.isLacking) return;
    this.#refill = setImmediate(() => {
      this.#refill = undefined;
      if (this.#state === 'open' && this.#finalFailure === undefined) this.#scheduler.refill();
    });
    this.#refill.unref();
  }
}
