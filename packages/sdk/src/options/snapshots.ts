// Options of the calls that take, use and keep snapshots.

import { isSnapshot } from './handles.js';
import { NETWORK_OPTIONS, type NetworkOptions } from './outside.js';
import { FLAG, HOST_FOLDER, isPlain, matching, oneOf, rule, whole } from './rule.js';
import { SECRETS, type SecretsOptions } from './secrets.js';
import { known, type OptionTable, objectWith } from './table.js';

/** Options of `runtime.snapshot()`. */
export interface SnapshotOptions {
  /**
   * A name of 1 to 200 characters that does not look like an id. If several snapshots have a name,
   * the name selects the newest snapshot.
   * @default none
   */
  name?: string | undefined;
  /** Labels of the app: up to 64 names with text. @default {} */
  labels?: Readonly<Record<string, string>> | undefined;
  /**
   * The place of the snapshot. `'memory'`: in the sidecar's memory until the sidecar ends.
   * `'disk'`: in the sidecar's memory, and in a file in the store's folder.
   * @default 'memory'
   */
  store?: 'memory' | 'disk' | undefined;
  /** Milliseconds that programs may take to quiesce. @default 5_000 */
  timeoutMs?: number | undefined;
  /**
   * Whether the snapshot contains the running programs. Without programs, the snapshot has only the
   * files, and waits for no program.
   * @default true
   */
  memory?: boolean | undefined;
}

/** The time in which the programs of a runtime must quiesce. */
export interface QuietOptions {
  /** Milliseconds that programs may take to quiesce. @default 5_000 */
  timeoutMs?: number | undefined;
}

/** Options of `runtime.pause()`. */
export interface PauseOptions extends QuietOptions {
  /**
   * The effect if a program does not quiesce in time. `'reject'`: the call rejects with
   * `ERR_NOT_QUIET`, and the programs continue. `'freeze'`: the runtime is frozen in memory, and
   * the call resolves with `undefined`.
   * @default 'reject'
   */
  whenBusy?: 'reject' | 'freeze' | undefined;
}

/** Options of `runtime.clone()`. */
export interface SingleCloneOptions extends QuietOptions {
  /** The connections out of the clones. @default the present options of the runtime */
  network?: NetworkOptions | undefined;
  /** The secrets of the clones. @default the present secrets of the runtime */
  secrets?: SecretsOptions | undefined;
}

/** Options of `runtime.resume()`. */
export interface ResumeOptions {
  /** The connections out of the runtime. @default the options before the pause */
  network?: NetworkOptions | undefined;
  /** Secrets that are added, or replace secrets of the runtime. @default {} */
  secrets?: SecretsOptions | undefined;
}

/** Options of `runtime.clone(n)`. */
export interface CloneOptions extends SingleCloneOptions {
  /**
   * Whether clones are kept if another clone fails. The result then has an entry for each clone:
   * the runtime, or the error.
   * @default false
   */
  settle?: boolean | undefined;
}

/** Selects the tenant whose snapshots a call uses. */
export interface TenantOptions {
  /**
   * A tenant, 1 to 200 characters. @default the runtime's tenant, or 'default' for
   * `sidecar.snapshots`
   */
  tenant?: string | undefined;
}

/** The store of a sidecar: `snapshots` of `Sidecar.spawn()` and `Sidecar.embedded()`. */
export interface SnapshotStoreOptions {
  /**
   * The folder for snapshots on disk. The sidecar makes the folder when it writes the first
   * snapshot. Other users of the host machine must not be able to write in the folder.
   * @default `coldframe/snapshots` in `$XDG_DATA_HOME`, or in `~/.local/share`
   */
  directory?: string | undefined;
  /**
   * The largest total size of all snapshots on disk, in bytes. Beyond the limit the least recently
   * used snapshots are deleted.
   * @default 10_737_418_240 (10 GiB)
   */
  maxBytes?: number | undefined;
  /**
   * The largest number of bytes in memory that only snapshots use. Beyond the limit the least
   * recently used snapshots are deleted.
   * @default 4_294_967_296 (4 GiB)
   */
  memoryBytes?: number | undefined;
}

