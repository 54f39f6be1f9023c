// The SDK and the sidecar speak over a socket pair with this protocol. Each side sends `hello` first, with its version; the versions must
// be equal. The SDK then sends requests; the sidecar answers each one exactly once, with `reply` or `error`, in the order in which
// they are done, and may send `output` for a request before that. `credit` and `cancel` name a request and are not answered. The sidecar asks
// too: a `host.call` has a number of its own and is answered with `host.result`. A message is a frame `[kind, id, body]`; below are all kinds, then the SDK's messages, then the sidecar's, in the order of
// `docs/internals/protocol.md`. The other side's file has the same messages in the same order: change both, and the golden frames.
//
// Bodies from the sidecar are checked by `checks.ts`, those to the sidecar by the sidecar. Next: `channel.ts`.

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

/** The id of frames that belong to the connection and not to a request. */
export const CONNECTION_ID = 0;

/** Uncredited bytes of streamed output at which the guest's writes block, per request; of a connection, in each direction. */
export const STREAM_WINDOW_BYTES = 262_144;

/** The largest `data` of an output message. */
export const MAX_OUTPUT_BYTES = 65_536;

// What the SDK sends.

/** hello, of the SDK. */
export interface SdkHello {
  version: string;
}

/** credit: so many bytes of a request's output have been consumed. */
export interface Credit {
  bytes: number;
}

/** The body of cancel, ping and resources, and of a reply that says only that it is done. */
export type Empty = Record<string, never>;

/** runtime.create. */
export interface RuntimeCreate {
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  limits?: WireLimits;
  /** Where the limits come from that are not named. */
  profile?: 'default' | 'hardened';
  /** Whether limit.warning is sent. */
  warn?: boolean;
  files?: Readonly<Record<string, Uint8Array>>;
  mounts?: readonly WireMount[];
  permissions?: WirePermissions;
  /** What programs may call from the first moment on. */
  bindings?: readonly WireBinding[];
  /** It goes on from this snapshot: an id, a digest or a name. */
  snapshot?: string;
  /** Whose it is. */
  tenant?: string;
}

/** An entry of `mounts` of runtime.create. */
export interface WireMount {
  guestPath: string;
  hostPath: string;
  readOnly: boolean;
  overlay?: boolean;
  /** It is no folder but a file system of this side's, by its number; `hostPath` is empty. */
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
  /** `file`: `code` is the path of the program's file. `command`: it is a command, and `args` are its arguments. */
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

/** `stream` of process.start and runner.eval: which descriptors are sent on while the program runs. */
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

/** file.read: at most `length` bytes from `offset` (0 unless given) on. Paths are absolute guest paths, here and below. */
export interface FileRead {
  runtime: number;
  path: string;
  offset?: number;
  length: number;
}

/** file.write: the whole file, or with `append` more of it. */
export interface FileWrite {
  runtime: number;
  path: string;
  data: Uint8Array;
  append?: boolean;
  /** Permissions of a file that is made. */
  mode?: number | undefined;
}

/** file.list. */
export interface FileList {
  runtime: number;
  path: string;
}

/** file.stat: of the file that a link leads to, unless `follow` is false. */
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

/** process.write: more for the stdin of a live program, and with `end` the last of it. */
export interface ProcessWrite {
  runtime: number;
  pid: number;
  data: Uint8Array;
  end?: boolean;
}

/** process.signal: Linux's number; 0 only looks. */
export interface ProcessSignal {
  runtime: number;
  pid: number;
  signal: number;
}

/** process.list. */
export interface ProcessList {
  runtime: number;
}

/** stream.open, listener.wait and listener.list: a TCP port, or the path of a Unix socket; for the list also neither. */
export interface NetworkTarget {
  runtime: number;
  port?: number;
  host?: string;
  path?: string;
}

/** host.result, whose id is the call's number: one of both. A code that is the name of a Linux error number is that to the guest. */
export interface HostResult {
  runtime: number;
  ok?: Uint8Array;
  failure?: { code: string; message: string };
}

/** bindings.set: all that the runtime has from now on. */
export interface BindingsSet {
  runtime: number;
  bindings: readonly WireBinding[];
}

/** An entry of bindings.set: its name, the commands that call it, and the bytes of input that one call may have. */
export interface WireBinding {
  name: string;
  commands: readonly string[];
  inputBytes: number;
}

/** runtime.resources. */
export interface RuntimeResources {
  runtime: number;
}

// What the sidecar sends.

/** hello, of the sidecar. `image` is the guest image's content hash, `loadNs` what loading the precompiled module took. */
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

/** output: what a streamed descriptor wrote; 1 is stdout, 2 is stderr. */
export interface Output {
  fd: 1 | 2;
  data: Uint8Array;
}

/** started: a live program has its number. */
export interface Started {
  pid: number;
}

/** stream.data. Its id is that of the stream.open, as in all messages about a connection. */
export interface StreamData {
  data: Uint8Array;
}

/** stream.close: the connection is over, and why unless both directions have ended. */
export interface StreamClosed {
  failure?: WireError;
}

/** The reply to listener.wait, and an entry of that to listener.list. */
export interface WireListener {
  pid: number;
  host?: string;
  port?: number;
  path?: string;
}

/** host.call, whose id is the call's number in its runtime: a program wants something of a service here. */
export interface HostCall {
  runtime: number;
  pid: number;
  service: string;
  name: string;
  input: Uint8Array;
}

/** host.cancel: nobody waits for the call of that number any more. */
export interface HostCancel {
  runtime: number;
}

/** The reply to runtime.create. */
export interface RuntimeCreated {
  runtime: number;
  configureNs: number;
  /** What came with the snapshot that it goes on from. */
  restored?: Restored;
}

/** A program that goes on in a runtime that came from a snapshot: a runner, or one that can be attached to. */
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

/** Nanoseconds spent in each step of a start. */
export interface Timings {
  memoryMapNs: number;
  instantiateNs: number;
  guestStartNs: number;
  guestRunNs: number;
}

/** The reply to runner.create. */
export interface RunnerCreated {
  runner: number;
  /** The number of its process in the runtime. */
  pid: number;
  timings: Timings;
}

/** The reply to resources: what the sidecar has in use, over all its runtimes. */
export interface SidecarResourceSnapshot {
  /** Live runtimes. */
  runtimes: number;
  /** Live guest processes, resident ones included. */
  processes: number;
  /** Mapped memory slots that wait clean for the next process. */
  warmSlots: number;
  /** Bytes of linear memory that live processes may touch now. */
  memoryBytes: number;
  /** Bytes of output that wait for their reader. */
  bufferedBytes: number;
}

/** limit.warning: a runtime comes near a limit. */
export interface WireWarning {
  runtime: number;
  limit: LimitName;
  used: number;
  max: number;
  pid?: number;
}

/** The reply to runtime.resources: lists of one length, and counts. */
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

/** The reply to file.read: the bytes, as many as there are and were asked for, and the file's size. */
export interface FileData {
  data: Uint8Array;
  size: number;
}

/** What a file is. `other` is a device, a pipe or a socket. */
export type FileType = 'file' | 'directory' | 'symlink' | 'other';

/** The reply to file.list: two lists of one length, in the order of the names. */
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

/** The reply to process.list: lists of one length, in the order of the numbers. */
export interface ProcessTable {
  pids: number[];
  ppids: number[];
  groups: number[];
  commands: string[];
}
