// The options of every public call: names, units, defaults. `check.ts` decides whether what came is one of these, `schemas.ts` says
// what is wrong with it when it is not.

import type { Bindings } from '../bindings/types.js';
import type { FileSystemMount } from '../file-systems/types.js';
import type { Sidecar } from '../sidecar/sidecar.js';
import type { Snapshot } from '../snapshots/snapshot.js';
import type { IdleOptions } from './idle.js';
import type { Limits, LimitWarningListener } from './limits.js';
import type { PermissionsPolicy } from './permission-types.js';
import type { SnapshotStoreOptions } from './snapshots.js';

/** One measured step. `durationMs` has the resolution of the host's monotonic clock. */
export interface BootTiming {
  /** Which step: see `BootPhase`. */
  phase: BootPhase;
  /** How long it took, in milliseconds. */
  durationMs: number;
}

/**
 * The steps that `onBootTiming` reports.
 *
 * - `sidecar_spawn`: from the call until the operating system has started the sidecar's process.
 * - `session_open`: from there until the sidecar has introduced itself.
 * - `module_load`: inside these two, the sidecar loading the precompiled engine. Reported once per sidecar, to the first who asks.
 * - `vm_create`: from there (or from the call, when the sidecar was running) until the runtime exists, without `vm_configure`.
 * - `vm_configure`: inside the sidecar, checking and keeping the runtime's options.
 * - `runtime_create_total`: the whole of `NodeRuntime.create()`.
 * - `memory_map`, `instantiate`, `guest_start`, `guest_run`: inside the sidecar, once per program: getting the guest's memory,
 *   making the instance, reaching the program's first instruction, running it to its end.
 */
export type BootPhase =
  | 'sidecar_spawn'
  | 'session_open'
  | 'module_load'
  | 'vm_create'
  | 'vm_configure'
  | 'runtime_create_total'
  | 'memory_map'
  | 'instantiate'
  | 'guest_start'
  | 'guest_run';

/** Takes the timings. What it throws rejects the call that was measured. */
export type BootTimingListener = (timing: BootTiming) => void;

/** Environment variables: names without `=`, neither with NUL. */
export type Env = Readonly<Record<string, string>>;

/** A folder of this machine in the guest's tree. */
export interface Mount {
  /** Where the guest sees it, an absolute guest path. Directories above it are made; what lies there is hidden. */
  guestPath: string;
  /** The folder; a relative path is one of this process. Links in it are followed only into folders that are mounted too. */
  hostPath: string;
  /** Whether programs can change nothing in it. @default true */
  readOnly?: boolean;
  /**
   * Whether the folder is never written and programs may still change everything in it: what they change lies in the sandbox's memory, and
   * counts there. `readOnly` has no meaning then.
   * @default false
   */
  overlay?: boolean;
}

/** Options of `NodeRuntime.create()`. */
export interface NodeRuntimeOptions {
  /** Environment of its programs; nothing of the host's environment is added. @default {} */
  env?: Env;
  /** Working directory of its programs, an absolute guest path. @default '/workspace' */
  cwd?: string;
  /**
   * What its programs may do, merged over the default: files, processes, environment and bindings are allowed, and of the network what stays
   * inside the runtime. What this app does itself (`runtime.readFile()` and the like) is not asked about. See `docs/permissions.md`.
   */
  permissions?: PermissionsPolicy;
  /** The sidecar to run in. Without it the runtime spawns one of its own and ends it in `dispose()`. */
  sidecar?: Sidecar;
  /** Functions of this process that its programs can call: `callBinding(name, input)`, or a command of that name. @default {} */
  bindings?: Bindings;
  /**
   * Files that are there from the start, by their absolute guest paths; directories above them are made. They lie in memory and belong
   * to the guest.
   */
  files?: Readonly<Record<string, string | Uint8Array>>;
  /**
   * Folders of this machine and file systems of the app's own that the guest sees. Nothing is read from them before a program asks for it.
   */
  mounts?: readonly (Mount | FileSystemMount)[];
  /**
   * A `node_modules` folder of this machine, mounted read-only at `guestPath`, so that programs below it can import its packages. A package whose
   * link leaves the folder, as in a workspace of pnpm, is found when a folder in `roots` holds what the link leads to: those are mounted
   * read-only too, where the links lead in the guest. Otherwise it is `EACCES`, and the message says where the link leads.
   * @default guestPath: `node_modules` in `cwd`
   */
  nodeModules?: string | { hostPath: string; guestPath?: string; roots?: readonly string[] };
  /** Walls around its programs: a profile, and single limits over it. */
  limits?: Limits;
  /**
   * It goes on from this snapshot, or from the newest of its tenant's with this id, digest or name: files, processes and resident runners are those of the
   * snapshot. Folders and file systems that were mounted must be given again in `mounts`, and `bindings` too; `env`, `cwd`, `limits` and `permissions`
   * take the place of the snapshot's where they are given. Without `sidecar` it lives in the one in which the `Snapshot` was taken, while that
   * lives.
   */
  snapshot?: Snapshot | string;
  /** Whose it is, 1 to 200 characters: a tenant sees no snapshot of another. @default that of the `Snapshot`, else 'default' */
  tenant?: string;
  /** What becomes of it when nobody uses it. @default nothing: it stays as it is */
  idle?: IdleOptions;
  /** Told when the use of a limit passes 80 %, once until it has fallen below 60 %, and at most once a second for each limit. */
  onLimitWarning?: LimitWarningListener;
  /** Told how long each step takes, at creation and after each program. */
  onBootTiming?: BootTimingListener;
}

