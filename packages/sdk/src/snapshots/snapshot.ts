// The public handle of a snapshot: what is known of it, and what can be done with it where it was taken or found. Next: `store.ts`.

import { resolve } from 'node:path';
import type { WireSnapshot } from '../channel/snapshots.js';
import type { Household } from '../sidecar/household.js';
import { remember } from './known.js';
import { checkFile } from './store.js';

/**
 * The state of a runtime at one moment: memory and processes, files, timers. It never changes; hand it to `NodeRuntime.create({ snapshot })` and
 * `runtime.rollback()` as often as you like. It ends with `delete()`, when its store needs room, and in memory with its sidecar: disposing of
 * the runtime does nothing to it.
 */
export class Snapshot {
  /** Its name in the store; another one for each that is taken. */
  readonly id: string;
  /** What it was called, if anything. */
  readonly name?: string;
  /** What was to be remembered of it. */
  readonly labels: Readonly<Record<string, string>>;
  /** Bytes that it has for itself, beyond the guest image. It may share them with others. */
  readonly size: number;
  /** The snapshot that came last before it in the life of its runtime, if one did: taken, gone back to, or come from. */
  readonly parent?: string;
  /** When it was taken. */
  readonly createdAt: Date;
  /** The content hash of the guest image that it needs. */
  readonly imageVersion: string;
  /** Whose it is. */
  readonly tenant: string;
  /** How many programs live in it. */
  readonly programs: number;
  readonly #household: Household;
  #stored: 'memory' | 'disk' | 'both';
  #digest: Promise<string> | undefined;

  /** @internal */
  constructor(household: Household, wire: WireSnapshot) {
    const { id, name, labels, size, parent, createdMs, image, tenant, programs, stored } = wire;
    this.id = id;
    if (name !== undefined) this.name = name;
    this.labels = Object.freeze(labels);
    this.size = size;
    if (parent !== undefined) this.parent = parent;
    this.createdAt = new Date(createdMs);
    this.imageVersion = image;
    this.tenant = tenant;
    this.programs = programs;
    this.#household = household;
    this.#stored = stored;
    remember(this, { household });
  }

  /** Where it lies, as far as is known here. */
  get stored(): 'memory' | 'disk' | 'both' {
    return this.#stored;
  }

  /**
   * SHA-256 of what it holds, in hex. It names the content: a file that is not what it was is refused. Computing it reads all of the snapshot, once.
   *
   * @throws `ERR_SNAPSHOT_NOT_FOUND`, `ERR_SNAPSHOT_DAMAGED`, `ERR_SNAPSHOT_FILE`, `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`
   */
  digest(): Promise<string> {
    if (this.#digest === undefined) {
      const digest = this.#household.connection.snapshots.digest(this.#named());
      digest.catch(() => {
        this.#digest = undefined;
      });
      this.#digest = digest;
    }
    return this.#digest;
  }

  /**
   * Writes it to the sidecar's folder, unless it is there, so that it outlives the sidecar and this process.
   *
   * @throws `ERR_SNAPSHOT_FILE`, `ERR_RESOURCE_EXHAUSTED` (`maxBytes`); otherwise as `digest()`
   */
  async persist(): Promise<void> {
    await this.#household.connection.snapshots.persist(this.#named());
    if (this.#stored === 'memory') this.#stored = 'both';
  }

  /**
   * Removes it, wherever it lies. Runtimes that came from it go on, and so do snapshots of those.
   *
   * @throws as `digest()`
   */
  async delete(): Promise<void> {
    await this.#household.connection.snapshots.delete(this.#named());
  }

  /**
   * Writes it to a file of this machine, which `snapshots.import()` takes, here or on another machine with the same release. The file holds
   * everything that was in the runtime's memory.
   *
   * @throws `ERR_INVALID_OPTION`, `ERR_SNAPSHOT_FILE`; otherwise as `digest()`
   */
  async export(path: string): Promise<void> {
    checkFile('export()', path);
    await this.#household.connection.snapshots.export({ ...this.#named(), path: resolve(path) });
  }

  #named(): { tenant: string; snapshot: string } {
    return { tenant: this.tenant, snapshot: this.id };
  }
}
