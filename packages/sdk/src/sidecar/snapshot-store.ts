// The public handle of a sidecar's snapshots. A tenant sees only its own snapshots.

import { resolve } from 'node:path';
import type { Requester } from '../channel/sidecar-connection.js';
import { protocolError } from '../errors/make.js';
import { checkArgument, checkOptions, type OptionCall } from '../options/check.js';
import { HOST_FILE } from '../options/rule.js';
import { SNAPSHOT_ID, type TenantOptions } from '../options/snapshots.js';
import type { SnapshotEntries, SnapshotEntry } from '../protocol/generated/messages.js';
import type { SidecarLease } from './lease.js';
import type { Snapshot } from './snapshot.js';

/** A file in the store's folder that is no valid snapshot. The store does not change the file. */
export interface DamagedSnapshot {
  readonly path: string;
  readonly reason: string;
}

/** Snapshots, the newest first, and damaged files. */
export type SnapshotList = Snapshot[] & { readonly damaged: readonly DamagedSnapshot[] };

/**
 * The snapshots that a sidecar keeps in its memory and in its folder. An `id` may also be a digest
 * or a name. A name selects the newest snapshot with that name.
 */
export class SnapshotStore {
  readonly #lease: SidecarLease;
  readonly #tenant: string;

  /** @internal */
  constructor(lease: SidecarLease, tenant: string) {
    this.#lease = lease;
    this.#tenant = tenant;
  }

  /**
   * Returns all snapshots, the newest first. `damaged` of the list names files in the folder that
   * cannot be used.
   *
   * @throws `ERR_INVALID_OPTION`, `ERR_SNAPSHOT_FILE`, `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`
   */
  async list(options?: TenantOptions): Promise<SnapshotList> {
    const { tenant } = this.#checked('snapshots.list()', options);
    const { snapshots, damaged } = await allEntries(this.#lease.connection, tenant);
    const { Snapshot } = await import('./snapshot.js');
    // The sidecar returns the oldest snapshot first.
    const list = snapshots.reverse().map((entry) => new Snapshot(this.#lease, entry));
    return Object.assign(list, { damaged });
  }

  /**
   * Returns one snapshot. The content of a snapshot on disk is not read.
   *
   * @throws `ERR_SNAPSHOT_NOT_FOUND`; otherwise as `list()`
   */
  async get(id: string, options?: TenantOptions): Promise<Snapshot> {
    const named = this.#named('snapshots.get()', id, options);
    return this.#handleOf(await this.#lease.connection.request('snapshot.get', named));
  }

  /**
   * Deletes one snapshot. Runtimes that were restored from the snapshot continue, and their
   * snapshots stay.
   *
   * @throws `ERR_SNAPSHOT_NOT_FOUND`; otherwise as `list()`
   */
  async delete(id: string, options?: TenantOptions): Promise<void> {
    const named = this.#named('snapshots.delete()', id, options);
    await this.#lease.connection.request('snapshot.delete', named);
  }

  /**
   * Writes one snapshot to a file of the host machine. The file contains everything that was in the
   * runtime's memory.
   *
   * @throws `ERR_SNAPSHOT_NOT_FOUND`, `ERR_SNAPSHOT_DAMAGED`; otherwise as `list()`
   */
  async export(id: string, path: string, options?: TenantOptions): Promise<void> {
    const named = this.#named('snapshots.export()', id, options);
    checkArgument('snapshots.export()', 'path', HOST_FILE, path);
    await this.#lease.connection.request('snapshot.export', { ...named, path: resolve(path) });
  }

  /**
   * Reads a snapshot from a file for this tenant. The file contains the memory of the programs that
   * continue after a restore. Import a file only from a source whose programs you would run in the
   * sandbox.
   *
   * @throws `ERR_SNAPSHOT_DAMAGED`, `ERR_SNAPSHOT_FOREIGN`, `ERR_SNAPSHOT_EXISTS`,
   * `ERR_RESOURCE_EXHAUSTED`; otherwise as `list()`
   */
  async import(path: string, options?: TenantOptions): Promise<Snapshot> {
    const { tenant } = this.#checked('snapshots.import()', options);
    checkArgument('snapshots.import()', 'path', HOST_FILE, path);
    return this.#handleOf(await this.#lease.connection.request('snapshot.import', { tenant, path: resolve(path) }));
  }

  async #handleOf(entry: SnapshotEntry): Promise<Snapshot> {
    const { Snapshot } = await import('./snapshot.js');
    return new Snapshot(this.#lease, entry);
  }

  #named(call: OptionCall, id: string, options: TenantOptions | undefined): { tenant: string; snapshot: string } {
    const { tenant } = this.#checked(call, options);
    checkArgument(call, 'id', SNAPSHOT_ID, id);
    return { tenant, snapshot: id };
  }

  #checked(call: OptionCall, options: TenantOptions | undefined): { tenant: string } {
    checkOptions(call, options);
    return { tenant: options?.tenant ?? this.#tenant };
  }
}

// Returns all entries of a tenant. Requests the list page by page, because the entries may not fit
// into one frame.
async function allEntries(sidecar: Requester, tenant: string): Promise<Omit<SnapshotEntries, 'more'>> {
  const page = (last?: SnapshotEntry): Promise<SnapshotEntries> => {
    const after = last && { createdMs: last.createdMs, id: last.id };
    return sidecar.request('snapshot.list', { tenant, after });
  };
  const { snapshots, damaged, more } = await page();
  for (let isIncomplete = more; isIncomplete; ) {
    const next = await page(snapshots.at(-1));
    // An empty page with `more` would make an endless list.
    if (next.snapshots.length === 0) throw protocolError('reply.more is true, and the page is empty');
    snapshots.push(...next.snapshots);
    isIncomplete = next.more;
  }
  return { snapshots, damaged };
}
