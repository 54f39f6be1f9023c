// A pool of runtimes that are all alike, whatever they are: who may come in, who waits, and the end of it all. The rules for slots are in `keeper.ts`,
// those for who gets one in `scheduler.ts`.

import { poolDisposed, poolExhausted, poolTimeout } from '../errors/make.js';
import { type Counted, Counters } from './counters.js';
import { guard } from './guard.js';
import { Keeper, type KeeperRules } from './keeper.js';
import { Lease } from './lease.js';
import type { Loss, PoolableRuntime, SlotSource } from './poolable.js';
import { FairQueue } from './queue.js';
import { Scheduler, type SchedulerRules } from './scheduler.js';
import type { Slot } from './slot.js';
import { type PoolStats, statsOf } from './stats.js';
import { Waiter } from './waiter.js';

/** All rules of a pool. */
export interface PoolRules extends KeeperRules, SchedulerRules {
  /** How long a call may wait for a slot. */
  acquireTimeoutMs: number;
  /** How many calls may wait beyond those for whom there is room. */
  maxWaiting: number;
}

/** What a call wants. */
export interface Wish {
  tenant?: string;
  signal?: AbortSignal;
}

/** See the module. */
export class SlotPool<R extends PoolableRuntime> {
  readonly #rules: PoolRules;
  readonly #source: SlotSource<R>;
  readonly #counters = new Counters();
  readonly #queue = new FairQueue<Waiter<Lease<R>>>();
  readonly #keeper: Keeper<R>;
  readonly #scheduler: Scheduler<R, Waiter<Lease<R>>>;
  readonly #leases = new Set<Lease<R>>();
  #state: 'open' | 'draining' | 'disposed' = 'open';
  // Why no slot could be made the last time; why none can be made ever again.
  #trouble: unknown;
  #broken: unknown;
  #refill: NodeJS.Immediate | undefined;
  #mourning: Promise<void> | undefined;
  #running = false;
  #ended: (() => void)[] = [];
  #disposal: Promise<void> | undefined;

