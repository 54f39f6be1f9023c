// The named things of tenants in the registry: webhooks, volumes, secrets and keys. `sqlite.ts`
// opens the file.

import type { NamedStore } from './registry.js';
import type { Store } from './sqlite.js';

interface Row {
  id: string;
  tenant: string;
  name: string | null;
  created_at: number;
  digest: string | null;
  sealed: Uint8Array | null;
  fields: string;
}

/** A record that the table can have. */
interface Storable {
  id: string;
  tenant: string;
  name: string;
  createdAt: number;
  digest?: string;
  sealed?: Uint8Array;
}

/** Tenants whose lists are kept in memory. */
const KEPT_LISTS = 1_000;

/** The records of one kind in a file of SQLite. */
export class SqliteNamed<T extends Storable> implements NamedStore<T> {
  protected readonly store: Store;
  readonly #kind: string;
  /** The lists of tenants, because each event reads the webhooks of its tenant. */
  readonly #lists = new Map<string, readonly T[]>();

  constructor(store: Store, kind: string) {
    this.store = store;
    this.#kind = kind;
  }

  add(record: T): boolean {
    const { id, tenant, name, createdAt, digest, sealed, ...fields } = record as Storable;
    const sql = `INSERT OR IGNORE INTO named (kind, id, tenant, name, created_at, digest, sealed, fields)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
    const values = [this.#kind, id, tenant, name, createdAt, digest ?? null, sealed ?? null, JSON.stringify(fields)];
    this.#lists.clear();
    return this.store.durably(() => this.store.database.prepare(sql).run(...values).changes > 0);
  }

  get(id: string): T | undefined {
    return this.#one('kind = ? AND id = ?', [this.#kind, id]);
  }

  named(tenant: string, name: string): T | undefined {
    return this.#one('kind = ? AND tenant = ? AND name = ?', [this.#kind, tenant, name]);
  }

  change(id: string, change: Partial<T>): void {
    this.#lists.clear();
    this.store.durably(() => {
      const record = this.get(id);
      if (record === undefined) return;
      const { id: _, tenant: __, name, createdAt, digest, sealed, ...fields } = { ...record, ...change } as Storable;
      const sql = 'UPDATE named SET name = ?, sealed = ?, fields = ? WHERE kind = ? AND id = ?';
      this.store.database.prepare(sql).run(name, sealed ?? null, JSON.stringify(fields), this.#kind, id);
    });
  }

  remove(id: string): boolean {
    this.#lists.clear();
    const sql = 'DELETE FROM named WHERE kind = ? AND id = ?';
    return this.store.durably(() => this.store.database.prepare(sql).run(this.#kind, id).changes > 0);
  }

  list(tenant: string): T[] {
    const kept = this.#lists.get(tenant);
    if (kept !== undefined) return [...kept];
    const sql = 'SELECT * FROM named WHERE kind = ? AND tenant = ? ORDER BY created_at, id';
    const list = (this.store.database.prepare(sql).all(this.#kind, tenant) as Row[]).map((row) => recordOf<T>(row));
    if (this.#lists.size >= KEPT_LISTS) this.#lists.clear();
    this.#lists.set(tenant, list);
    return [...list];
  }

  #one(where: string, values: readonly string[]): T | undefined {
    const row = this.store.database.prepare(`SELECT * FROM named WHERE ${where}`).get(...values) as Row | undefined;
    return row === undefined ? undefined : recordOf<T>(row);
  }
}

/** The keys, which are found by their digest. */
export class SqliteKeys<T extends Storable> extends SqliteNamed<T> {
  byDigest(digest: string): T | undefined {
    const row = this.store.database.prepare('SELECT * FROM named WHERE digest = ?').get(digest) as Row | undefined;
    return row === undefined ? undefined : recordOf<T>(row);
  }
}

function recordOf<T>({ id, tenant, name, created_at: createdAt, digest, sealed, fields }: Row): T {
  return {
    ...JSON.parse(fields),
    id,
    tenant,
    name,
    createdAt,
    ...(digest === null ? {} : { digest }),
    ...(sealed === null ? {} : { sealed: new Uint8Array(sealed) }),
  };
}
