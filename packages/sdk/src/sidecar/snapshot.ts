// The public handle of a snapshot. Next: `snapshot-store.ts`, all snapshots of a sidecar.

import { resolve } from 'node:path';
import { checkArgument } from '../options/check.js';
import { HOST_FILE } from '../options/rule.js';
import type { SnapshotEntry } from '../protocol/generated/messages.js';
import type { SidecarLease } from './lease.js';
import { registerSnapshot } from './snapshot-origin.js';

/**
 * The state of a runtime at one point in time: memory and processes, files, timers. A snapshot
 * never changes. A snapshot can be passed to `NodeRuntime.create({ snapshot })` and
 * `runtime.rollback()` any number of times. The snapshot exists until `delete()`, until the store
 * evicts the snapshot, or, in memory, until its sidecar ends. Disposing the runtime does not affect
 * the snapshot.
 */
export class Snapshot {
  /** The unique id in the store. */
  readonly id: string;
  /** The name, if any. */
  readonly name?: string;
  /** The labels that the app set. */
  readonly labels: Readonly<Record<string, string>>;
  /** The size in bytes without the guest image. Other snapshots may share some of these bytes. */
  readonly size: number;
  /** The id of the previous snapshot in the runtime's life: taken, rolled back to, or restored. */
  readonly parent?: string;
  /** The time at which the snapshot was taken. */
  readonly createdAt: Date;
  /** The content hash of the guest image that the snapshot needs. */
  readonly imageVersion: string;
  /** The owner of the snapshot. */
  readonly tenant: string;
  /** The number of live programs in the snapshot. */
  readonly programs: number;
  /** The place of the snapshot when the handle was made, or after `persist()`. */
  readonly stored: 'memory' | 'disk' | 'both';
  readonly #lease: SidecarLease;
  #digest: Promise<string> | undefined;

  /** @internal */
  constructor(lease: SidecarLease, entry: SnapshotEntry) {
    const { id, name, labels, size, parent, createdMs, image, tenant, programs, stored } = entry;
    this.id = id;
    if (name !== undefined) this.name = name;
    this.labels = Object.freeze(labels);
    this.size = size;
    if (parent !== undefined) this.parent = parent;
    this.createdAt = new Date(createdMs);
    this.imageVersion = image;
    this.tenant = tenant;
    this.programs = programs;
    this.stored = stored;
    this.#lease = lease;
    registerSnapshot(this, lease);
  }

  /**
   * Returns the SHA-256 of the content in hex. Every call that accepts an id accepts the digest
   * too, and refuses a snapshot whose content has another digest. The first call reads the whole
   * snapshot.
   *
   * @throws `ERR_SNAPSHOT_NOT_FOUND`, `ERR_SNAPSHOT_DAMAGED`, `ERR_SNAPSHOT_FILE`,
   * `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`
   */
  digest(): Promise<string> {
    if (this.#digest === undefined) {
      const request = this.#lease.connection.request('snapshot.digest', this.#named());
      const digest = request.then((reply) => reply.digest);
      digest.catch(() => {
        this.#digest = undefined;
      });
      this.#digest = digest;
    }
    return this.#digest;
  }

  /**
   * Writes the snapshot to the sidecar's folder, unless the folder contains the snapshot. The
   * snapshot then outlives the sidecar and this process.
   *
   * @throws `ERR_SNAPSHOT_FILE`, `ERR_RESOURCE_EXHAUSTED` (`maxBytes`); otherwise as `digest()`
   */
  async persist(): Promise<void> {
    await this.#lease.connection.request('snapshot.persist', this.#named());
    if (this.stored === 'memory') Object.assign(this, { stored: 'both' });
  }

  /**
   * Deletes the snapshot from memory and disk. Runtimes that were restored from the snapshot
   * continue, and their snapshots stay.
   *
   * @throws as `digest()`
   */
  async delete(): Promise<void> {
    await this.#lease.connection.request('snapshot.delete', this.#named());
  }

  /**
   * Writes the snapshot to a file of the host machine. `snapshots.import()` reads the file, on this
   * machine or on another machine with the same release. The file contains everything that was in
   * the runtime's memory.
   *
   * @throws `ERR_INVALID_OPTION`, `ERR_SNAPSHOT_FILE`; otherwise as `digest()`
   */
  async export(path: string): Promise<void> {
    checkArgument('export()', 'path', HOST_FILE, path);
    await this.#lease.connection.request('snapshot.export', { ...this.#named(), path: resolve(path) });
  }

  #named(): { tenant: string; snapshot: string } {
    return { tenant: this.tenant, snapshot: this.id };
  }
}
