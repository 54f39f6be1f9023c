// Options and arguments of the calls that use a runtime's files.

import { OWNER, type Owner } from './owner.js';
import { CONTENT, FLAG, guestPath, rule, SIGNAL, whole } from './rule.js';
import { known, type OptionTable } from './table.js';

/** Options of `runtime.writeFile()`. */
export interface WriteFileOptions {
  /** Permission bits of a new file, such as 0o755. @default 0o644 */
  mode?: number | undefined;
  /**
   * The owner of the file, and of missing parents that the call makes. An existing file is given to
   * the owner.
   * @default 'user' for a new file
   */
  owner?: Owner | undefined;
}

/** Options of `runtime.stat()`. */
export interface StatOptions {
  /** Whether a symbolic link is followed. @default true */
  followSymlinks?: boolean | undefined;
}

/** Options of `runtime.remove()`. */
export interface TreeOptions {
  /**
   * Whether `mkdir()` makes missing parents, and `remove()` removes the entries of a directory.
   * @default false
   */
  recursive?: boolean | undefined;
}

/** Options of `runtime.mkdir()`. */
export interface MkdirOptions extends TreeOptions {
  /** The owner of the new directories. @default 'user' */
  owner?: Owner | undefined;
}

/** Options of `runtime.watch()`. */
export interface WatchOptions {
  /**
   * Whether all files and directories below the directory are watched too. A recursive watch of a
   * mounted folder without an overlay fails with `ENOSYS`.
   * @default false
   */
  recursive?: boolean | undefined;
  /**
   * Whether the watch reports `create`, `write`, `remove`, `rename` with both names, and `chmod`,
   * instead of `rename` and `change` as in `fs.watch()`.
   * @default false
   */
  typed?: boolean | undefined;
  /** Ends the watch when the signal aborts. The iteration then throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Options of `runtime.createReadStream()`. */
export interface ReadStreamOptions {
  /** The position of the first byte. @default 0 */
  start?: number | undefined;
  /** The position of the last byte, which is read too, as in Node. @default the end of the file */
  end?: number | undefined;
  /** Ends the stream with an error when the signal aborts. */
  signal?: AbortSignal | undefined;
}

/** Options of `runtime.createWriteStream()`. */
export interface WriteStreamOptions {
  /** Whether the file keeps its content and the bytes are written at its end. @default false */
  append?: boolean | undefined;
  /** Permission bits of a new file, such as 0o755. @default 0o644 */
  mode?: number | undefined;
  /** As `owner` of `writeFile()`. @default 'user' for a new file */
  owner?: Owner | undefined;
  /** Ends the stream with an error when the signal aborts. */
  signal?: AbortSignal | undefined;
}

/** Options of `runtime.exportTar()`. */
export interface ExportTarOptions {
  /** Whether the archive is compressed. @default false */
  gzip?: boolean | undefined;
}

/** Options of `runtime.importTar()`. */
export interface ImportTarOptions {
  /** The target directory, which is made if missing. @default the runtime's working directory */
  path?: string | undefined;
  /** Whether the archive is compressed. @default detected from its first bytes */
  gzip?: boolean | undefined;
  /**
   * Whether the files belong to the users and groups whose numbers the archive has.
   * @default false
   */
  keepOwners?: boolean | undefined;
  /** The owner of the files without `keepOwners`. @default 'user' */
  owner?: Owner | undefined;
}

/** The bytes of an archive, whole or in chunks. */
export type TarSource = Uint8Array | AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Permission bits, with the sticky bit. */
const MODE_BITS = whole(0, 0o1777, 'permissions');
const POSITION = whole(0, Number.MAX_SAFE_INTEGER - 1, 'bytes');
const RECURSIVE = known(FLAG, ['force']);

/** The option table of `writeFile()`. */
export const WRITE_FILE: OptionTable<WriteFileOptions> = { mode: MODE_BITS, owner: OWNER };
/** The option table of `stat()`. */
export const STAT: OptionTable<StatOptions> = { followSymlinks: known(FLAG, ['follow']) };
/** The option table of `remove()`. */
export const TREE: OptionTable<TreeOptions> = { recursive: RECURSIVE };
/** The option table of `mkdir()`. */
export const MKDIR: OptionTable<MkdirOptions> = { recursive: RECURSIVE, owner: OWNER };
/** The option table of `watch()`. */
export const WATCH: OptionTable<WatchOptions> = { recursive: RECURSIVE, typed: FLAG, signal: SIGNAL };
/** The option table of `createReadStream()`. */
export const READ_STREAM: OptionTable<ReadStreamOptions> = { start: POSITION, end: POSITION, signal: SIGNAL };
/** The option table of `createWriteStream()`. */
export const WRITE_STREAM: OptionTable<WriteStreamOptions> = { append: FLAG, mode: MODE_BITS, owner: OWNER, signal: SIGNAL };
/** The option table of `exportTar()`. */
export const EXPORT_TAR: OptionTable<ExportTarOptions> = { gzip: FLAG };
/** The option table of `importTar()`. */
export const IMPORT_TAR: OptionTable<ImportTarOptions> = {
  path: guestPath('/workspace'),
  gzip: FLAG,
  keepOwners: known(FLAG, ['sameOwner', 'preserveOwners']),
  owner: OWNER,
};

/** The argument `path`, and `from` and `to` of `rename()`. */
export const FILE_PATH = guestPath('/workspace/data.json');
/** The argument `prefix` of `mkdtemp()`. */
export const DIRECTORY_PREFIX = guestPath('/tmp/job-');
/** The argument `data` of `writeFile()`. */
export const FILE_DATA = CONTENT;
/** The argument `mode` of `chmod()`. */
export const FILE_MODE = rule((value) => MODE_BITS.fault(value) === undefined, 'permissions such as 0o644');
/** The argument `name` of the calls of `xattrs`. */
export const ATTRIBUTE_NAME = rule(
  (value) => typeof value === 'string' && /^user\.[^\0]+$/s.test(value) && value.length <= 255,
  "text such as 'user.kind', of at most 255 characters",
);
/** The argument `value` of `xattrs.set()`. */
export const ATTRIBUTE_VALUE = CONTENT;
/** The argument `owner` of `chown()`. */
export const FILE_OWNER = OWNER;
/** The argument `target` of `symlink()`. */
export const LINK_TARGET = rule(
  (value) => typeof value === 'string' && value !== '' && !value.includes('\0'),
  'text without NUL that is not empty',
);

/** The largest time of a `Date`, in milliseconds. */
const MAX_TIME_MS = 8.64e15;
/** Converts a `Date` to milliseconds since 1970. Returns any other value unchanged. */
export const timeOf = (time: unknown): unknown => (time instanceof Date ? time.getTime() : time);
/** The arguments `atime` and `mtime` of `utimes()`. */
export const FILE_TIME = rule((value) => {
  const ms = timeOf(value);
  return typeof ms === 'number' && Math.abs(ms) <= MAX_TIME_MS;
}, 'a Date, or milliseconds since 1970');

/** The argument `source` of `importTar()`. */
export const TAR_SOURCE = rule(
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    (value instanceof Uint8Array || Symbol.asyncIterator in value || Symbol.iterator in value),
  'a Uint8Array, or a stream or an iterable of them',
);
/** One chunk of the source of `importTar()`. */
export const TAR_CHUNK = rule((value) => value instanceof Uint8Array, 'chunks that are Uint8Arrays');
