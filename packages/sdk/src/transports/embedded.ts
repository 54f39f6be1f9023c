// A sidecar in this process: the addon behind the interface of a connection.
//
// The addon keeps Node's event loop alive while a request is pending, and reports the end of each
// request once. A program that ends within its starting call (see `inlineBudgetMs`) costs no
// promise. Next: `addon.ts`, the functions of the addon.

import { createRequire } from 'node:module';
import type { OutputListener, StartListener } from '../channel/channel.js';
import {
  type BindingsSet,
  type FileData,
  type FileList,
  type FileNames,
  type FileRead,
  type FileRename,
  type FileStat,
  type FileStatus,
  type FileTree,
  type FileWrite,
  type HostCall,
  MAX_OUTPUT_BYTES,
  type ProcessList,
  type ProcessSignal,
  type ProcessStart,
  type ProcessTable,
  type ProcessWrite,
  type RunnerCreate,
  type RunnerCreated,
  type RunnerEval,
  type RuntimeCreate,
  type RuntimeCreated,
  type RuntimeResources,
  type RuntimeUsage,
  type SidecarResourceSnapshot,
  type Streams,
  type WireError,
  type WireLimits,
} from '../channel/messages.js';
import type { OpenedFiles } from '../channel/opened.js';
import type { Outcome } from '../channel/outcome.js';
import type { PermissionsListener, PermissionsSet } from '../channel/permission-messages.js';
import type { Opening, SidecarConnection } from '../channel/sidecar-connection.js';
import type { SnapshotLink } from '../channel/snapshots.js';
import { Warnings } from '../channel/warnings.js';
import { isColdframeError } from '../errors/error.js';
import { fromWire, sidecarDisposed, sidecarSpawn, versionMismatch } from '../errors/make.js';
import { HostCallDispatcher, type HostService } from '../host-calls/dispatcher.js';
import type { LimitWarning, LimitWarningListener } from '../options/limits.js';
import { VERSION } from '../version.js';
import { type Addon, type AddonCore, type AddonOptions, type Decisions, Event, makeOutcome } from './addon.js';
import { EmbeddedNetwork } from './embedded-network.js';
import { openedIn } from './embedded-opened.js';
import { flatBindings, flatMounts, snapshotsIn } from './embedded-snapshots.js';

/** The addon's numbers of the modes. */
const MODES = { exec: 0, run: 1, file: 2, command: 3 } as const;

/** Loads the addon at `path` and opens a core in it. */
export function openAddon(path: string, options: AddonOptions): Opening {
  const begin = performance.now();
  const connection = new EmbeddedConnection(load(path), options);
  const opened = { sessionMs: performance.now() - begin, moduleLoadMs: connection.loadMs };
  return { connection, opened: Promise.resolve(opened) };
}

function load(path: string): Addon {
  try {
    return createRequire(import.meta.url)(path) as Addon;
  } catch (error) {
    throw sidecarSpawn(path, (error as Error).message, error);
  }
}

interface Pending {
  onOutput: OutputListener | undefined;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

class EmbeddedConnection implements SidecarConnection {
  readonly pid = process.pid;
  readonly loadMs: number;
  readonly #core: AddonCore;
  readonly #pending = new Map<number, Pending>();
  readonly #hostCalls: HostCallDispatcher;
  readonly #listeners = new Map<number, PermissionsListener>();
  readonly #warnings = new Warnings();
  readonly opened: OpenedFiles = openedIn(
    (work) => this.#call(work),
    () => this.nextId(),
    (id) => this.#wait(id),
  );
  readonly network = new EmbeddedNetwork({
    nextId: () => this.nextId(),
    call: (work) => this.#call(work),
    notify: (work) => this.#notify(work),
  });
  readonly snapshots: SnapshotLink = snapshotsIn({
    call: (work) => this.#call(work),
    nextId: () => this.nextId(),
    wait: (id, onOutput) => this.#wait(id, onOutput),
    warnings: this.#warnings,
  });
  #lastId = 0;
  #disposed = false;