/** The tenant of a runtime without the option `tenant`. */
export const DEFAULT_TENANT = 'default';

const TERABYTE = 1_099_511_627_776;
const MAX_LABELS = 64;

// No pattern accepts a lone surrogate. In a message a lone surrogate becomes U+FFFD, so two
// different names could become equal.

const NAME_PATTERN = /^[^\0\p{Cs}]{1,200}$/su;
/** A name must not look like an id, because an id selects exactly one snapshot. */
const SNAPSHOT_NAME_PATTERN = /^(?!snap-[a-z0-9]{26}$)[^\0\p{Cs}]{1,200}$/su;
const LABEL_PATTERN = /^[^\0\p{Cs}]{0,1000}$/su;

const SHORT_TEXT = 'text of 1 to 200 characters without NUL and lone surrogates';
const isName = (value: unknown): boolean => typeof value === 'string' && NAME_PATTERN.test(value);

// Assigning `__proto__` would set the prototype of an object instead of adding an entry.
const isLabel = ([name, text]: [string, unknown]): boolean =>
  name !== '' && name !== '__proto__' && [name, text].every((part) => typeof part === 'string' && LABEL_PATTERN.test(part));

function isLabels(value: unknown): boolean {
  if (!isPlain(value)) return false;
  const entries = Object.entries(value);
  return entries.length <= MAX_LABELS && entries.every(isLabel);
}

/** Accepts a tenant. */
export const TENANT = known(rule(isName, SHORT_TEXT), ['tenantId']);
/** Accepts the tenant of a call to a pool. */
export const POOL_TENANT = rule(isName, 'a tenant (1 to 200 characters)');
/** Accepts a snapshot, or its id or name. */
export const SNAPSHOT_REFERENCE = known(
  rule((value) => isSnapshot(value) || isName(value), 'a Snapshot, or the id or name of one (1 to 200 characters)'),
  ['from', 'template'],
);
/** The argument `id` of the calls of a store. */
export const SNAPSHOT_ID = rule(isName, 'the id or name of a snapshot (1 to 200 characters)');
/** The argument `n` of `clone()`. */
export const CLONE_COUNT = whole(1, 10_000, 'copies');

const QUIESCE_MS = whole(1, 300_000, 'milliseconds');

/** The option table of `snapshot()`. */
export const SNAPSHOT: OptionTable<SnapshotOptions> = {
  name: known(matching(SNAPSHOT_NAME_PATTERN, `${SHORT_TEXT} that is no id of a snapshot`), ['label']),
  labels: known(
    rule(isLabels, `a map of at most ${MAX_LABELS} names (none is __proto__) to text, each of 1,000 characters at most`),
    ['tags'],
    ', a map of names to text',
  ),
  store: oneOf(['memory', 'disk'], "'memory' or 'disk'"),
  timeoutMs: QUIESCE_MS,
  memory: known(FLAG, ['programs']),
};

/** The option table of `clone()`. */
export const CLONE: OptionTable<CloneOptions> = {
  timeoutMs: QUIESCE_MS,
  settle: FLAG,
  network: NETWORK_OPTIONS,
  secrets: SECRETS,
};

/** The option table of `resume()`. */
export const RESUME: OptionTable<ResumeOptions> = { network: NETWORK_OPTIONS, secrets: SECRETS };

/** The option table of `pause()`. */
export const PAUSE: OptionTable<PauseOptions> = {
  timeoutMs: QUIESCE_MS,
  whenBusy: oneOf(['reject', 'freeze'], "'reject' or 'freeze'"),
};

/** The option table of the calls of a store. */
export const STORE_CALL: OptionTable<TenantOptions> = { tenant: TENANT };

const STORE: OptionTable<SnapshotStoreOptions> = {
  directory: HOST_FOLDER,
  maxBytes: whole(0, 64 * TERABYTE, 'bytes'),
  memoryBytes: whole(0, TERABYTE, 'bytes'),
};

/** Accepts the options of a store. */
export const SNAPSHOT_STORE = objectWith(STORE, 'an object with options of the store');
