// The public handle of a sidecar's snapshots. A tenant sees its own: what another one has is simply not there.

import { resolve } from 'node:path';
import { invalidOption } from '../errors/make.js';
import { acceptable, explain, type OptionSet } from '../options/check.js';
import { show } from '../options/show.js';
import { isName, type TenantOptions } from '../options/snapshots.js';
import type { Household } from '../sidecar/household.js';
import type { Snapshot } from './snapshot.js';

/** Something in the folder that is no snapshot, or no longer one. It is left alone. */
export interface DamagedSnapshot {
  readonly path: string;
  readonly reason: string;
}

/** What there is, the newest first; and what there was. */
export type SnapshotList = Snapshot[] & { readonly damaged: readonly DamagedSnapshot[] };

/** The snapshots that a sidecar keeps, in its memory and in its folder. An `id` may also be a digest or a name, which means the newest of that name. */
export class SnapshotStore {
  readonly #household: Household;
  readonly #tenant: string;
  readonly #assertAlive: () => void;

  /** @internal */
  constructor(household: Household, tenant: string, assertAlive: () => void = () => {}) {
    this.#household = household;
    this.#tenant = tenant;
    this.#assertAlive = assertAlive;
  }

  /**
   * All of them, the newest first. `damaged` of the list says what lies in the folder and cannot be used.
   *
   * @throws `ERR_INVALID_OPTION`, `ERR_SNAPSHOT_FILE`, `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`
   */
  async list(options?: TenantOptions): Promise<SnapshotList> {
    const { tenant } = await this.#checked('snapshots.list()', options);
    const { snapshots, damaged } = await this.#household.connection.snapshots.list(tenant);
    const { Snapshot } = await import('./snapshot.js');
    // The store gives the oldest first.
    const list = snapshots.reverse().map((wire) => new Snapshot(this.#household, wire));
    return Object.assign(list, { damaged });
  }

  /**
   * One of them. One that lies on disk is looked at, and not read.
   *
   * @throws `ERR_SNAPSHOT_NOT_FOUND`; otherwise as `list()`
   */
  async get(id: string, options?: TenantOptions): Promise<Snapshot> {
    const named = await this.#named('snapshots.get()', id, options);
    return this.#made(await this.#household.connection.snapshots.get(named));
  }

  /**
   * Removes one. Runtimes that came from it go on, and so do snapshots of those.
   *
   * @throws `ERR_SNAPSHOT_NOT_FOUND`; otherwise as `list()`
   */
  async delete(id: string, options?: TenantOptions): Promise<void> {
    const named = await this.#named('snapshots.delete()', id, options);
    await this.#household.connection.snapshots.delete(named);
  }

  /**
   * Writes one to a file of this machine. The file holds everything that was in the runtime's memory.
   *
   * @throws `ERR_SNAPSHOT_NOT_FOUND`, `ERR_SNAPSHOT_DAMAGED`; otherwise as `list()`
   */
  async export(id: string, path: string, options?: TenantOptions): Promise<void> {
    const named = await this.#named('snapshots.export()', id, options);
    checkFile('snapshots.export()', path);
    await this.#household.connection.snapshots.export({ ...named, path: resolve(path) });
  }

  /**
   * Takes one from such a file, for this tenant. What runs in it is whatever the file says: take files only from whom you would take a program for the sandbox.
   *
   * @throws `ERR_SNAPSHOT_DAMAGED`, `ERR_SNAPSHOT_FOREIGN`, `ERR_RESOURCE_EXHAUSTED`; otherwise as `list()`
   */
  async import(path: string, options?: TenantOptions): Promise<Snapshot> {
    const { tenant } = await this.#checked('snapshots.import()', options);
    checkFile('snapshots.import()', path);
    return this.#made(await this.#household.connection.snapshots.import({ tenant, path: resolve(path) }));
  }

  async #made(wire: ConstructorParameters<typeof Snapshot>[1]): Promise<Snapshot> {
    const { Snapshot } = await import('./snapshot.js');
    return new Snapshot(this.#household, wire);
  }

  async #named(set: OptionSet, id: string, options: TenantOptions | undefined): Promise<{ tenant: string; snapshot: string }> {
    const checked = await this.#checked(set, options);
    if (!isName(id)) {
      throw invalidOption(set, {
        option: 'id',
        expected: 'the id or name of a snapshot (1 to 200 characters)',
        received: show(id),
      });
    }
    return { ...checked, snapshot: id };
  }

  async #checked(set: OptionSet, options: TenantOptions | undefined): Promise<{ tenant: string }> {
    if (!acceptable(set, options)) await explain(set, options);
    this.#assertAlive();
    return { tenant: options?.tenant ?? this.#tenant };
  }
}

/** Throws unless `path` may be a file of this machine. */
export function checkFile(call: string, path: unknown): void {
  if (typeof path === 'string' && path !== '' && !path.includes('\0')) return;
  throw invalidOption(call, { option: 'path', expected: 'a file of this machine', received: show(path) });
}
