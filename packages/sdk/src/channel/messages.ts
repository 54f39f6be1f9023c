// The protocol between SDK and sidecar. Each side first sends `hello` with its version, and the
// versions must be equal. The SDK then sends requests. The sidecar replies to each request exactly
// once, with `reply` or `error`, in the order of completion, and may send `output` for a request
// before its reply. `credit` and `cancel` name a request and have no reply. A `host.call` of the
// sidecar has a number of its own, and `host.result` is its reply.
//
// A message is a frame `[kind, id, body]`. Below are all kinds, then the messages of the SDK, then
// those of the sidecar, in the order of `docs/internals/protocol.md` and of the crate `protocol`.
// `checks.ts` checks bodies of the sidecar; the sidecar checks bodies of the SDK. Next:
// `channel.ts`.

import type { LimitName } from '../options/limits.js';
import type { WirePermissions } from './permission-messages.js';

/** The kinds, by their names in `docs/internals/protocol.md`. */
export const Kind = {
  hello: 1,
  reply: 2,
  error: 3,
  output: 4,
  credit: 5,
  cancel: 6,
  started: 7,
  ping: 10,
  runtimeCreate: 11,
  runtimeDispose: 12,
  processStart: 13,
  runnerCreate: 14,
  runnerEval: 15,
  runnerDispose: 16,
  resources: 17,
  fileRead: 18,
  fileWrite: 19,
  fileList: 20,
  fileStat: 21,
  fileMkdir: 22,
  fileRemove: 23,
  fileRename: 24,
  processWrite: 25,
  processSignal: 26,
  processList: 27,
  streamOpen: 30,
  streamData: 31,
  streamCredit: 32,
  streamEnd: 33,
  streamClose: 34,
  listenerList: 35,
  listenerWait: 36,
  listenerCancel: 37,
  hostCall: 40,
  hostResult: 41,
  hostCancel: 42,
  bindingsSet: 43,
  fileOpen: 50,
  fileClose: 51,
  filePull: 52,
  filePush: 53,
  fileWatch: 54,
  fileChanges: 55,
  fileSet: 56,
  fileLink: 57,
  fileReadlink: 58,
  permissionsSet: 60,
  permissionsWatch: 61,
  permissionsEvents: 62,
  permissionsTaken: 63,
  limitWarning: 64,
  runtimeResources: 65,
  snapshotTake: 70,
  runtimeRollback: 71,
  runtimeClone: 72,
  runtimePause: 73,
  runtimeResume: 74,
  snapshotList: 75,
  snapshotGet: 76,
  snapshotDelete: 77,
  snapshotExport: 78,
  snapshotImport: 79,
  processAttach: 80,
  snapshotPersist: 81,
  snapshotDigest: 82,
} as const;

/** The id of frames that belong to no request. */
export const CONNECTION_ID = 0;

/**
 * Uncredited bytes of a request's output at which the guest's writes block; of a connection, in
 * each direction.
 */
export const STREAM_WINDOW_BYTES = 262_144;

/** The largest `data` of an output message. */
export const MAX_OUTPUT_BYTES = 65_536;

// Messages of the SDK.

/** hello, of the SDK. */
export interface SdkHello {
  version: string;
}

/** credit: bytes of a request's output that were consumed. */
export interface Credit {
  bytes: number;
}

/** The body of cancel, ping and resources, and of a reply without a result. */
export type Empty = Record<string, never>;

/** runtime.create. */
export interface RuntimeCreate {
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  limits?: WireLimits;
  /** The source of limits that are not set. */
  profile?: 'default' | 'hardened';
  /** Whether limit.warning is sent. */
  warn?: boolean;
  files?: Readonly<Record<string, Uint8Array>>;
  mounts?: readonly WireMount[];
  permissions?: WirePermissions;
  /** Bindings that restored programs may call at once. */
  bindings?: readonly WireBinding[];
  /** The snapshot to restore: an id, a digest or a name. */
  snapshot?: string;
  /** The owner. */
  tenant?: string;
}

