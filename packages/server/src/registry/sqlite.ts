// The registry in a file of SQLite. Each change is one transaction, which SQLite's log keeps after
// a crash of the server. Changes that must also survive a crash of the machine are written to the
// disk before their call returns. Running sandboxes end with the server, so their changes are not.
//
// Next: the stores, such as `sqlite-sandboxes.ts`.

import { randomInt } from 'node:crypto';
import Database from 'libsql';
import { newHome } from '../ids.js';
import type { KeyRecord, SecretRecord, VolumeRecord, WebhookRecord } from './records.js';
import type { Registry } from './registry.js';
import { STATEMENTS } from './schema.js';
import { SqliteEvents } from './sqlite-events.js';
import { SqliteKeys, SqliteNamed } from './sqlite-named.js';
import { SqliteReplies } from './sqlite-replies.js';
import { SqliteSandboxes } from './sqlite-sandboxes.js';
import { SqliteTemplates } from './sqlite-templates.js';

/** The open file, and the way to make a change durable. */
export interface Store {
  readonly database: Database.Database;
  /** Runs a change in a transaction that is on disk when the call returns. */
  durably<T>(change: () => T): T;
}

/** The facts that a new registry continues, because an earlier registry was lost. */
export interface EarlierServer {
  /** The constant part of the ids. */
  home: string | undefined;
  /** The largest number of a start. */
  epoch: number;
}

/**
 * Opens the registry in the file `path`, which is made if missing. Ends the running sandboxes of
 * earlier starts of the server, because they ended with the server. Builds of earlier starts have
 * failed.
 *
 * @throws if the file is no registry of this version or an earlier version
 */
export function openRegistry(path: string, now: number, earlier: EarlierServer = { home: undefined, epoch: 0 }): Registry {
  const database = new Database(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 1000; PRAGMA foreign_keys = ON');
  migrate(database);
  const store: Store = { database, durably: (change) => durably(database, change) };
  const { home, epoch, isNew } = store.durably(() => begin(database, now, earlier));
  return {
    epoch,
    isNew,
    home,
    sandboxes: new SqliteSandboxes(store),
    templates: new SqliteTemplates(store),
    events: new SqliteEvents(store),
    webhooks: new SqliteNamed<WebhookRecord>(store, 'webhook'),
    volumes: new SqliteNamed<VolumeRecord>(store, 'volume'),
    secrets: new SqliteNamed<SecretRecord>(store, 'secret'),
    keys: new SqliteKeys<KeyRecord>(store, 'key'),
    replies: new SqliteReplies(store),
    kept: () => keptBy(database),
    check: () => {
      database.prepare('UPDATE settings SET value = ? WHERE name = ?').run(String(randomInt(1 << 30)), 'checked');
      return true;
    },
    close: () => database.close(),
  };
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

function begin(database: Database.Database, now: number, earlier: EarlierServer): Pick<Registry, 'home' | 'epoch' | 'isNew'> {
  const { last } = database.prepare('SELECT max(epoch) AS last FROM starts').get() as { last: number | null };
  const epoch = Math.max(last ?? 0, earlier.epoch) + 1;
  database.prepare('INSERT INTO starts (epoch, at) VALUES (?, ?)').run(epoch, now);
  const set = database.prepare('INSERT OR IGNORE INTO settings (name, value) VALUES (?, ?)');
  set.run('home', earlier.home ?? newHome());
  set.run('checked', '0');
  const { value: home } = database.prepare(`SELECT value FROM settings WHERE name = 'home'`).get() as { value: string };
  // A frozen sandbox has no snapshot, and has ended with its server too.
  const gone = `FROM sandboxes WHERE state = 'running' OR fields ->> '$.snapshot' IS NULL`;
  database.prepare(`INSERT OR REPLACE INTO ended (id, tenant, reason, at) SELECT id, tenant, 'restart', ? ${gone}`).run(now);
  database.prepare(`DELETE ${gone}`).run();
  const failure = JSON.stringify({ message: 'The server was restarted during the build', step: undefined });
  database
    .prepare(
      `UPDATE builds SET state = 'error', fields = json_set(fields, '$.failure', json(?), '$.finishedAt', ?)
       WHERE state IN ('waiting', 'building')`,
    )
    .run(failure, now);
  return { home, epoch, isNew: last === null };
}

function keptBy(database: Database.Database): ReturnType<Registry['kept']> {
  const column = (sql: string): string[] => (database.prepare(sql).all() as { value: string }[]).map(({ value }) => value);
  const paused = column(`SELECT fields ->> '$.snapshot' AS value FROM sandboxes WHERE state = 'paused'`);
  const built = column(`SELECT fields ->> '$.snapshot' AS value FROM builds WHERE fields ->> '$.snapshot' IS NOT NULL`);
  return {
    // A tenant whose sandbox left nothing behind has an end.
    tenants: column(
      `SELECT tenant AS value FROM sandboxes UNION SELECT tenant FROM templates
       UNION SELECT tenant FROM ended UNION SELECT tenant FROM steps`,
    ),
    snapshots: new Set([...paused, ...built, ...column('SELECT snapshot AS value FROM steps')]),
    blobs: new Set(column('SELECT digest AS value FROM uploads')),
  };
}

function durably<T>(database: Database.Database, change: () => T): T {
  database.exec('PRAGMA synchronous = FULL');
  try {
    return database.transaction(change)() as T;
  } finally {
    database.exec('PRAGMA synchronous = NORMAL');
  }
}
