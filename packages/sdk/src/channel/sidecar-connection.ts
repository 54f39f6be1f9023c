// The calls of one sidecar, wherever it runs. `connection.ts` implements them over frames, for a
// process; `transports/embedded.ts` over the addon, in this process. No other module knows which
// one it uses.

import type { HostService } from '../host-calls/dispatcher.js';
import type { LimitWarningListener } from '../options/limits.js';
import type { OutputListener, StartListener } from './channel.js';
import type {
  BindingsSet,
  FileData,
  FileList,
  FileNames,
  FileRead,
  FileRename,
  FileStat,
  FileStatus,
  FileTree,
  FileWrite,
  ProcessList,
  ProcessSignal,
  ProcessStart,
  ProcessTable,
  ProcessWrite,
  RunnerCreate,
  RunnerCreated,
  RunnerEval,
  RuntimeCreate,
  RuntimeCreated,
  RuntimeResources,
  RuntimeUsage,
  SidecarResourceSnapshot,
} from './messages.js';
import type { NetworkLink } from './network-link.js';
import type { OpenedFiles } from './opened.js';
import type { Outcome } from './outcome.js';
import type { PermissionsListener, PermissionsSet } from './permission-messages.js';
import type { SnapshotLink } from './snapshots.js';

/** The connection to one sidecar. Every promise rejects when the sidecar ends. */
export interface SidecarConnection {
  /** The pid of the process that runs the guests. */
  readonly pid: number;
  /** Creates a runtime. With `warn`, its limit warnings go to `onWarning`. */
  createRuntime(options: RuntimeCreate, onWarning?: LimitWarningListener): Promise<RuntimeCreated>;
  /** Connections into the runtimes, and listeners in them. */
  readonly network: NetworkLink;
  /**
   * Registers the service for a runtime's host calls of that name, until the runtime is disposed.
   */
  serve(runtime: number, name: string, service: HostService): void;
  /**
   * Holds host calls of unknown runtimes until the returned function is called. Programs of a
   * restored runtime run before its services are registered.
   */
  expectCalls(): () => void;
  /**
   * Abandons the runtime's host calls so far, because their programs have ended. The services stay.
   */
  dropCalls(runtime: number): void;
  /** Snapshots of the runtimes, and the store. */
  readonly snapshots: SnapshotLink;
  /** Whether the sidecar has ended or was disposed. */
  isOver(): boolean;
  /** Replaces the bindings that programs may call. */
  setBindings(bindings: BindingsSet): Promise<void>;
  /** Ends a runtime and its programs, and aborts its host calls. */
  disposeRuntime(runtime: number): Promise<void>;
  /** Starts a resident runner. */
  createRunner(options: RunnerCreate): Promise<RunnerCreated>;
  /** Ends a resident runner. */
  disposeRunner(runner: number): Promise<void>;
  /** Returns an id for `start` or `evaluate`, which `cancel` and `credit` use. */
  nextId(): number;
  /**
   * Runs a program. Returns an outcome without a promise if the program ends during the call.
   * `onStarted` receives the pid of a live program, unless the call fails.
   */
  start(id: number, program: ProcessStart, onOutput?: OutputListener, onStarted?: StartListener): Outcome | Promise<Outcome>;
  /** Evaluates a snippet in a resident runner, as `start` runs a program. */
  evaluate(id: number, snippet: RunnerEval, onOutput?: OutputListener): Outcome | Promise<Outcome>;
  /** Ends a program or an evaluation, which still has an outcome. */
  cancel(id: number): void;
  /** Returns credit for consumed bytes of a program's output. */
  credit(id: number, bytes: number): void;
  /** Resolves when the sidecar has replied. */
  ping(): Promise<void>;
  /** Returns the resources of the sidecar. */
  resources(): Promise<SidecarResourceSnapshot>;
  /** Returns the resources of a runtime. */
  runtimeResources(about: RuntimeResources): Promise<RuntimeUsage>;
  /** Reads a part of a file. The bytes may be a view of reused memory. */
  readFile(read: FileRead): Promise<FileData>;
  /** Replaces a file, or appends to it. */
  writeFile(write: FileWrite): Promise<void>;
  /** Lists a directory. */
  listFiles(list: FileList): Promise<FileNames>;
  /** Returns the status of a file. */
  statFile(stat: FileStat): Promise<FileStatus>;
  /** Makes a directory. */
  makeDirectory(tree: FileTree): Promise<void>;
  /** Removes a file or a directory. */
  removeFile(tree: FileTree): Promise<void>;
  /** Renames a file. */
  renameFile(rename: FileRename): Promise<void>;
  /** Open files, archives and watches. */
  readonly opened: OpenedFiles;
  /** Writes to the stdin of a live program. */
  writeProcess(write: ProcessWrite): Promise<void>;
  /** Sends a process a signal. */
  signalProcess(signal: ProcessSignal): Promise<void>;
  /** Returns the processes of a runtime. */
  listProcesses(list: ProcessList): Promise<ProcessTable>;
  /** Replaces the permissions of a runtime's programs. */
  setPermissions(set: PermissionsSet): Promise<void>;
  /** Sets or removes the listener for permission decisions. */
  watchPermissions(runtime: number, listener: PermissionsListener | undefined): Promise<void>;
  /** Ends the sidecar. Pending calls reject. Resolves when the sidecar has ended. */
  dispose(): Promise<void>;
}

/** A connection to a sidecar process, which a runtime may own. */
export interface ProcessConnection extends SidecarConnection {
  /** Resolves when no request is pending any more. Returns `undefined` if none is pending now. */
  idle(): Promise<void> | undefined;
}

/** A new connection, and the duration of its opening. Requests need not wait for `opened`. */
export interface Opening<C extends SidecarConnection = SidecarConnection> {
  /** The connection, usable at once. */
  readonly connection: C;
  /** Resolves with the sidecar's hello. Rejects if the sidecar could not be started. */
  readonly opened: Promise<Opened>;
}

/** The duration of an opening in milliseconds. */
export interface Opened {
  /** Until the process was started; `undefined` without a process. */
  readonly spawnMs?: number;
  /** From there until the hello. */
  readonly sessionMs: number;
  /** Within that time, the load time of the precompiled module. */
  readonly moduleLoadMs: number;
}