/** An entry of `mounts` of runtime.create. */
export interface WireMount {
  guestPath: string;
  hostPath: string;
  readOnly: boolean;
  overlay?: boolean;
  /** The number of an app file system. `hostPath` is empty then. */
  fileSystem?: number;
}

/** `limits` of runtime.create, by their names. */
export type WireLimits = Readonly<Partial<Record<LimitName, number>>>;

/** runtime.dispose. */
export interface RuntimeDispose {
  runtime: number;
}

/** process.start. */
export interface ProcessStart {
  runtime: number;
  /** `file`: `code` is a path. `command`: `code` is a command, and `args` are its arguments. */
  mode: 'exec' | 'run' | 'file' | 'command';
  code: string;
  args?: readonly string[];
  execArgv?: readonly string[];
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  stdin?: Uint8Array;
  timeoutMs?: number;
  stream?: Streams;
  /** Whether `started` is sent, and stdin stays open. */
  live?: boolean;
}

/** `stream` of process.start and runner.eval: the descriptors whose output is streamed. */
export interface Streams {
  stdout?: boolean;
  stderr?: boolean;
}

/** runner.create. */
export interface RunnerCreate {
  runtime: number;
  env?: Readonly<Record<string, string>>;
  cwd?: string;
}

/** runner.eval. */
export interface RunnerEval {
  runner: number;
  code: string;
  timeoutMs?: number;
  stream?: Streams;
}

/** runner.dispose. */
export interface RunnerDispose {
  runner: number;
}

/**
 * file.read: at most `length` bytes from `offset` (0). Paths are absolute guest paths, here and
 * below.
 */
export interface FileRead {
  runtime: number;
  path: string;
  offset?: number;
  length: number;
}

/** file.write: replaces a file, or appends to it. */
export interface FileWrite {
  runtime: number;
  path: string;
  data: Uint8Array;
  append?: boolean;
  /** Permission bits of a new file. */
  mode?: number | undefined;
}

/** file.list. */
export interface FileList {
  runtime: number;
  path: string;
}

/** file.stat: follows a link unless `follow` is false. */
export interface FileStat {
  runtime: number;
  path: string;
  follow?: boolean;
}

/** file.mkdir and file.remove. */
export interface FileTree {
  runtime: number;
  path: string;
  recursive?: boolean;
}

/** file.rename. */
export interface FileRename {
  runtime: number;
  from: string;
  to: string;
}

/** process.write: appends to the stdin of a live program, and ends stdin with `end`. */
export interface ProcessWrite {
  runtime: number;
  pid: number;
  data: Uint8Array;
  end?: boolean;
}

/** process.signal: Linux's number. 0 only tests for the process. */
export interface ProcessSignal {
  runtime: number;
  pid: number;
  signal: number;
}

/** process.list. */
export interface ProcessList {
  runtime: number;
}

/**
 * stream.open, listener.wait and listener.list: a TCP port, or the path of a Unix socket. A list
 * may have neither.
 */
export interface NetworkTarget {
  runtime: number;
  port?: number;
  host?: string;
  path?: string;
}

/**
 * host.result, whose id is the number of the host call: `ok` or `failure`. The guest sees a code
 * that names a Linux error number as that number.
 */
export interface HostResult {
  runtime: number;
  ok?: Uint8Array;
  failure?: { code: string; message: string };
}

/** bindings.set: replaces all bindings of the runtime. */
export interface BindingsSet {
  runtime: number;
  bindings: readonly WireBinding[];
}

/** An entry of bindings.set: the name, the commands, and the largest input of one call. */
export interface WireBinding {
  name: string;
  commands: readonly string[];
  inputBytes: number;
}

/** runtime.resources. */
export interface RuntimeResources {
  runtime: number;
}

// Messages of the sidecar.

/**
 * hello, of the sidecar. `image` is the content hash of the guest image, `loadNs` the load time of
 * the module.
 */
export interface SidecarHello {
  version: string;
  pid: number;
  image: string;
  loadNs: number;
}

/** error, and the `failure` of an outcome. */
export interface WireError {
  code: string;
  message: string;
  details: Record<string, unknown>;
}

