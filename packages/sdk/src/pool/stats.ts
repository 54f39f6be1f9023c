// What a pool tells of itself.

import type { Counters, TenantCounts } from './counters.js';
import type { Ledger } from './ledger.js';
import type { PoolableRuntime } from './poolable.js';
import type { FairQueue, Waiting } from './queue.js';
import type { SlotState } from './slot.js';

/** A pool at this moment, and what has happened in it so far. */
export interface PoolStats {
  /** Slots that may hold memory at a time. */
  readonly size: number;
  /** Slots that lie ready. */
  readonly idle: number;
  /** Slots that somebody has. */
  readonly busy: number;
  /** Slots that are being made, cleaned, paused, woken or ended. */
  readonly preparing: number;
  /** Slots on disk. */
  readonly paused: number;
  /** Calls that wait for a slot. */
  readonly waiting: number;
  /** Calls that found a slot ready. */
  readonly hits: number;
  /** Calls that were let in and did not: a slot was made, woken or waited for. */
  readonly misses: number;
  /** Calls that were not let in, or had to give way (`ERR_POOL_EXHAUSTED`). */
  readonly refused: number;
  /** Calls that waited for too long (`ERR_POOL_TIMEOUT`). */
  readonly timeouts: number;
  /** Calls whose signal aborted while they waited. */
  readonly aborted: number;
  /** Calls that waited in vain: no slot could be made, or the pool was disposed of. */
  readonly failed: number;
  /** Slots that were made. */
  readonly created: number;
  /** Rollbacks of used slots. */
  readonly recycled: number;
  /** Slots that were ended after use: their uses were over, what was done to them cannot be rolled back, or something was still under way. */
  readonly replaced: number;
  /** Slots that were ended without need: idle for too long, or to make room for another tenant. */
  readonly evicted: number;
  /** Slots that were put on disk. */
  readonly pauses: number;
  /** Slots that were woken from there. */
  readonly resumed: number;
  /** Steps of slots that failed. Each has cost a slot. */
  readonly errors: number;
  /** By tenant, of those that have a slot or wait for one. */
  readonly tenants: Readonly<Record<string, PoolTenantStats>>;
}

/** The part of one tenant. `hits` and `misses` count from when it had neither slots nor calls. */
export interface PoolTenantStats {
  readonly idle: number;
  readonly busy: number;
  readonly paused: number;
  readonly waiting: number;
  readonly hits: number;
  readonly misses: number;
}

type Numbers = { -readonly [name in keyof PoolTenantStats]: number };

/** Counts it all. */
export function statsOf<R extends PoolableRuntime>(
  size: number,
  slots: Ledger<R>,
  queue: FairQueue<Waiting>,
  counters: Counters,
): PoolStats {
  const count = (...states: SlotState[]): number => states.reduce((sum, state) => sum + slots.count(state), 0);
  return {
    size,
    idle: count('idle'),
    busy: count('busy'),
    preparing: count('making', 'cleaning', 'pausing', 'resuming', 'ending', 'forgetting'),
    paused: count('paused'),
    waiting: queue.size,
    ...counters.totals,
    tenants: tenantsOf(slots, queue, (tenant) => counters.of(tenant)),
  };
}

function tenantsOf<R extends PoolableRuntime>(
  slots: Ledger<R>,
  queue: FairQueue<Waiting>,
  counts: (tenant: string) => TenantCounts,
): Record<string, PoolTenantStats> {
  // No prototype: a tenant may have any name.
  const tenants: Record<string, Numbers> = Object.create(null);
  const of = (tenant: string): Numbers => {
    tenants[tenant] ??= { idle: 0, busy: 0, paused: 0, waiting: queue.count(tenant), ...counts(tenant) };
    return tenants[tenant];
  };
  for (const { owner, state } of slots) {
    if (owner === undefined) continue;
    const numbers = of(owner);
    if (state === 'idle' || state === 'busy' || state === 'paused') numbers[state]++;
  }
  for (const tenant of queue.tenants()) of(tenant);
  return tenants;
}
