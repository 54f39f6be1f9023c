// The registry in a file of SQLite. Each change is one transaction, which SQLite's log on disk
// keeps after a crash.
//
// Columns are the fields that queries select by. All other fields of a sandbox are JSON.

import Database from 'libsql';
import type { SandboxRecord, TemplateRecord } from './records.js';
import type { Registry, SandboxQuery, TemplateQuery } from './registry.js';
import { STATEMENTS } from './schema.js';

interface SandboxRow {
  id: string;
  tenant: string;
  state: SandboxRecord['state'];
  template_id: string;
  started_at: number;
  epoch: number;
  metadata: string;
  fields: string;
}

interface TemplateRow {
  id: string;
  tenant: string;
  name: string | null;
  snapshot: string;
  sandbox_id: string | null;
  created_at: number;
}

/**
 * Opens the registry in the file `path`, which is made if missing. Removes the running sandboxes of
 * earlier starts of the server, because they ended with the server.
 *
 * @throws if the file is no registry of this version or an earlier version
 */
export function openRegistry(path: string, now: number): Registry {
  const database = new Database(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 1000');
  migrate(database);
  database.prepare('INSERT INTO starts (at) VALUES (?)').run(now);
  const { epoch } = database.prepare('SELECT max(epoch) AS epoch FROM starts').get() as { epoch: number };
  database.prepare(`DELETE FROM sandboxes WHERE state = 'running'`).run();
  return new SqliteRegistry(database, epoch);
}

function migrate(database: Database.Database): void {
  const [{ user_version: version }] = database.pragma('user_version') as [{ user_version: number }];
  if (version > STATEMENTS.length) {
    throw new Error(`The registry has version ${version}, and this server knows versions up to ${STATEMENTS.length}.`);
  }
  const upgrade = database.transaction(() => {
    for (const statement of STATEMENTS.slice(version)) database.exec(statement);
    database.exec(`PRAGMA user_version = ${STATEMENTS.length}`);
  });
  upgrade();
}

class SqliteRegistry implements Registry {
  readonly epoch: number;
  readonly #database: Database.Database;
  readonly #put: Database.Statement;
  readonly #get: Database.Statement;
  readonly #remove: Database.Statement;

  constructor(database: Database.Database, epoch: number) {
    this.#database = database;
    this.epoch = epoch;
    this.#put = database.prepare(
      `INSERT OR REPLACE INTO sandboxes (id, tenant, state, template_id, started_at, epoch, metadata, fields)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#get = database.prepare('SELECT * FROM sandboxes WHERE id = ?');
    this.#remove = database.prepare('DELETE FROM sandboxes WHERE id = ?');
  }

  addSandbox(record: SandboxRecord): void {
    const { id, tenant, state, templateId, startedAt, epoch, metadata, ...fields } = record;
    this.#put.run(id, tenant, state, templateId, startedAt, epoch, JSON.stringify(metadata), JSON.stringify(fields));
  }

  sandbox(id: string): SandboxRecord | undefined {
    const row = this.#get.get(id) as SandboxRow | undefined;
    return row === undefined ? undefined : sandboxOf(row);
  }

  changeSandbox(id: string, change: Partial<SandboxRecord>): void {
    const record = this.sandbox(id);
    if (record !== undefined) this.addSandbox({ ...record, ...change });
  }

  removeSandbox(id: string): boolean {
    return this.#remove.run(id).changes > 0;
  }

  sandboxes(query: SandboxQuery): SandboxRecord[] {
    const { tenant, states, metadata, templateIds, startedAfter, order, limit, after } = query;
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
    return (this.#database.prepare(sql).all(...values, limit) as SandboxRow[]).map(sandboxOf);
  }

  running(tenant: string): number {
    const sql = `SELECT count(*) AS count FROM sandboxes WHERE tenant = ? AND state = 'running'`;
    return (this.#database.prepare(sql).get(tenant) as { count: number }).count;
  }

  addTemplate({ id, tenant, name, snapshot, sandboxId, createdAt }: TemplateRecord): void {
    const sql = 'INSERT INTO templates (id, tenant, name, snapshot, sandbox_id, created_at) VALUES (?, ?, ?, ?, ?, ?)';
    this.#database.prepare(sql).run(id, tenant, name ?? null, snapshot, sandboxId ?? null, createdAt);
  }

  template(tenant: string, reference: string): TemplateRecord | undefined {
    const sql = 'SELECT * FROM templates WHERE tenant = ? AND (id = ? OR name = ?)';
    const row = this.#database.prepare(sql).get(tenant, reference, reference) as TemplateRow | undefined;
    return row === undefined ? undefined : templateOf(row);
  }

  removeTemplate(id: string): boolean {
    return this.#database.prepare('DELETE FROM templates WHERE id = ?').run(id).changes > 0;
  }

  templates({ tenant, sandboxId, name, limit, after }: TemplateQuery): TemplateRecord[] {
    const where = ['tenant = ?'];
    const values: (string | number)[] = [tenant];
    if (sandboxId !== undefined) {
      where.push('sandbox_id = ?');
      values.push(sandboxId);
    }
    if (name !== undefined) {
      where.push('name = ?');
      values.push(name);
    }
    if (after !== undefined) {
      where.push('(created_at, id) < (?, ?)');
      values.push(after.at, after.id);
    }
    const sql = `SELECT * FROM templates WHERE ${where.join(' AND ')} ORDER BY created_at DESC, id DESC LIMIT ?`;
    return (this.#database.prepare(sql).all(...values, limit) as TemplateRow[]).map(templateOf);
  }

  close(): void {
    this.#database.close();
  }
}

const marks = (values: readonly unknown[]): string => values.map(() => '?').join(', ');

function sandboxOf(row: SandboxRow): SandboxRecord {
  const { id, tenant, state, template_id: templateId, started_at: startedAt, epoch, metadata, fields } = row;
  return { ...JSON.parse(fields), id, tenant, state, templateId, startedAt, epoch, metadata: JSON.parse(metadata) };
}

function templateOf({ id, tenant, name, snapshot, sandbox_id, created_at }: TemplateRow): TemplateRecord {
  return { id, tenant, name: name ?? undefined, snapshot, sandboxId: sandbox_id ?? undefined, createdAt: created_at };
}