/** output: bytes of a streamed descriptor. 1 is stdout, 2 is stderr. */
export interface Output {
  fd: 1 | 2;
  data: Uint8Array;
}

/** started: the pid of a live program. */
export interface Started {
  pid: number;
}

/** stream.data. All messages of a connection have the id of its stream.open. */
export interface StreamData {
  data: Uint8Array;
}

/** stream.close: the end of a connection, with the failure unless both directions have ended. */
export interface StreamClosed {
  failure?: WireError;
}

/** The reply to listener.wait, and an entry of the reply to listener.list. */
export interface WireListener {
  pid: number;
  host?: string;
  port?: number;
  path?: string;
}

/** host.call, whose id is the number of the call in its runtime. */
export interface HostCall {
  runtime: number;
  pid: number;
  service: string;
  name: string;
  input: Uint8Array;
}

/** host.cancel: the guest has abandoned the call with this number. */
export interface HostCancel {
  runtime: number;
}

/** The reply to runtime.create. */
export interface RuntimeCreated {
  runtime: number;
  configureNs: number;
  /** The parts that came with a snapshot. */
  restored?: Restored;
}

/** A restored program: a runner, or a program that a handle can attach to. */
export interface RestoredProgram {
  pid: number;
  runner?: number;
}

/** `restored` of the reply to runtime.create. */
export interface Restored {
  programs: RestoredProgram[];
  cwd: string;
  permissions: WirePermissions;
}

/** The reply to process.start and runner.eval. `value` is JSON text. */
export interface Outcome {
  exitCode: number;
  stdout: Uint8Array;
  stderr: Uint8Array;
  value?: string;
  failure?: WireError;
  stdoutTruncated?: boolean;
  stderrTruncated?: boolean;
  timings: Timings;
}

/** Nanoseconds of each step of a start. */
export interface Timings {
  memoryMapNs: number;
  instantiateNs: number;
  guestStartNs: number;
  guestRunNs: number;
}

/** The reply to runner.create. */
export interface RunnerCreated {
  runner: number;
  /** The pid of its process. */
  pid: number;
  timings: Timings;
}

/** The reply to resources: the resources of a sidecar over all its runtimes. */
export interface SidecarResourceSnapshot {
  /** Live runtimes. */
  runtimes: number;
  /** Live guest processes, resident runners included. */
  processes: number;
  /** Warm slots: mapped and clean memory slots for the next processes. */
  warmSlots: number;
  /** Bytes of linear memory of live processes. */
  memoryBytes: number;
  /** Bytes of output that no reader has taken. */
  bufferedBytes: number;
}

/** limit.warning: the use of a limit has passed 80 %. */
export interface WireWarning {
  runtime: number;
  limit: LimitName;
  used: number;
  max: number;
  pid?: number;
}

/** The reply to runtime.resources: lists of equal length, and counts. */
export interface RuntimeUsage {
  limits: readonly string[];
  used: readonly number[];
  high: readonly number[];
  max: readonly number[];
  descriptors: number;
  operations: number;
  timers: number;
  cpuMs: number;
  bufferedBytes: number;
}

/** The reply to file.read: the bytes, and the size of the file. */
export interface FileData {
  data: Uint8Array;
  size: number;
}

/** The type of a file. `other` is a device, a pipe or a socket. */
export type FileType = 'file' | 'directory' | 'symlink' | 'other';

/** The reply to file.list: two lists of equal length, in the order of the names. */
export interface FileNames {
  names: string[];
  types: FileType[];
}

/** The reply to file.stat. Times are microseconds since 1970. */
export interface FileStatus {
  type: FileType;
  mode: number;
  size: number;
  ino: number;
  nlink: number;
  uid: number;
  gid: number;
  atimeUs: number;
  mtimeUs: number;
  ctimeUs: number;
  birthtimeUs: number;
}

/** The reply to process.list: lists of equal length, in the order of the pids. */
export interface ProcessTable {
  pids: number[];
  ppids: number[];
  groups: number[];
  commands: string[];
}
