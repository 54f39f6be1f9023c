// The sandboxes of the registry. `sqlite.ts` opens the file.

import type Database from 'libsql';
import type { EndedRecord, EndReason, SandboxRecord } from './records.js';
import type { SandboxCounts, SandboxQuery, SandboxStore } from './registry.js';
import type { Store } from './sqlite.js';

/** Ends of sandboxes that are kept, so that a client learns the reason of an end. */
const KEPT_ENDS = 10_000;
const PRUNE_EVERY = 1_000;

interface Row {
  id: string;
  tenant: string;
  state: SandboxRecord['state'];
  template_id: string;
  started_at: number;
  epoch: number;
  metadata: string;
  fields: string;
}

/** The sandboxes in a file of SQLite. */
export class SqliteSandboxes implements SandboxStore {
  readonly #store: Store;
  readonly #put: Database.Statement;
  readonly #get: Database.Statement;
  readonly #remove: Database.Statement;
  readonly #end: Database.Statement;
  readonly #prune: Database.Statement;
  /** The numbers of sandboxes, because counting rows takes as long as there are rows. */
  readonly #counts = new Map<string, SandboxCounts>();
  /** The running sandboxes, because each request to a sandbox reads its record. */
  readonly #running = new Map<string, SandboxRecord>();
  #ends = 0;

  constructor(store: Store) {
    const { database } = store;
    this.#store = store;
    this.#put = database.prepare(
      `INSERT OR REPLACE INTO sandboxes (id, tenant, state, template_id, started_at, epoch, metadata, fields)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#get = database.prepare('SELECT * FROM sandboxes WHERE id = ?');
    this.#remove = database.prepare('DELETE FROM sandboxes WHERE id = ? RETURNING tenant, state');
    this.#end = database.prepare('INSERT OR REPLACE INTO ended (id, tenant, reason, at) VALUES (?, ?, ?, ?)');
    this.#prune = database.prepare(
      `DELETE FROM ended WHERE id IN (SELECT id FROM ended ORDER BY at DESC LIMIT -1 OFFSET ${KEPT_ENDS})`,
    );
    for (const { tenant, state } of this.paused()) this.#counted(tenant)[state]++;
  }

  add(record: SandboxRecord): void {
    this.#write(record);
    this.#counted(record.tenant)[record.state]++;
  }

  #counted(tenant: string): SandboxCounts {
    const known = this.#counts.get(tenant);
    if (known !== undefined) return known;
    const counts: SandboxCounts = { running: 0, paused: 0 };
    this.#counts.set(tenant, counts);
    return counts;
  }

  #write(record: SandboxRecord): void {
    const { id, tenant, state, templateId, startedAt, epoch, metadata, ...fields } = record;
    const put = (): unknown =>
      this.#put.run(id, tenant, state, templateId, startedAt, epoch, JSON.stringify(metadata), JSON.stringify(fields));
    if (state === 'paused') {
      this.#store.durably(put);
      this.#running.delete(id);
    } else {
      put();
      this.#running.set(id, record);
    }
  }

  get(id: string): SandboxRecord | undefined {
    const running = this.#running.get(id);
    if (running !== undefined) return running;
    const row = this.#get.get(id) as Row | undefined;
    return row === undefined ? undefined : recordOf(row);
  }

  change(id: string, change: Partial<SandboxRecord>): void {
    const record = this.get(id);
    if (record === undefined) return;
    const changed = { ...record, ...change };
    this.#write(changed);
    const counts = this.#counted(record.tenant);
    counts[record.state]--;
    counts[changed.state]++;
  }

  end(id: string, reason: EndReason, at: number): boolean {
    const row = this.#store.database.transaction(() => {
      const removed = this.#remove.get(id) as Pick<Row, 'tenant' | 'state'> | undefined;
      if (removed !== undefined) this.#end.run(id, removed.tenant, reason, at);
      return removed;
    })() as Pick<Row, 'tenant' | 'state'> | undefined;
    if (row === undefined) return false;
    this.#running.delete(id);
    this.#counted(row.tenant)[row.state]--;
    this.#ends++;
    if (this.#ends % PRUNE_EVERY === 0) this.#prune.run();
    return true;
  }

  ended(id: string): EndedRecord | undefined {
    const row = this.#store.database.prepare('SELECT * FROM ended WHERE id = ?').get(id) as EndedRecord | undefined;
    return row && { id: row.id, tenant: row.tenant, reason: row.reason, at: row.at };
  }

  list({ tenant, states, metadata, templateIds, startedAfter, order, limit, after }: SandboxQuery): SandboxRecord[] {
    const where = ['tenant = ?', `state IN (${marks(states)})`];
    const values: (string | number)[] = [tenant, ...states];
    for (const [name, value] of Object.entries(metadata)) {
      where.push('EXISTS (SELECT 1 FROM json_each(metadata) WHERE key = ? AND value = ?)');
      values.push(name, value);
    }
    if (templateIds !== undefined) {
      where.push(`template_id IN (${marks(templateIds)})`);
      values.push(...templateIds);
    }
    if (startedAfter !== undefined) {
      where.push('started_at >= ?');
      values.push(startedAfter);
    }
    if (after !== undefined) {
      where.push(`(started_at, id) ${order === 'asc' ? '>' : '<'} (?, ?)`);
      values.push(after.at, after.id);
    }
    const sql = `SELECT * FROM sandboxes WHERE ${where.join(' AND ')} ORDER BY started_at ${order}, id ${order} LIMIT ?`;
    return (this.#store.database.prepare(sql).all(...values, limit) as Row[]).map(recordOf);
  }

  count(tenant: string): SandboxCounts {
    return { ...this.#counted(tenant) };
  }

  paused(): SandboxRecord[] {
    const sql = `SELECT * FROM sandboxes WHERE state = 'paused' ORDER BY started_at`;
    return (this.#store.database.prepare(sql).all() as Row[]).map(recordOf);
  }
}

const marks = (values: readonly unknown[]): string => values.map(() => '?').join(', ');

function recordOf(row: Row): SandboxRecord {
  const { id, tenant, state, template_id: templateId, started_at: startedAt, epoch, metadata, fields } = row;
  return { ...JSON.parse(fields), id, tenant, state, templateId, startedAt, epoch, metadata: JSON.parse(metadata) };
}
