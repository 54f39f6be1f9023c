// What runtimes and runners need from a sidecar, wherever it runs. `channel/connection.ts` is the one over frames, for a process;
// `transports/embedded.ts` the one over the addon, in this process. Nothing above this line knows which of them it has.

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

/** One sidecar, as those see it who run programs in it. Every promise rejects when the sidecar ends. */
export interface SidecarConnection {
  /** The process that the guests run in. */
  readonly pid: number;
  /** Makes a runtime. With `warn` its warnings go to `onWarning`. */
  createRuntime(options: RuntimeCreate, onWarning?: LimitWarningListener): Promise<RuntimeCreated>;
  /** Connections into its runtimes, and their listeners. */
  readonly network: NetworkLink;
  /** Has `service` answer what the runtime's programs ask under that name, until the runtime is disposed. */
  serve(runtime: number, name: string, service: HostService): void;
  /**
   * Runtimes are about to come whose programs run from the first moment on: what they ask waits until the function that this gives is called, and goes
   * then to those who serve them.
   */
  expectCalls(): () => void;
  /** What the runtime's programs have asked so far will not be answered: they are gone. Its services stay. */
  dropCalls(runtime: number): void;
  /** Snapshots of its runtimes, and those that it keeps. */
  readonly snapshots: SnapshotLink;
  /** Whether the sidecar is gone, or has been disposed. */
  isOver(): boolean;
  /** Which bindings programs may call. */
  setBindings(bindings: BindingsSet): Promise<void>;
  /** Ends a runtime and all that runs in it. Whatever it asked is aborted. */
  disposeRuntime(runtime: number): Promise<void>;
  /** Starts a resident runner. */
  createRunner(options: RunnerCreate): Promise<RunnerCreated>;
  /** Ends a resident runner. */
  disposeRunner(runner: number): Promise<void>;
  /** An id for `start` or `evaluate`, by which the program can be canceled and its output credited. */
  nextId(): number;
  /**
   * Runs a program. An outcome that is known before this returns is returned as it is, without a promise. `onStarted` is called for a live
   * program, unless the call fails.
   */
  start(id: number, program: ProcessStart, onOutput?: OutputListener, onStarted?: StartListener): Outcome | Promise<Outcome>;
  /** Evaluates a snippet in a resident runner. The same. */
  evaluate(id: number, snippet: RunnerEval, onOutput?: OutputListener): Outcome | Promise<Outcome>;
  /** Ends a program or an evaluation; its outcome still comes. */
  cancel(id: number): void;
  /** So many bytes of a program's output have been consumed. */
  credit(id: number, bytes: number): void;
  /** Resolves when the sidecar has answered. */
  ping(): Promise<void>;
  /** What the sidecar has in use. */
  resources(): Promise<SidecarResourceSnapshot>;
  /** What a runtime has in use. */
  runtimeResources(about: RuntimeResources): Promise<RuntimeUsage>;
  /** Reads a part of a file. The bytes may be a view of memory that is used again. */
  readFile(read: FileRead): Promise<FileData>;
  /** Writes a file, or more of it. */
  writeFile(write: FileWrite): Promise<void>;
  /** Lists a directory. */
  listFiles(list: FileList): Promise<FileNames>;
  /** What is known of a file. */
  statFile(stat: FileStat): Promise<FileStatus>;
  /** Makes a directory. */
  makeDirectory(tree: FileTree): Promise<void>;
  /** Removes a file or a directory. */
  removeFile(tree: FileTree): Promise<void>;
  /** Gives a file another name. */
  renameFile(rename: FileRename): Promise<void>;
  /** Files, archives and watches that stay open. */
  readonly opened: OpenedFiles;
  /** Writes to the stdin of a live program. */
  writeProcess(write: ProcessWrite): Promise<void>;
  /** Sends a process a signal. */
  signalProcess(signal: ProcessSignal): Promise<void>;
  /** The processes of a runtime. */
  listProcesses(list: ProcessList): Promise<ProcessTable>;
  /** Replaces what a runtime's programs may do. */
  setPermissions(set: PermissionsSet): Promise<void>;
  /** Has decisions about them told to `listener`, or to nobody. */
  watchPermissions(runtime: number, listener: PermissionsListener | undefined): Promise<void>;
  /** Ends the sidecar; what waits rejects. Resolves when it is gone. */
  dispose(): Promise<void>;
}

/** A connection that may be a runtime's own. */
export interface ProcessConnection extends SidecarConnection {
  /** Resolves when no request waits any more, whatever became of them; `undefined` when none waits now. */
  idle(): Promise<void> | undefined;
}

/** A connection that has just been opened, and how long that took. Requests need not wait for `opened`. */
export interface Opening<C extends SidecarConnection = SidecarConnection> {
  /** The connection; usable at once. */
  readonly connection: C;
  /** Resolves when the sidecar has introduced itself, rejects when it could not be started. */
  readonly opened: Promise<Opened>;
}

/** How long opening took, in milliseconds. */
export interface Opened {
  /** Until the process was started; `undefined` when there is no process. */
  readonly spawnMs?: number;
  /** From there until its hello. */
  readonly sessionMs: number;
  /** Inside that: loading the precompiled module. */
  readonly moduleLoadMs: number;
}