  constructor(addon: Addon, options: AddonOptions) {
    this.#core = translated(() => addon.open(options, this.#onEvent, makeOutcome));
    this.#hostCalls = new HostCallDispatcher({
      ok: (runtime, number, bytes) => this.#core.answerHost(runtime, number, bytes),
      failure: (runtime, number, code, message) => this.#core.answerHost(runtime, number, undefined, code, message),
    });
    this.loadMs = this.#core.loadNs / 1e6;
    if (this.#core.version === VERSION) return;
    this.#core.shutdown();
    throw versionMismatch(VERSION, this.#core.version);
  }

  async createRuntime(options: RuntimeCreate, onWarning?: LimitWarningListener): Promise<RuntimeCreated> {
    const begin = performance.now();
    const { env, cwd, limits, profile, warn, files, mounts, permissions, snapshot, tenant, bindings } = options;
    const [names, values] = listsOf(limits);
    const flat = flatMounts(mounts);
    if (snapshot !== undefined) {
      const id = this.nextId();
      const restored =
        this.#call((core) =>
          core.restoreRuntime(
            id,
            snapshot,
            tenant,
            env,
            cwd,
            profile,
            names,
            values,
            flat,
            warn,
            permissions,
            flatBindings(bindings),
          ),
        ) ?? (await this.#wait<Omit<RuntimeCreated, 'configureNs'>>(id));
      this.#warnings.listen(restored.runtime, onWarning);
      return { ...restored, configureNs: (performance.now() - begin) * 1e6 };
    }
    const runtime = this.#call((core) => core.createRuntime(env, cwd, profile, names, values, flat, warn, tenant));
    this.#warnings.listen(runtime, onWarning);
    this.#complete(runtime, files, permissions);
    return { runtime, configureNs: (performance.now() - begin) * 1e6 };
  }

  serve(runtime: number, name: string, service: HostService): void {
    this.#hostCalls.serve(runtime, name, service);
  }

  expectCalls(): () => void {
    return this.#hostCalls.expectRuntimes();
  }

  dropCalls(runtime: number): void {
    this.#hostCalls.abandonCalls(runtime);
  }

  isOver(): boolean {
    return this.#disposed;
  }

  async setBindings({ runtime, bindings }: BindingsSet): Promise<void> {
    this.#call((core) => core.setBindings(runtime, flatBindings(bindings) as string[]));
  }

  async disposeRuntime(runtime: number): Promise<void> {
    this.#hostCalls.removeRuntime(runtime);
    this.#warnings.leave(runtime);
    this.#listeners.delete(runtime);
    this.#call((core) => core.disposeRuntime(runtime));
  }

  async createRunner({ runtime, env, cwd }: RunnerCreate): Promise<RunnerCreated> {
    const id = this.nextId();
    return this.#call((core) => core.createRunner(id, runtime, env, cwd)) ?? this.#wait<RunnerCreated>(id);
  }

  async disposeRunner(runner: number): Promise<void> {
    this.#call((core) => core.disposeRunner(runner));
  }

  nextId(): number {
    do this.#lastId = (this.#lastId + 1) >>> 0;
    while (this.#lastId === 0 || this.#pending.has(this.#lastId));
    return this.#lastId;
  }

  start(id: number, program: ProcessStart, onOutput?: OutputListener, onStarted?: StartListener): Outcome | Promise<Outcome> {
    const { runtime, mode, code, args, execArgv, env, cwd, stdin, timeoutMs, stream, live } = program;
    const bits = streamBits(stream);
    const number = MODES[mode];
    const answer = this.#call((core) =>
      core.start(id, runtime, number, code, args, env, cwd, stdin, timeoutMs, bits, execArgv, live),
    );
    if (typeof answer === 'object' && answer !== null) return answer;
    const outcome = this.#wait<Outcome>(id, onOutput);
    if (typeof answer === 'number') onStarted?.(answer);
    return outcome;
  }

  evaluate(id: number, snippet: RunnerEval, onOutput?: OutputListener): Outcome | Promise<Outcome> {
    const { runner, code, timeoutMs, stream } = snippet;
    const bits = streamBits(stream);
    return this.#call((core) => core.evaluate(id, runner, code, timeoutMs, bits)) ?? this.#wait<Outcome>(id, onOutput);
  }

  cancel(id: number): void {
    if (this.#pending.has(id)) this.#core.cancel(id);
  }

  credit(id: number, bytes: number): void {
    if (this.#pending.has(id)) this.#core.credit(id, bytes);
  }

  async ping(): Promise<void> {
    this.#call((core) => core.noop());
  }

  async resources(): Promise<SidecarResourceSnapshot> {
    return this.#call((core) => core.resources());
  }

  async runtimeResources({ runtime }: RuntimeResources): Promise<RuntimeUsage> {
    return this.#call((core) => core.runtimeResources(runtime));
  }

  async dispose(): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    const failed = [...this.#pending.values()];
    this.#pending.clear();
    this.#hostCalls.close();
    this.#core.shutdown();
    this.network.close(sidecarDisposed());
    for (const { reject } of failed) reject(sidecarDisposed());
  }

  async readFile({ runtime, path, offset = 0, length }: FileRead): Promise<FileData> {
    return this.#call((core) => core.readFile(runtime, path, offset, length));
  }

  async writeFile({ runtime, path, data, append = false, mode }: FileWrite): Promise<void> {
    this.#call((core) => core.writeFile(runtime, path, data, append, mode));
  }

  async listFiles({ runtime, path }: FileList): Promise<FileNames> {
    return this.#call((core) => core.listFiles(runtime, path));
  }

  async statFile({ runtime, path, follow = true }: FileStat): Promise<FileStatus> {
    return this.#call((core) => core.statFile(runtime, path, follow));
  }

  async makeDirectory({ runtime, path, recursive = false }: FileTree): Promise<void> {
    this.#call((core) => core.makeDirectory(runtime, path, recursive));
  }

  async removeFile({ runtime, path, recursive = false }: FileTree): Promise<void> {
    this.#call((core) => core.removeFile(runtime, path, recursive));
  }

  async renameFile({ runtime, from, to }: FileRename): Promise<void> {
    this.#call((core) => core.renameFile(runtime, from, to));
  }

  async writeProcess({ runtime, pid, data, end = false }: ProcessWrite): Promise<void> {
    this.#call((core) => core.writeProcess(runtime, pid, data, end));
  }

  async signalProcess({ runtime, pid, signal }: ProcessSignal): Promise<void> {
    this.#call((core) => core.signalProcess(runtime, pid, signal));
  }

  async listProcesses({ runtime }: ProcessList): Promise<ProcessTable> {
    return this.#call((core) => core.listProcesses(runtime));
  }

  // Sets the permissions and files of a new runtime, in which nothing runs yet.
  #complete(runtime: number, files: RuntimeCreate['files'], permissions: RuntimeCreate['permissions']): void {
    try {
      if (permissions !== undefined) this.#call((core) => core.setPermissions(runtime, permissions));
      for (const path of Object.keys(files ?? {}))
        this.#call((core) => core.writeFile(runtime, path, files?.[path] as Uint8Array, false));
    } catch (error) {
      this.#core.disposeRuntime(runtime);
      throw error;
    }
  }

  readonly #onEvent = (id: number, kind: number, payload: unknown): void => {
    if (kind === Event.hostCall) {
      if (!this.#disposed) this.#hostCalls.call(id, payload as HostCall);
      return;
    }
    if (kind === Event.hostCancel) {
      this.#hostCalls.cancel(payload as number, id);
      return;
    }
    if (kind === Event.permissions) {
      this.#decided(id, payload as Decisions);
      return;
    }
    if (kind === Event.warning) {
      this.#warnings.notify(id, payload as LimitWarning);
      return;
    }
    if (this.network.take(id, kind, payload)) return;
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    if (kind === Event.stdout || kind === Event.stderr) {
      deliver(pending.onOutput, kind === Event.stdout ? 1 : 2, payload as Uint8Array);
    } else if (kind !== Event.nothing) {
      this.#pending.delete(id);
      if (kind === Event.failure) pending.reject(fromAddon(payload as WireError));
      else pending.resolve(payload);
    }
  };

  async setPermissions({ runtime, permissions }: PermissionsSet): Promise<void> {
    this.#call((core) => core.setPermissions(runtime, permissions));
  }

  async watchPermissions(runtime: number, listener: PermissionsListener | undefined): Promise<void> {
    this.#call((core) => core.watchPermissions(runtime, listener !== undefined));
    if (listener === undefined) this.#listeners.delete(runtime);
    else this.#listeners.set(runtime, listener);
  }

  #decided(runtime: number, decisions: Decisions): void {
    const listener = this.#listeners.get(runtime);
    if (listener === undefined || this.#disposed) return;
    listener(decisions);
    // The listener stays until the runtime is disposed, because decisions continue after a pause.
    this.#notify((core) => core.takePermissions(runtime));
  }

  #call<T>(work: (core: AddonCore) => T): T {
    if (this.#disposed) throw sidecarDisposed();
    return translated(() => work(this.#core));
  }

  // Sends a message without a result. A message may cross the disposal or pause of its runtime and
  // is ignored then.
  #notify(work: (core: AddonCore) => void): void {
    if (this.#disposed) return;
    try {
      this.#call(work);
    } catch (error) {
      if (!isColdframeError(error, 'ERR_RUNTIME_DISPOSED', 'ERR_RUNTIME_PAUSED')) throw error;
    }
  }

  #wait<T>(id: number, onOutput?: OutputListener): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#pending.set(id, { onOutput, resolve: resolve as (value: unknown) => void, reject });
    });
  }
}

// Converts limits for the addon: names, and their values.
function listsOf(limits: WireLimits | undefined): [string[]?, number[]?] {
  if (limits === undefined) return [];
  const given = Object.entries(limits).filter(([, value]) => value !== undefined);
  return [given.map(([name]) => name), given.map(([, value]) => value)];
}

// Splits output into chunks of the size that every transport uses. The core collects small writes
// into slightly larger chunks.
function deliver(onOutput: OutputListener | undefined, fd: 1 | 2, data: Uint8Array): void {
  for (let at = 0; at < data.length; at += MAX_OUTPUT_BYTES) onOutput?.(fd, data.subarray(at, at + MAX_OUTPUT_BYTES));
}

function streamBits(streams: Streams | undefined): number {
  return streams === undefined ? 0 : (streams.stdout ? 1 : 0) | (streams.stderr ? 2 : 0);
}

// Translates the addon's errors, which have `code` and `details`. Any other error passes unchanged.
function translated<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof Error && 'details' in error ? fromAddon(error as Error & WireError) : error;
  }
}

function fromAddon({ code, message, details }: WireError): Error {
  return fromWire(code, message, details);
}
