// The statistics of a pool.

import type { Counters, TenantCounts } from './counters.js';
import type { FairQueue, WaitingCall } from './fair-queue.js';
import type { PoolableRuntime } from './slot-source.js';
import type { SlotState, SlotTable } from './slots.js';

/** The present state of a pool, and the events so far. */
export interface PoolStats {
  /** The largest number of slots that use memory at a time: the option `size`. */
  readonly size: number;
  /** Slots that are ready. */
  readonly idle: number;
  /** Slots in use. */
  readonly busy: number;
  /** Slots that are being made, cleaned, paused, resumed or ended. */
  readonly preparing: number;
  /** Slots on disk. */
  readonly paused: number;
  /** Calls that wait for a slot. */
  readonly waiting: number;
  /** Calls that found a slot ready. */
  readonly hits: number;
  /** Admitted calls that waited, because no slot was ready. */
  readonly misses: number;
  /** Calls that were not admitted, or lost their place in the queue (`ERR_POOL_EXHAUSTED`). */
  readonly refused: number;
  /** Calls that waited for too long (`ERR_POOL_TIMEOUT`). */
  readonly timeouts: number;
  /** Calls whose signal aborted while they waited. */
  readonly aborted: number;
  /** Calls that failed while they waited: no slot could be made, or the pool was disposed. */
  readonly failed: number;
  /** Slots that were made. */
  readonly created: number;
  /** Rollbacks of used slots. */
  readonly recycled: number;
  /**
   * Slots that were ended after use: after `reuse` uses, after a change that a rollback does not
   * undo, or with pending work. Slots whose runtime or sidecar has ended count too.
   */
  readonly replaced: number;
  /**
   * Slots that were ended while unused: after `idleTimeoutMs` on disk, or so that another tenant
   * could have a slot.
   */
  readonly evicted: number;
  /** Slots that were paused. */
  readonly pauses: number;
  /** Slots that were resumed. */
  readonly resumed: number;
  /** Failed steps of slots, such as a creation, a rollback, or the deletion of a snapshot. */
  readonly errors: number;
  /** The numbers of each tenant that has a slot or a waiting call. */
  readonly tenants: Readonly<Record<string, PoolTenantStats>>;
}

/** The numbers of one tenant. `hits` and `misses` restart after a time without slots and calls. */
export interface PoolTenantStats {
  readonly idle: number;
  readonly busy: number;
  readonly paused: number;
  readonly waiting: number;
  readonly hits: number;
  readonly misses: number;
}

type MutableTenantStats = { -readonly [name in keyof PoolTenantStats]: number };

/** Returns the numbers of a pool. */
export function statsOf<R extends PoolableRuntime>(
  size: number,
  slots: SlotTable<R>,
  queue: FairQueue<WaitingCall>,
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
  slots: SlotTable<R>,
  queue: FairQueue<WaitingCall>,
  counts: (tenant: string) => TenantCounts,
): Record<string, PoolTenantStats> {
  // The object has no prototype, because a tenant may have the name of an inherited property.
  const tenants: Record<string, MutableTenantStats> = Object.create(null);
  const of = (tenant: string): MutableTenantStats => {
    tenants[tenant] ??= { idle: 0, busy: 0, paused: 0, waiting: queue.count(tenant), ...counts(tenant) };
    return tenants[tenant];
  };
  for (const { owner, state } of slots) {
    if (owner === undefined) continue;
    const stats = of(owner);
    if (state === 'idle' || state === 'busy' || state === 'paused') stats[state]++;
  }
  for (const tenant of queue.tenants()) of(tenant);
  return tenants;
}
