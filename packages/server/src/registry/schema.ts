// The tables of the registry. A new version of the server appends statements and never changes an
// earlier one: `user_version` of the file is the number of executed statements.

/** The statements that make the tables, in order. */
export const STATEMENTS: readonly string[] = [
  `CREATE TABLE starts (epoch INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL) STRICT`,
  `CREATE TABLE sandboxes (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'paused')),
    template_id TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    fields TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX sandboxes_by_start ON sandboxes (tenant, started_at, id)`,
  `CREATE TABLE templates (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    name TEXT,
    snapshot TEXT NOT NULL,
    sandbox_id TEXT,
    created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE UNIQUE INDEX templates_by_name ON templates (tenant, name)`,
  `CREATE INDEX templates_by_time ON templates (tenant, created_at, id)`,
];
