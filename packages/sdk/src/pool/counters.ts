// Counts the events of a pool. The counts of a tenant are kept only while the tenant has a slot or
// a waiting call. The number of tenants over time is unbounded.

/** The names of the events that a pool counts over its life. */
export const COUNTED_EVENTS = [
  'hits',
  'misses',
  'refused',
  'timeouts',
  'aborted',
  'failed',
  'created',
  'recycled',
  'replaced',
  'evicted',
  'pauses',
  'resumed',
  'errors',
] as const;
export type CountedEvent = (typeof COUNTED_EVENTS)[number];

/** The counts of one tenant. */
export interface TenantCounts {
  hits: number;
  misses: number;
}

/** The counts of one pool. */
export class Counters {
  readonly totals = Object.fromEntries(COUNTED_EVENTS.map((name) => [name, 0])) as Record<CountedEvent, number>;
  readonly #tenants = new Map<string, TenantCounts>();

  add(name: CountedEvent): void {
    this.totals[name]++;
  }

  /** Counts an admitted call of a tenant. `hit`: whether a slot was ready. */
  acquired(tenant: string, hit: boolean): void {
    const name = hit ? 'hits' : 'misses';
    this.add(name);
    const counts = this.#tenants.get(tenant) ?? { hits: 0, misses: 0 };
    counts[name]++;
    this.#tenants.set(tenant, counts);
  }

  /** The number of tenants with counts. */
  get tenants(): number {
    return this.#tenants.size;
  }

  of(tenant: string): TenantCounts {
    return this.#tenants.get(tenant) ?? { hits: 0, misses: 0 };
  }

  forget(tenant: string): void {
    this.#tenants.delete(tenant);
  }
}
