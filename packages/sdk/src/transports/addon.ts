// The addon's functions, as `packages/sidecar/crates/node` gives them. Arguments stand in fixed places because reading a property by
// name costs as much there as the whole call. What does not end within a call is told by `OnEvent`.

import type {
  FileData,
  FileNames,
  FileStatus,
  HostCall,
  ProcessTable,
  RunnerCreated,
  RuntimeUsage,
  SidecarResourceSnapshot,
  WireError,
  WireListener,
} from '../channel/messages.js';
import type { ChangeList, FileHandle, FileOpen } from '../channel/opened.js';
import type { PermissionsEvents, WirePermissions } from '../channel/permission-messages.js';
import type { Restored, RestoredProgram, RuntimeCopy, SnapshotEntries, WireSnapshot } from '../channel/snapshots.js';
import type { LimitWarning } from '../options/limits.js';
import type { Outcome } from '../sidecar/connection.js';

/** What an event is: the `kind` of `OnEvent`. */
export const Event = {
  nothing: 0,
  outcome: 1,
  failure: 2,
  stdout: 3,
  stderr: 4,
  runner: 5,
  hostCall: 6,
  hostCancel: 7,
  permissions: 8,
  changes: 9,
  snapshot: 70,
  warning: 64,
  streamData: 30,
  streamCredit: 31,
  streamEnded: 32,
  streamClosed: 33,
  listener: 34,
  noListener: 35,
} as const;

/**
 * Told on Node's thread, never within a call. Of a question `id` is its own number; when it is given up, `payload` is its runtime. Of
 * decisions about permissions and of a warning `id` is the runtime.
 */
export type OnEvent = (
  id: number,
  kind: number,
  payload:
    | Outcome
    | WireError
    | Uint8Array
    | RunnerCreated
    | HostCall
    | Decisions
    | ChangeList
    | LimitWarning
    | WireListener
    | number
    | undefined,
) => void;

/** Decisions about permissions, and how many were lost after them. */
export type Decisions = Pick<PermissionsEvents, 'events' | 'lost'>;

/** Builds an outcome for the addon, which would have to name every property; `truncated` is 1 for stdout, 2 for stderr, or their sum. */
export function makeOutcome(
  exitCode: number,
  stdout: Uint8Array | string,
  stderr: Uint8Array | string,
  value: string | null | undefined,
  failure: WireError | null | undefined,
  truncated: number,
  memoryMapNs: number,
  instantiateNs: number,
  guestStartNs: number,
  guestRunNs: number,
): Outcome {
  return {
    exitCode,
    stdout,
    stderr,
    value: value ?? undefined,
    failure: failure ?? undefined,
    stdoutTruncated: (truncated & 1) !== 0,
    stderrTruncated: (truncated & 2) !== 0,
    timings: { memoryMapNs, instantiateNs, guestStartNs, guestRunNs },
  };
}

/** Options of `open()`. */
export interface AddonOptions {
  imageDir: string;
  /** See `SidecarOptions`; what is `undefined` has the addon's default. */
  workers: number | undefined;
  warmSlots: number | undefined;
  maxRuntimes: number | undefined;
  spinUs: number | undefined;
  /** For how many microseconds a program may run on the calling thread. */
  inlineUs: number;
  /** The topics of the log for developers. Without: no log. */
  log?: string | undefined;
  /** Where snapshots are kept, and how many bytes of them. */
  snapshots: { directory: string; maxBytes: number; memoryBytes: number };
}

/** What the addon's file exports. */
export interface Addon {
  /** Opens a core. Throws an `Error` with `code` and `details`, as every function below does. */
  open(options: AddonOptions, onEvent: OnEvent, outcome: typeof makeOutcome): AddonCore;
}

type Env = Readonly<Record<string, string>>;

