// The events of the registry. `sqlite.ts` opens the file.

import type Database from 'libsql';
import type { EventRecord } from './records.js';
import type { EventQuery, EventStore } from './registry.js';
import type { Store } from './sqlite.js';

/** The newest events that are kept. */
const KEPT = 100_000;
const PRUNE_EVERY = 1_000;

interface Row {
  sequence: number;
  id: string;
  tenant: string;
  type: string;
  sandbox_id: string;
  fields: string;
}

/** The events in a file of SQLite. */
export class SqliteEvents implements EventStore {
  readonly #store: Store;
  readonly #insert: Database.Statement;

  constructor(store: Store) {
    this.#store = store;
    this.#insert = store.database.prepare('INSERT INTO events (id, tenant, type, sandbox_id, fields) VALUES (?, ?, ?, ?, ?)');
  }

  append({ id, tenant, type, sandboxId, ...fields }: Omit<EventRecord, 'sequence'>): number {
    const sequence = Number(this.#insert.run(id, tenant, type, sandboxId, JSON.stringify(fields)).lastInsertRowid);
    if (sequence % PRUNE_EVERY === 0) {
      this.#store.database.prepare('DELETE FROM events WHERE sequence <= ?').run(sequence - KEPT);
    }
    return sequence;
  }

  list({ tenant, sandboxId, after, types, order, offset, limit }: EventQuery): EventRecord[] {
    const where = ['tenant = ?'];
    const values: (string | number)[] = [tenant];
    if (sandboxId !== undefined) {
      where.push('sandbox_id = ?');
      values.push(sandboxId);
    }
    if (after !== undefined) {
      where.push('sequence > ?');
      values.push(after);
    }
    if (types !== undefined) {
      where.push(`type IN (${types.map(() => '?').join(', ')})`);
      values.push(...types);
    }
    const sql = `SELECT * FROM events WHERE ${where.join(' AND ')} ORDER BY sequence ${order} LIMIT ? OFFSET ?`;
    return (this.#store.database.prepare(sql).all(...values, limit, offset) as Row[]).map(recordOf);
  }
}

function recordOf({ sequence, id, tenant, type, sandbox_id: sandboxId, fields }: Row): EventRecord {
  return { ...JSON.parse(fields), sequence, id, tenant, type, sandboxId };
}