  constructor(source: SlotSource<R>, rules: PoolRules) {
    this.#source = source;
    this.#rules = rules;
    this.#keeper = new Keeper(source, rules, this.#counters, {
      changed: () => this.#run(),
      failed: (error) => this.#failed(error),
      surplus: (slot) => this.#scheduler.surplus(slot),
      left: (tenant) => this.#forget(tenant),
    });
    this.#scheduler = new Scheduler(this.#keeper, this.#queue, rules, (waiter, slot) => waiter.resolve(this.#lend(slot)));
    this.#run();
  }

  /** A slot of the tenant's, now or when there is one. */
  async acquire({ tenant = this.#rules.tenant, signal }: Wish = {}): Promise<Lease<R>> {
    const mourning = this.#look();
    if (mourning !== undefined) await mourning;
    signal?.throwIfAborted();
    if (this.#state !== 'open') throw poolDisposed(this.#state === 'draining');
    if (this.#broken !== undefined) throw this.#broken;
    // The usual case, and quick: nobody waits, and a slot lies ready.
    const slot = this.#queue.size === 0 ? this.#keeper.take(tenant) : undefined;
    if (slot === undefined) return this.#wait(tenant, signal);
    this.#counters.acquired(tenant, true);
    this.#refillLater();
    return this.#lend(slot);
  }

  #wait(tenant: string, signal: AbortSignal | undefined): Promise<Lease<R>> {
    this.#admit(tenant);
    const waiter = new Waiter<Lease<R>>(tenant);
    this.#queue.push(waiter);
    this.#run();
    const waits = this.#queue.has(waiter);
    this.#counters.acquired(tenant, !waits);
    if (waits) this.#limit(waiter, signal);
    return waiter.outcome;
  }

  stats(): PoolStats {
    return statsOf(this.#rules.size, this.#keeper.slots, this.#queue, this.#counters);
  }

  /** How many tenants it knows anything of. */
  get remembered(): number {
    return this.#counters.tenants;
  }

  /** Lets nobody in any more. Resolves when those who were let in have been served and are done, and no slot is left. */
  drain(): Promise<void> {
    if (this.#state === 'open') this.#state = 'draining';
    return new Promise((resolve) => {
      this.#ended.push(resolve);
      this.#run();
    });
  }

  /** The same, but those who wait are refused, and those who are not done in `timeoutMs` lose their slots. Then the source is closed. */
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

  // At most `maxWaiting` more than there can be slots for. A full queue is shared among tenants.
  #admit(tenant: string): void {
    const { size, maxWaiting } = this.#rules;
    if (this.#queue.size + this.#keeper.slots.count('busy') < size + maxWaiting) return;
    const other = this.#queue.toYield(tenant);
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
    return { tenant, size: this.#rules.size, busy: this.#keeper.slots.count('busy'), waiting: this.#queue.size };
  }

  #limit(waiter: Waiter<Lease<R>>, signal: AbortSignal | undefined): void {
    const timeoutMs = this.#rules.acquireTimeoutMs;
    const tooLate = (): void => {
      const cause = this.#keeper.backoff.failing ? this.#trouble : undefined;
      this.#giveUp(waiter, 'timeouts', poolTimeout({ timeoutMs, ...this.#facts(waiter.tenant) }, cause));
    };
    waiter.limit(timeoutMs, tooLate, signal, () => this.#giveUp(waiter, 'aborted', signal?.reason));
  }

  #giveUp(waiter: Waiter<Lease<R>>, counted: Counted, reason: unknown): void {
    if (!this.#queue.remove(waiter)) return;
    this.#counters.add(counted);
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

  #lend(slot: Slot<R>): Lease<R> {
    const lease = new Lease(guard(slot.runtime as R, slot.owner as string, this.#source), (fit) => {
      this.#leases.delete(lease);
      this.#keeper.giveBack(slot, fit);
    });
    this.#leases.add(lease);
    return lease;
  }

  // While others have slots that will come back, those who wait go on waiting; and so they do when all is gone and made anew. With no slot at all they
  // would wait for the next attempt to fail.
  #failed(error: unknown): void {
    this.#trouble = error;
    if (this.#look() !== undefined) return;
    const { slots } = this.#keeper;
    if (slots.mapped === slots.count('ending')) this.#rejectAll(error);
  }

  // Whether the runtimes are still there, asked before one is handed out: a slot that is dead is worse than none.
  #look(): Promise<void> | undefined {
    const loss = this.#mourning === undefined ? this.#source.lost() : undefined;
    if (loss === undefined) return this.#mourning;
    this.#keeper.lost();
    this.#mourning = this.#mourn(loss);
    return this.#mourning;
  }

  async #mourn(loss: Promise<Loss>): Promise<void> {
    const { error, final } = await loss;
    this.#mourning = undefined;
    if (final) {
      this.#broken = error;
      this.#rejectAll(error);
    }
    this.#run();
  }

  #forget(tenant: string): void {
    if (!this.#keeper.slots.owns(tenant) && this.#queue.count(tenant) === 0) this.#counters.forget(tenant);
  }

  // After everything that happens.
  #run(): void {
    if (this.#running) return;
    this.#running = true;
    if (this.#broken === undefined) this.#scheduler.serve();
    this.#running = false;
    if (this.#state === 'open') this.#refillLater();
    else if (this.#queue.size === 0) this.#end();
  }

  // Everybody has been served: what comes to rest ends.
  #end(): void {
    this.#keeper.close();
    if (!this.#keeper.empty) return;
    for (const ended of this.#ended.splice(0)) ended();
  }

  // Not now: whoever has just got a slot comes first.
  #refillLater(): void {
    if (this.#broken !== undefined || this.#refill !== undefined || !this.#scheduler.lacking) return;
    this.#refill = setImmediate(() => {
      this.#refill = undefined;
      if (this.#state === 'open' && this.#broken === undefined) this.#scheduler.refill();
    });
    this.#refill.unref();
  }
}
