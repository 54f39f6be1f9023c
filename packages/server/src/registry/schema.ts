// The tables of the registry. A new version of the server appends statements and never changes an
// earlier one: `user_version` of the file is the number of executed statements.
//
// Columns are the fields that queries select by. All other fields of a record are JSON.

/** The statements that make the tables, in order. */
export const STATEMENTS: readonly string[] = [
  `CREATE TABLE starts (epoch INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL) STRICT`,
  `CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID`,
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
  `CREATE TABLE ended (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    reason TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX ended_by_time ON ended (at)`,
  `CREATE TABLE templates (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('template', 'snapshot')),
    name TEXT,
    sandbox_id TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE UNIQUE INDEX templates_by_name ON templates (tenant, name)`,
  `CREATE INDEX templates_by_time ON templates (tenant, kind, created_at, id)`,
  `CREATE TABLE builds (
    id TEXT PRIMARY KEY,
    template_id TEXT NOT NULL REFERENCES templates (id) ON DELETE CASCADE,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'building', 'ready', 'error')),
    created_at INTEGER NOT NULL,
    fields TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX builds_by_template ON builds (template_id, created_at)`,
  `CREATE TABLE tags (
    template_id TEXT NOT NULL REFERENCES templates (id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    build_id TEXT NOT NULL REFERENCES builds (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (template_id, tag)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE steps (
    tenant TEXT NOT NULL,
    key TEXT NOT NULL,
    snapshot TEXT NOT NULL,
    used_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, key)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE events (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    type TEXT NOT NULL,
    sandbox_id TEXT NOT NULL,
    fields TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX events_by_sandbox ON events (tenant, sandbox_id, sequence)`,
  `CREATE TABLE named (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    name TEXT,
    created_at INTEGER NOT NULL,
    digest TEXT,
    sealed BLOB,
    fields TEXT NOT NULL,
    PRIMARY KEY (kind, id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE UNIQUE INDEX named_by_name ON named (kind, tenant, name)`,
  `CREATE UNIQUE INDEX named_by_digest ON named (digest)`,
  `CREATE TABLE uploads (
    tenant TEXT NOT NULL,
    hash TEXT NOT NULL,
    digest TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (tenant, hash)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE replies (
    tenant TEXT NOT NULL,
    key TEXT NOT NULL,
    sandbox_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (tenant, key)
  ) STRICT, WITHOUT ROWID`,
];
