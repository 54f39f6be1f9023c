// The templates of the registry, with their builds, tags and steps. `sqlite.ts` opens the file.

import type { BuildRecord, StepRecord, TagRecord, TemplateRecord, UploadRecord } from './records.js';
import type { TemplateQuery, TemplateStore } from './registry.js';
import type { Store } from './sqlite.js';

interface TemplateRow {
  id: string;
  tenant: string;
  kind: TemplateRecord['kind'];
  name: string | null;
  sandbox_id: string | null;
  created_at: number;
  updated_at: number;
}

interface BuildRow {
  id: string;
  template_id: string;
  state: BuildRecord['state'];
  created_at: number;
  fields: string;
}

/** The templates in a file of SQLite. */
export class SqliteTemplates implements TemplateStore {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  add(template: TemplateRecord, build: BuildRecord, tags: readonly string[]): void {
    const { id, tenant, kind, name, sandboxId, createdAt, updatedAt } = template;
    this.#store.durably(() => {
      this.#run(
        'INSERT INTO templates (id, tenant, kind, name, sandbox_id, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
        [id, tenant, kind, name ?? null, sandboxId ?? null, createdAt, updatedAt],
      );
      this.#insertBuild(build, tags);
    });
  }

  addBuild(build: BuildRecord, tags: readonly string[]): void {
    this.#store.durably(() => {
      this.#run('UPDATE templates SET updated_at = ? WHERE id = ?', [build.createdAt, build.templateId]);
      this.#insertBuild(build, tags);
    });
  }

  find(tenant: string, reference: string): TemplateRecord | undefined {
    const sql = 'SELECT * FROM templates WHERE tenant = ? AND (id = ? OR name = ?)';
    const row = this.#store.database.prepare(sql).get(tenant, reference, reference) as TemplateRow | undefined;
    return row === undefined ? undefined : templateOf(row);
  }

  remove(id: string): BuildRecord[] {
    const builds = this.builds(id);
    this.#store.durably(() => this.#run('DELETE FROM templates WHERE id = ?', [id]));
    return builds;
  }

  list({ tenant, kind, sandboxId, name, limit, after }: TemplateQuery): TemplateRecord[] {
    const where = ['tenant = ?', 'kind = ?'];
    const values: (string | number)[] = [tenant, kind];
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
    return (this.#store.database.prepare(sql).all(...values, limit) as TemplateRow[]).map(templateOf);
  }

  count(tenant: string): number {
    const sql = 'SELECT count(*) AS count FROM templates WHERE tenant = ?';
    return (this.#store.database.prepare(sql).get(tenant) as { count: number }).count;
  }

  warm(tenant: string): { templateID: string; buildID: string }[] {
    const sql = `SELECT t.id AS templateID, b.id AS buildID, max(b.created_at) AS newest FROM templates t
      JOIN builds b ON b.template_id = t.id AND b.state = 'ready' WHERE t.tenant = ? GROUP BY t.id ORDER BY t.id`;
    const rows = this.#store.database.prepare(sql).all(tenant) as { templateID: string; buildID: string }[];
    return rows.map(({ templateID, buildID }) => ({ templateID, buildID }));
  }

  build(id: string): BuildRecord | undefined {
    const row = this.#store.database.prepare('SELECT * FROM builds WHERE id = ?').get(id) as BuildRow | undefined;
    return row === undefined ? undefined : buildOf(row);
  }

  changeBuild(id: string, change: Partial<BuildRecord>): void {
    this.#store.durably(() => {
      const build = this.build(id);
      if (build === undefined) return;
      const { templateId: _, id: __, createdAt: ___, state, ...fields } = { ...build, ...change };
      this.#run('UPDATE builds SET state = ?, fields = ? WHERE id = ?', [state, JSON.stringify(fields), id]);
    });
  }

  removeBuild(id: string): void {
    this.#store.durably(() => this.#run('DELETE FROM builds WHERE id = ?', [id]));
  }

  builds(templateId: string): BuildRecord[] {
    const sql = 'SELECT * FROM builds WHERE template_id = ? ORDER BY created_at DESC, id DESC';
    return (this.#store.database.prepare(sql).all(templateId) as BuildRow[]).map(buildOf);
  }

  setTag(templateId: string, { tag, buildId, createdAt }: TagRecord): void {
    this.#store.durably(() =>
      this.#run('INSERT OR REPLACE INTO tags (template_id, tag, build_id, created_at) VALUES (?, ?, ?, ?)', [
        templateId,
        tag,
        buildId,
        createdAt,
      ]),
    );
  }

  removeTag(templateId: string, tag: string): boolean {
    return this.#store.durably(() => this.#run('DELETE FROM tags WHERE template_id = ? AND tag = ?', [templateId, tag]) > 0);
  }

  tags(templateId: string): TagRecord[] {
    const sql =
      'SELECT tag, build_id AS buildId, created_at AS createdAt FROM tags WHERE template_id = ? ORDER BY created_at, tag';
    return this.#store.database.prepare(sql).all(templateId) as TagRecord[];
  }

  step(tenant: string, key: string, now: number): StepRecord | undefined {
    const sql = 'SELECT tenant, key, snapshot, used_at AS usedAt FROM steps WHERE tenant = ? AND key = ?';
    const step = this.#store.database.prepare(sql).get(tenant, key) as StepRecord | undefined;
    if (step !== undefined) this.#run('UPDATE steps SET used_at = ? WHERE tenant = ? AND key = ?', [now, tenant, key]);
    return step;
  }

  setStep({ tenant, key, snapshot, usedAt }: StepRecord): void {
    this.#run('INSERT OR REPLACE INTO steps (tenant, key, snapshot, used_at) VALUES (?, ?, ?, ?)', [
      tenant,
      key,
      snapshot,
      usedAt,
    ]);
  }

  upload(tenant: string, hash: string): UploadRecord | undefined {
    const sql = 'SELECT * FROM uploads WHERE tenant = ? AND hash = ?';
    return this.#store.database.prepare(sql).get(tenant, hash) as UploadRecord | undefined;
  }

  setUpload({ tenant, hash, digest, at }: UploadRecord): void {
    this.#run('INSERT OR REPLACE INTO uploads (tenant, hash, digest, at) VALUES (?, ?, ?, ?)', [tenant, hash, digest, at]);
  }

  isUploaded(digest: string): boolean {
    return this.#store.database.prepare('SELECT 1 FROM uploads WHERE digest = ? LIMIT 1').get(digest) !== undefined;
  }

  dropSteps(tenant: string, keep: number): StepRecord[] {
    const sql = `DELETE FROM steps WHERE tenant = ?1 AND key IN (
        SELECT key FROM steps WHERE tenant = ?1 ORDER BY used_at DESC LIMIT -1 OFFSET ?2
      ) RETURNING tenant, key, snapshot, used_at AS usedAt`;
    return this.#store.database.prepare(sql).all(tenant, keep) as StepRecord[];
  }

  #insertBuild(build: BuildRecord, tags: readonly string[]): void {
    const { id, templateId, state, createdAt, ...fields } = build;
    this.#run('INSERT INTO builds (id, template_id, state, created_at, fields) VALUES (?, ?, ?, ?, ?)', [
      id,
      templateId,
      state,
      createdAt,
      JSON.stringify(fields),
    ]);
    for (const tag of tags) {
      this.#run('INSERT OR REPLACE INTO tags (template_id, tag, build_id, created_at) VALUES (?, ?, ?, ?)', [
        templateId,
        tag,
        id,
        createdAt,
      ]);
    }
  }

  #run(sql: string, values: readonly (string | number | null)[]): number {
    return this.#store.database.prepare(sql).run(...values).changes;
  }
}

function templateOf(row: TemplateRow): TemplateRecord {
  const { id, tenant, kind, name, sandbox_id, created_at: createdAt, updated_at: updatedAt } = row;
  return { id, tenant, kind, name: name ?? undefined, sandboxId: sandbox_id ?? undefined, createdAt, updatedAt };
}

function buildOf({ id, template_id: templateId, state, created_at: createdAt, fields }: BuildRow): BuildRecord {
  return { ...JSON.parse(fields), id, templateId, state, createdAt };
}
