// The files of one volume, in a file of SQLite. A change is one transaction, so a crash leaves no
// half-written entry. No path of a client becomes a path of the host machine.
//
// The class is an app file system of the SDK, so that several sandboxes can mount a volume.

import type { FileSystem, FileSystemEntry, FileSystemStat } from 'coldframe';
import Database from 'libsql';

/** An entry of a volume. Times are milliseconds since 1970. */
export interface VolumeEntry {
  ino: number;
  parent: number;
  name: string;
  type: 'file' | 'directory' | 'symlink';
  mode: number;
  uid: number;
  gid: number;
  size: number;
  target: string | null;
  atime: number;
  mtime: number;
  ctime: number;
}

/** The bounds of a volume. */
export interface VolumeLimits {
  bytes: number;
  entries: number;
}

const CHUNK = 64 << 10;
const ROOT = 1;
const USER = 1_000;
const MOST_NAME_BYTES = 255;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS entries (
    ino INTEGER PRIMARY KEY AUTOINCREMENT, parent INTEGER NOT NULL, name TEXT NOT NULL,
    type TEXT NOT NULL, mode INTEGER NOT NULL, uid INTEGER NOT NULL, gid INTEGER NOT NULL, size INTEGER NOT NULL,
    target TEXT, atime INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL, UNIQUE (parent, name)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS chunks (ino INTEGER NOT NULL, at INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (ino, at))
    STRICT, WITHOUT ROWID;`;

/** An error of a file, with Linux's name of its number. */
export class VolumeError extends Error {
  readonly code: string;

  constructor(code: string, path: string) {
    super(`${code}: ${path}`);
    this.name = 'VolumeError';
    this.code = code;
  }
}

/** The files of one volume. */
export class VolumeFiles implements FileSystem {
  readonly #database: Database.Database;
  readonly #limits: VolumeLimits;
  #bytes: number;
  #entries: number;

  /** Opens the volume in the file `path`, which is made if missing. */
  constructor(path: string, limits: VolumeLimits) {
    this.#database = new Database(path);
    this.#limits = limits;
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 1000');
    this.#database.exec(SCHEMA);
    const now = Date.now();
    this.#database
      .prepare(`INSERT OR IGNORE INTO entries VALUES (${ROOT}, 0, '', 'directory', ${0o755}, ${USER}, ${USER}, 0, NULL, ?, ?, ?)`)
      .run(now, now, now);
    const used = this.#database.prepare('SELECT coalesce(sum(size), 0) AS bytes, count(*) AS entries FROM entries').get();
    ({ bytes: this.#bytes, entries: this.#entries } = used as { bytes: number; entries: number });
  }

  /** Returns the entry at a path. Fails with `ENOENT` if nothing exists there. */
  entry(path: string): VolumeEntry {
    let entry = this.#get(ROOT) as VolumeEntry;
    for (const name of partsOf(path)) {
      if (entry.type !== 'directory') throw new VolumeError('ENOTDIR', path);
      const child = this.#child(entry.ino, name);
      if (child === undefined) throw new VolumeError('ENOENT', path);
      entry = child;
    }
    return entry;
  }

  /** Returns the entries of a directory in the order of their names. */
  entries(path: string): VolumeEntry[] {
    const { ino, type } = this.entry(path);
    if (type !== 'directory') throw new VolumeError('ENOTDIR', path);
    return this.#database.prepare('SELECT * FROM entries WHERE parent = ? ORDER BY name').all(ino) as VolumeEntry[];
  }

  stat(path: string): FileSystemStat {
    const { ino, type, size, mode, atime, mtime, ctime } = this.entry(path);
    return { type, size, mode, atimeMs: atime, mtimeMs: mtime, ctimeMs: ctime, ino };
  }

  readDir(path: string): FileSystemEntry[] {
    return this.entries(path).map(({ name, type }) => ({ name, type }));
  }

  read(path: string, offset: number, length: number): Uint8Array {
    const { ino, size } = this.#file(path);
    const bytes = Buffer.alloc(Math.max(0, Math.min(length, size - offset)));
    for (let at = offset; at < offset + bytes.length; ) {
      const [index, within] = [Math.floor(at / CHUNK), at % CHUNK];
      const count = Math.min(CHUNK - within, offset + bytes.length - at);
      this.#chunk(ino, index)?.copy(bytes, at - offset, within, within + count);
      at += count;
    }
    return bytes;
  }

  write(path: string, offset: number, data: Uint8Array): void {
    this.#change(() => {
      const { ino, size } = this.#file(path);
      const grown = Math.max(size, offset + data.length);
      this.#claim(grown - size, 0, path);
      for (let at = 0; at < data.length; ) {
        const [index, within] = [Math.floor((offset + at) / CHUNK), (offset + at) % CHUNK];
        const count = Math.min(CHUNK - within, data.length - at);
        const old = this.#chunk(ino, index) ?? Buffer.alloc(0);
        const chunk = Buffer.alloc(Math.max(old.length, within + count));
        old.copy(chunk);
        chunk.set(data.subarray(at, at + count), within);
        this.#run('INSERT OR REPLACE INTO chunks VALUES (?, ?, ?)', [ino, index, chunk]);
        at += count;
      }
      this.#touch(ino, grown);
    });
  }

  create(path: string, mode: number): void {
    this.#add(path, 'file', mode, null);
  }

  truncate(path: string, length: number): void {
    this.#change(() => {
      const { ino, size } = this.#file(path);
      this.#claim(length - size, 0, path);
      const last = Math.floor(length / CHUNK);
      this.#run('DELETE FROM chunks WHERE ino = ? AND at > ?', [ino, last]);
      const rest = this.#chunk(ino, last);
      if (rest !== undefined) {
        this.#run('INSERT OR REPLACE INTO chunks VALUES (?, ?, ?)', [ino, last, rest.subarray(0, length % CHUNK)]);
      }
      this.#touch(ino, length);
    });
  }

  mkdir(path: string, mode: number): void {
    this.#add(path, 'directory', mode, null);
  }

  symlink(target: string, path: string): void {
    this.#add(path, 'symlink', 0o777, target);
  }

  readlink(path: string): string {
    const { type, target } = this.entry(path);
    if (type !== 'symlink') throw new VolumeError('EINVAL', path);
    return target as string;
  }

  remove(path: string): void {
    this.#change(() => {
      const entry = this.entry(path);
      if (entry.ino === ROOT) throw new VolumeError('EBUSY', path);
      if (entry.type === 'directory' && this.entries(path).length > 0) throw new VolumeError('ENOTEMPTY', path);
      this.#drop(entry);
    });
  }

  /** Removes a file, a link, or a directory with everything in it. */
  removeAll(path: string): void {
    this.#change(() => {
      const entry = this.entry(path);
      if (entry.ino === ROOT) throw new VolumeError('EBUSY', path);
      const found = this.#database
        .prepare(
          `WITH RECURSIVE below (ino) AS (
             SELECT ?1 UNION ALL SELECT entries.ino FROM entries JOIN below ON entries.parent = below.ino
           )
           SELECT entries.* FROM entries JOIN below ON entries.ino = below.ino`,
        )
        .all(entry.ino) as VolumeEntry[];
      for (const one of found) this.#drop(one);
    });
  }

  rename(from: string, to: string): void {
    this.#change(() => {
      const entry = this.entry(from);
      const { parent, name } = this.#place(to);
      if (`${to}/`.startsWith(`${from}/`) && from !== to) throw new VolumeError('EINVAL', to);
      const present = this.#child(parent, name);
      if (present !== undefined && present.ino !== entry.ino) {
        if (present.type === 'directory' && entry.type !== 'directory') throw new VolumeError('EISDIR', to);
        if (present.type !== 'directory' && entry.type === 'directory') throw new VolumeError('ENOTDIR', to);
        if (present.type === 'directory' && this.entries(to).length > 0) throw new VolumeError('ENOTEMPTY', to);
        this.#drop(present);
      }
      this.#run('UPDATE entries SET parent = ?, name = ?, ctime = ? WHERE ino = ?', [parent, name, Date.now(), entry.ino]);
    });
  }

  chmod(path: string, mode: number): void {
    this.setAttributes(path, { mode });
  }

  /** Sets the permission bits and the owner. */
  setAttributes(
    path: string,
    { mode, uid, gid }: { mode?: number | undefined; uid?: number | undefined; gid?: number | undefined },
  ): void {
    const entry = this.entry(path);
    this.#run('UPDATE entries SET mode = ?, uid = ?, gid = ?, ctime = ? WHERE ino = ?', [
      (mode ?? entry.mode) & 0o7777,
      uid ?? entry.uid,
      gid ?? entry.gid,
      Date.now(),
      entry.ino,
    ]);
  }

  utimes(path: string, atimeMs: number, mtimeMs: number): void {
    const { ino } = this.entry(path);
    const times = [Math.floor(atimeMs), Math.floor(mtimeMs), Date.now()];
    this.#run('UPDATE entries SET atime = ?, mtime = ?, ctime = ? WHERE ino = ?', [...times, ino]);
  }

  close(): void {
    this.#database.close();
  }

  #add(path: string, type: VolumeEntry['type'], mode: number, target: string | null): void {
    this.#change(() => {
      const { parent, name } = this.#place(path);
      if (this.#child(parent, name) !== undefined) throw new VolumeError('EEXIST', path);
      const size = target === null ? 0 : Buffer.byteLength(target);
      this.#claim(size, 1, path);
      const now = Date.now();
      this.#run(
        `INSERT INTO entries (parent, name, type, mode, uid, gid, size, target, atime, mtime, ctime)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [parent, name, type, mode & 0o7777, USER, USER, size, target, now, now, now],
      );
    });
  }

  #drop({ ino, size }: VolumeEntry): void {
    this.#run('DELETE FROM chunks WHERE ino = ?', [ino]);
    this.#run('DELETE FROM entries WHERE ino = ?', [ino]);
    this.#bytes -= size;
    this.#entries--;
  }

  // Counts bytes and entries before they are written.
  #claim(bytes: number, entries: number, path: string): void {
    if (this.#bytes + bytes > this.#limits.bytes || this.#entries + entries > this.#limits.entries) {
      throw new VolumeError('ENOSPC', path);
    }
    this.#bytes += bytes;
    this.#entries += entries;
  }

  #place(path: string): { parent: number; name: string } {
    const parts = partsOf(path);
    const name = parts.pop();
    if (name === undefined) throw new VolumeError('EEXIST', path);
    if (Buffer.byteLength(name) > MOST_NAME_BYTES) throw new VolumeError('ENAMETOOLONG', path);
    const parent = this.entry(`/${parts.join('/')}`);
    if (parent.type !== 'directory') throw new VolumeError('ENOTDIR', path);
    return { parent: parent.ino, name };
  }

  #file(path: string): VolumeEntry {
    const entry = this.entry(path);
    if (entry.type === 'directory') throw new VolumeError('EISDIR', path);
    if (entry.type !== 'file') throw new VolumeError('EINVAL', path);
    return entry;
  }

  #touch(ino: number, size: number): void {
    const now = Date.now();
    this.#run('UPDATE entries SET size = ?, mtime = ?, ctime = ? WHERE ino = ?', [size, now, now, ino]);
  }

  #get(ino: number): VolumeEntry | undefined {
    return this.#database.prepare('SELECT * FROM entries WHERE ino = ?').get(ino) as VolumeEntry | undefined;
  }

  #child(parent: number, name: string): VolumeEntry | undefined {
    return this.#database.prepare('SELECT * FROM entries WHERE parent = ? AND name = ?').get(parent, name) as
      | VolumeEntry
      | undefined;
  }

  #chunk(ino: number, index: number): Buffer | undefined {
    const row = this.#database.prepare('SELECT data FROM chunks WHERE ino = ? AND at = ?').get(ino, index);
    return row === undefined ? undefined : Buffer.from((row as { data: Uint8Array }).data);
  }

  #run(sql: string, values: readonly (string | number | null | Buffer)[]): void {
    this.#database.prepare(sql).run(...values);
  }

  // Runs a change in a transaction. After a failure the counters have their earlier values.
  #change(change: () => void): void {
    const [bytes, entries] = [this.#bytes, this.#entries];
    try {
      this.#database.transaction(change)();
    } catch (error) {
      [this.#bytes, this.#entries] = [bytes, entries];
      throw error;
    }
  }
}

/** Returns the names of a path. Fails with `EINVAL` for names that no entry can have. */
function partsOf(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.some((part) => part === '..' || part.includes('\0'))) throw new VolumeError('EINVAL', path);
  return parts;
}