/** One core. Ids are the caller's, not 0 and not in use; `streams` is 1 for stdout, 2 for stderr, or their sum. */
export interface AddonCore {
  readonly version: string;
  readonly loadNs: number;
  /** Does nothing: what a call costs at least. */
  noop(): void;
  /**
   * `limits` are names, `values` theirs. `mounts`: guest path, host path, `ro`, `rw` or `overlay`, and so on; of a file system its number, and
   * `app-ro` or `app-rw`.
   */
  createRuntime(
    env?: Env,
    cwd?: string,
    profile?: string,
    limits?: readonly string[],
    values?: readonly number[],
    mounts?: readonly string[],
    warn?: boolean,
    tenant?: string,
  ): number;
  /** The same from a snapshot; when it has to be read first, the answer is the event that ends request `id`. */
  restoreRuntime(
    id: number,
    snapshot: string,
    tenant: string | undefined,
    env: Env | undefined,
    cwd: string | undefined,
    profile: string | undefined,
    limits: readonly string[] | undefined,
    values: readonly number[] | undefined,
    mounts: readonly string[] | undefined,
    warn: boolean | undefined,
    permissions: WirePermissions | undefined,
    bindings: readonly string[] | undefined,
  ): { runtime: number; restored: Restored } | undefined;
  disposeRuntime(runtime: number): void;
  /**
   * The outcome, when the program has ended within the call; else it comes as an event. `mode` is 0 for exec, 1 for run, 2 for file, 3 for
   * command. Of a live program it is the number.
   */
  start(
    id: number,
    runtime: number,
    mode: number,
    code: string,
    args: readonly string[] | undefined,
    env: Env | undefined,
    cwd: string | undefined,
    stdin: Uint8Array | undefined,
    timeoutMs: number | undefined,
    streams: number,
    execArgv: readonly string[] | undefined,
    live: boolean | undefined,
  ): Outcome | number | undefined;
  createRunner(id: number, runtime: number, env?: Env, cwd?: string): RunnerCreated | undefined;
  evaluate(id: number, runner: number, code: string, timeoutMs: number | undefined, streams: number): Outcome | undefined;
  disposeRunner(runner: number): void;
  cancel(id: number): void;
  credit(id: number, bytes: number): void;
  resources(): SidecarResourceSnapshot;
  runtimeResources(runtime: number): RuntimeUsage;
  readFile(runtime: number, path: string, offset: number, length: number): FileData;
  writeFile(runtime: number, path: string, data: Uint8Array, append: boolean, mode?: number): void;
  listFiles(runtime: number, path: string): FileNames;
  statFile(runtime: number, path: string, follow: boolean): FileStatus;
  makeDirectory(runtime: number, path: string, recursive: boolean): void;
  removeFile(runtime: number, path: string, recursive: boolean): void;
  renameFile(runtime: number, from: string, to: string): void;
  openFile(runtime: number, path: string, purpose: FileOpen['for'], mode?: number): FileHandle;
  closeFile(runtime: number, handle: number, discard: boolean): void;
  pullFile(runtime: number, handle: number, offset: number, length: number): FileData;
  pushFile(runtime: number, handle: number, offset: number, data: Uint8Array): void;
  watchFile(runtime: number, path: string, recursive: boolean): FileHandle;
  /** The changes come as the event that ends request `id`. */
  nextChanges(id: number, runtime: number, handle: number): void;
  setFile(runtime: number, path: string, follow: boolean, mode?: number, atimeUs?: number, mtimeUs?: number): void;
  linkFile(runtime: number, path: string, target: string, hard: boolean): void;
  readLink(runtime: number, path: string): string;
  writeProcess(runtime: number, pid: number, data: Uint8Array, end: boolean): void;
  signalProcess(runtime: number, pid: number, signal: number): void;
  listProcesses(runtime: number): ProcessTable;
  /** Answers a question: `ok`, or without it a code and a message. */
  answerHost(runtime: number, number: number, ok: Uint8Array | undefined, code?: string, message?: string): void;
  /** For each binding its name, its commands with spaces between them, and the bytes of input that one call may have. */
  setBindings(runtime: number, bindings: readonly string[]): void;
  setPermissions(runtime: number, permissions: WirePermissions): void;
  watchPermissions(runtime: number, on: boolean): void;
  /** Decisions have been taken: the next ones may come. */
  takePermissions(runtime: number): void;
  /** Connects to `port` and `host`, or to `path`; what happens then is told by `number`, which the calls that follow name. */
  openStream(number: number, runtime: number, port?: number, host?: string, path?: string): void;
  writeStream(number: number, runtime: number, data: Uint8Array): void;
  endStream(number: number, runtime: number): void;
  creditStream(number: number, runtime: number, bytes: number): void;
  closeStream(number: number, runtime: number, reset: boolean): void;
  listListeners(all: boolean, runtime: number, port?: number, host?: string, path?: string): WireListener[];
  /** The answer is an event with that number. */
  awaitListener(number: number, runtime: number, port?: number, host?: string, path?: string): void;
  stopWaiting(number: number, runtime: number): void;
  /** Of the following ones each is answered within the call, or by the event that ends request `id`. `labels`: name, text, and so on. */
  takeSnapshot(
    id: number,
    runtime: number,
    disk: boolean,
    timeoutMs: number | undefined,
    name: string | undefined,
    labels: readonly string[],
  ): WireSnapshot | undefined;
  rollback(id: number, runtime: number, snapshot: string): RestoredProgram[] | undefined;
  cloneRuntime(
    id: number,
    runtime: number,
    count: number,
    settle: boolean,
    warn: boolean,
    timeoutMs: number | undefined,
    mounts: readonly string[] | undefined,
    bindings: readonly string[] | undefined,
  ): RuntimeCopy[] | undefined;
  pauseRuntime(id: number, runtime: number, timeoutMs: number | undefined, temporary: boolean): WireSnapshot | undefined;
  resumeRuntime(
    id: number,
    runtime: number,
    warn: boolean,
    mounts: readonly string[] | undefined,
    bindings: readonly string[] | undefined,
  ): RestoredProgram[] | undefined;
  listSnapshots(id: number, tenant: string): SnapshotEntries | undefined;
  getSnapshot(id: number, tenant: string, snapshot: string): WireSnapshot | undefined;
  deleteSnapshot(id: number, tenant: string, snapshot: string): void;
  exportSnapshot(id: number, tenant: string, snapshot: string, path: string): void;
  importSnapshot(id: number, tenant: string, path: string): WireSnapshot | undefined;
  persistSnapshot(id: number, tenant: string, snapshot: string): void;
  digestSnapshot(id: number, tenant: string, snapshot: string): string | undefined;
  /** The outcome is the event that ends request `id`. */
  attachProcess(id: number, runtime: number, pid: number, streams: number): void;
  shutdown(): void;
}
