// The replies to requests with the header `Idempotency-Key`. `sqlite.ts` opens the file.

import type { ReplyStore } from './registry.js';
import type { Store } from './sqlite.js';

/** Milliseconds for which a reply is kept. */
const KEPT_MS = 24 * 3_600_000;

/** The replies in a file of SQLite. */
export class SqliteReplies implements ReplyStore {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  get(tenant: string, key: string): string | undefined {
    const sql = 'SELECT sandbox_id AS id FROM replies WHERE tenant = ? AND key = ?';
    return (this.#store.database.prepare(sql).get(tenant, key) as { id: string } | undefined)?.id;
  }

  set(tenant: string, key: string, sandboxId: string, now: number): void {
    const { database } = this.#store;
    database.prepare('DELETE FROM replies WHERE at < ?').run(now - KEPT_MS);
    database
      .prepare('INSERT OR REPLACE INTO replies (tenant, key, sandbox_id, at) VALUES (?, ?, ?, ?)')
      .run(tenant, key, sandboxId, now);
  }
}
