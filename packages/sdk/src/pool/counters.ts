// What has happened in a pool, counted. Numbers of a tenant are kept while the pool has a slot of it or somebody waits for one: tenants come and go
// without end, and their names must not stay.

/** Everything that is counted over the life of a pool. */
export const COUNTED = [
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
export type Counted = (typeof COUNTED)[number];

/** What is counted for each tenant. */
export interface TenantCounts {
  hits: number;
  misses: number;
}

/** See the module. */
export class Counters {
  readonly totals = Object.fromEntries(COUNTED.map((name) => [name, 0])) as Record<Counted, number>;
  readonly #tenants = new Map<string, TenantCounts>();

  add(name: Counted): void {
    this.totals[name]++;
  }

  /** An acquire that was let in: whether a slot lay ready for it. */
  acquired(tenant: string, hit: boolean): void {
    const name = hit ? 'hits' : 'misses';
    this.add(name);
    const counts = this.#tenants.get(tenant) ?? { hits: 0, misses: 0 };
    counts[name]++;
    this.#tenants.set(tenant, counts);
  }

  /** Of how many tenants there are numbers. */
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
