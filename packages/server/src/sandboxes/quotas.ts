// The bounds of tenants: sandboxes, paused sandboxes, templates, and new sandboxes in a second.

import type { Registry } from '../registry/registry.js';
import { SandboxFailure } from './failure.js';

/** The bounds of one tenant. Without a bound, only the machine limits the tenant. */
export interface Quota {
  /** Running sandboxes at a time. */
  sandboxes?: number | undefined;
  /** Paused sandboxes. */
  paused?: number | undefined;
  /** Templates and snapshots. */
  templates?: number | undefined;
  /** Volumes. */
  volumes?: number | undefined;
  /** New sandboxes in a second. A burst may have as many as two seconds. */
  createsPerSecond?: number | undefined;
}

/** The bounds of all tenants. */
export class Quotas {
  readonly #registry: Registry;
  readonly #byTenant: Readonly<Record<string, Quota>>;
  /** Sandboxes that are being made. */
  readonly #pending = new Map<string, number>();
  readonly #rates = new Map<string, { left: number; at: number }>();

  constructor(registry: Registry, byTenant: Readonly<Record<string, Quota>>) {
    this.#registry = registry;
    this.#byTenant = byTenant;
  }

  /** Returns the bounds of a tenant. */
  of(tenant: string): Quota {
    return Object.hasOwn(this.#byTenant, tenant) ? (this.#byTenant[tenant] as Quota) : {};
  }

  /** Runs `make`, which makes `count` running sandboxes, if the tenant may have them. */
  async admit<T>(tenant: string, count: number, make: () => Promise<T>): Promise<T> {
    const { sandboxes, createsPerSecond } = this.of(tenant);
    const pending = this.#pending.get(tenant) ?? 0;
    if (sandboxes !== undefined && this.#registry.sandboxes.count(tenant).running + pending + count > sandboxes) {
      throw over('running sandboxes', sandboxes);
    }
    if (createsPerSecond !== undefined) this.#take(tenant, count, createsPerSecond);
    this.#pending.set(tenant, pending + count);
    try {
      return await make();
    } finally {
      const left = (this.#pending.get(tenant) as number) - count;
      if (left === 0) this.#pending.delete(tenant);
      else this.#pending.set(tenant, left);
    }
  }

  /** Fails if the tenant may not pause a further sandbox. */
  checkPaused(tenant: string): void {
    const { paused } = this.of(tenant);
    if (paused !== undefined && this.#registry.sandboxes.count(tenant).paused >= paused) throw over('paused sandboxes', paused);
  }

  /** Fails if the tenant may not have a further template or snapshot. */
  checkTemplates(tenant: string): void {
    const { templates } = this.of(tenant);
    if (templates !== undefined && this.#registry.templates.count(tenant) >= templates) throw over('templates', templates);
  }

  /** Fails if the tenant may not have a further volume. */
  checkVolumes(tenant: string): void {
    const { volumes } = this.of(tenant);
    if (volumes !== undefined && this.#registry.volumes.list(tenant).length >= volumes) throw over('volumes', volumes);
  }

  #take(tenant: string, count: number, perSecond: number): void {
    const now = performance.now();
    const { left, at } = this.#rates.get(tenant) ?? { left: 2 * perSecond, at: now };
    const refilled = Math.min(2 * perSecond, left + ((now - at) / 1_000) * perSecond);
    if (refilled < count) throw over('new sandboxes in a second', perSecond);
    this.#rates.set(tenant, { left: refilled - count, at: now });
  }
}

const over = (what: string, most: number): SandboxFailure =>
  new SandboxFailure('quota', `The tenant may have at most ${most} ${what}`);
