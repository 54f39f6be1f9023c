// The volumes of tenants. Each volume has a file of SQLite in a folder of the server.

import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { newTemplateId, newToken } from '../ids.js';
import type { VolumeRecord } from '../registry/records.js';
import type { NamedStore } from '../registry/registry.js';
import { SandboxFailure } from '../sandboxes/failure.js';
import { VolumeFiles, type VolumeLimits } from './volume-files.js';

/** The volumes of all tenants. */
export class Volumes {
  readonly #store: NamedStore<VolumeRecord>;
  readonly #folder: string;
  readonly #limits: VolumeLimits;
  readonly #open = new Map<string, VolumeFiles>();

  constructor(store: NamedStore<VolumeRecord>, folder: string, limits: VolumeLimits) {
    this.#store = store;
    this.#folder = folder;
    this.#limits = limits;
  }

  /** Opens the folder, and removes files of volumes that do not exist. */
  async start(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.#folder)) {
      const id = name.replace(/\.db(-wal|-shm)?$/, '');
      if (this.#store.get(id) === undefined) await rm(join(this.#folder, name), { force: true });
    }
  }

  /** Makes an empty volume. */
  add(tenant: string, name: string): VolumeRecord {
    const record = { id: newTemplateId(), tenant, name, token: newToken(), createdAt: Date.now() };
    if (!this.#store.add(record)) throw new SandboxFailure('name-taken', `A volume with the name ${name} exists`);
    return record;
  }

  /** Returns the volume of a tenant with an id. */
  find(tenant: string, id: string): VolumeRecord {
    const record = this.#store.get(id);
    if (record === undefined || record.tenant !== tenant) throw notFound(id);
    return record;
  }

  /** Returns the volume with an id of any tenant, or `undefined`. */
  get(id: string): VolumeRecord | undefined {
    return this.#store.get(id);
  }

  list(tenant: string): VolumeRecord[] {
    return this.#store.list(tenant);
  }

  /** Removes a volume with its files. Programs that use the volume get errors. */
  async remove(tenant: string, id: string): Promise<void> {
    this.find(tenant, id);
    this.#store.remove(id);
    this.#open.get(id)?.close();
    this.#open.delete(id);
    for (const end of ['.db', '.db-wal', '.db-shm']) await rm(join(this.#folder, id + end), { force: true });
  }

  /** Returns the files of a volume. */
  filesOf(id: string): VolumeFiles {
    const known = this.#open.get(id);
    if (known !== undefined) return known;
    if (this.#store.get(id) === undefined) throw notFound(id);
    const opened = new VolumeFiles(join(this.#folder, `${id}.db`), this.#limits);
    this.#open.set(id, opened);
    return opened;
  }

  /** Returns the files of the tenant's volume with a name. */
  fileSystemOf(tenant: string, name: string): VolumeFiles {
    const record = this.#store.named(tenant, name);
    if (record === undefined) throw notFound(name);
    return this.filesOf(record.id);
  }

  close(): void {
    for (const files of this.#open.values()) files.close();
  }
}

const notFound = (id: string): SandboxFailure => new SandboxFailure('volume-not-found', `The volume ${id} was not found`);