/** What all calls that evaluate code can be given. */
export interface EvaluationOptions {
  /** Wall-clock limit in milliseconds, a whole number from 1. @default none */
  timeout?: number;
  /** Ends the program when it aborts; the call then rejects with the signal's reason. */
  signal?: AbortSignal;
  /**
   * Takes stdout while the program runs. When it returns a promise, the next chunk waits for it, and a program that writes faster
   * blocks once 256 KiB are waiting. What it throws ends the program and rejects the call.
   */
  onStdout?: OutputHandler;
  /** The same for stderr. */
  onStderr?: OutputHandler;
}

/** Takes a chunk of output; the bytes are the handler's to keep. */
export type OutputHandler = (chunk: Uint8Array) => unknown;

/** Options of `runtime.exec()`, `runtime.execFile()` and `runtime.run()`. */
export interface RunOptions extends EvaluationOptions {
  /** Laid over the runtime's environment. */
  env?: Env;
  /** Instead of the runtime's working directory: an absolute guest path. */
  cwd?: string;
  /** `process.argv` after its first entry, as with `node -e`: the program has no name of its own. @default [] */
  args?: readonly string[];
  /** Options of `node` itself, such as `--no-warnings` or `--conditions=development`. @default [] */
  execArgv?: readonly string[];
  /**
   * What `code` is written in. TypeScript loses its types before it runs, as in Node 24: only what can be left out, no enums. `execFile()`
   * goes by the file's extension instead.
   * @default 'javascript'
   */
  language?: 'javascript' | 'typescript';
  /** What the program reads from stdin. @default nothing: end of file */
  stdin?: string | Uint8Array;
}

/** Options of `runtime.execCommand()` and `runtime.spawnCommand()`. */
export interface CommandOptions extends EvaluationOptions {
  /** Laid over the runtime's environment. */
  env?: Env;
  /** Instead of the runtime's working directory: an absolute guest path. */
  cwd?: string;
  /** What the command reads from stdin; of `spawnCommand()` and `spawn()` the beginning of it. @default nothing */
  stdin?: string | Uint8Array;
}

/** A signal by its name on Linux. */
export type SignalName = NodeJS.Signals;

/** Options of `runtime.createResidentRunner()`. */
export interface ResidentRunnerOptions {
  /** Laid over the runtime's environment. */
  env?: Env;
  /** Instead of the runtime's working directory: an absolute guest path. */
  cwd?: string;
}

/** Options of `runner.exec()`. */
export interface ResidentExecOptions extends EvaluationOptions {}

/** What every sidecar can be given. The defaults are for an app that runs many short programs. */
export interface SidecarOptions {
  /** Threads that run guests, 1 to 256. @default one per processor */
  workers?: number;
  /**
   * Memory slots kept mapped and clean for the next programs, 0 to 4,096. A program that finds none waits until one is mapped.
   * @default 16
   */
  warmSlots?: number;
  /**
   * Runtimes that it may have at a time, 1 to 65,536. Beyond that one more is `ERR_RESOURCE_EXHAUSTED`. Programs have limits of their
   * own there: each that runs takes about five mappings of memory, of which Linux grants a process 65,530.
   * @default 10,000
   */
  maxRuntimes?: number;
  /**
   * For how many microseconds, 0 to 10,000, a thread that has just answered looks for more work before it sleeps: a program that is
   * started in that time starts at once, and until then the thread uses its processor.
   * In this process it is also how long Node's own thread looks for the end of a call that is alone, instead of going to sleep.
   * @default 50 in a process, 100 in this one (0 with an inline budget)
   */
  spinUs?: number;
  /** Where snapshots are kept, and how many of them. */
  snapshots?: SnapshotStoreOptions;
  /** Told `sidecar_spawn` (of a process), `session_open` and `module_load`. */
  onBootTiming?: BootTimingListener;
}

/** Options of `Sidecar.spawn()`. */
export interface SidecarSpawnOptions extends SidecarOptions {}

/** Options of `Sidecar.embedded()`. */
export interface SidecarEmbeddedOptions extends SidecarOptions {
  /**
   * For how long, in milliseconds, a program may run on the calling thread before it moves to a worker thread. Waking a thread costs
   * more than a short evaluation; but while a guest runs inline, this process does nothing else. At 0 no guest ever runs on it.
   * @default 0
   */
  inlineBudgetMs?: number;
}
