// The public handle of a runtime: checks what comes in, asks the connection, shapes what comes back.

import type { Readable, Writable } from 'node:stream';
import { asyncDispose } from '../async-dispose.js';
import { bindingsOf } from '../bindings/binding.js';
import { BindingRegistry } from '../bindings/registry.js';
import type { Bindings } from '../bindings/types.js';
import type { ProcessStart } from '../channel/messages.js';
import { invalidOption, runtimeDisposed } from '../errors/make.js';
import { RuntimeNetwork } from '../network/runtime-network.js';
import { acceptable, explain, type OptionSet } from '../options/check.js';
import type { PermissionsPolicy } from '../options/permission-types.js';
import { show } from '../options/show.js';
import type {
  BootTimingListener,
  CommandOptions,
  NodeRuntimeOptions,
  ResidentRunnerOptions,
  RunOptions,
} from '../options/types.js';
import { createRunner, type ResidentRunner } from '../runner/resident-runner.js';
import type { Outcome, ProcessConnection, SidecarConnection } from '../sidecar/connection.js';
import { checkSource, type ExportTarOptions, exportTar, type ImportTarOptions, importTar, type TarSource } from './archives.js';
import { reportGuestRun, reportGuestStart } from './boot-timing.js';
import { type Provisioned, provision } from './create.js';
import { disposeRuntime } from './dispose.js';
import { evaluate } from './evaluation.js';
import { type ReadStreamOptions, readStream, type WriteStreamOptions, writeStream } from './file-streams.js';
import {
  checkData,
  checkMode,
  checkPath,
  checkTarget,
  type DirectoryEntry,
  entriesOf,
  exists,
  type FileStatus,
  microseconds,
  readFile,
  statusOf,
  toBytes,
  writeFile,
} from './files.js';
import { GuestProcess } from './guest-process.js';
import { NetworkMethods } from './network-methods.js';
import { type LostListener, type PermissionListener, RuntimePermissions } from './permissions.js';
import { type ProcessEntry, entriesOf as processEntries } from './processes.js';
import { bytesOf, checkText, programOf } from './program.js';
import { type ResourceSnapshot, snapshotOf } from './resources.js';
import { ExecResult, RunResult } from './result.js';
import { DEFAULT_CWD } from './seed.js';
import { type FileChange, Watch, type WatchOptions } from './watch.js';

/**
 * One sandbox for Node programs. Each `exec` and `run` starts a fresh guest process in it; programs may run at the same time.
 *
 * @example
 * await using runtime = await NodeRuntime.create();
 * const { stdout } = await runtime.exec('console.log(1 + 1)');
 */
export class NodeRuntime extends NetworkMethods implements AsyncDisposable {
  readonly #connection: SidecarConnection;
  readonly #owned: ProcessConnection | undefined;
  readonly #runtime: number;
  readonly #onBootTiming: BootTimingListener | undefined;
  readonly #cwd: string;
  readonly #fetchResponseBytes: number | undefined;
  #bindings: BindingRegistry | undefined;
  readonly #permissions: RuntimePermissions;
  #network: RuntimeNetwork | undefined;
  #disposal: Promise<void> | undefined;

  private constructor(provisioned: Provisioned, { onBootTiming, cwd, permissions, limits }: NodeRuntimeOptions) {
    super();
    this.#connection = provisioned.connection;
    this.#owned = provisioned.owned;
    this.#runtime = provisioned.runtime;
    this.#bindings = provisioned.bindings;
    this.#onBootTiming = onBootTiming;
    this.#permissions = new RuntimePermissions(provisioned.connection, provisioned.runtime, permissions);
    this.#cwd = cwd ?? DEFAULT_CWD;
    this.#fetchResponseBytes = limits?.fetchResponseBytes;
  }

  /**
   * Makes a runtime, and spawns a sidecar for it unless one is given.
   *
   * @throws `ERR_INVALID_OPTION`, `ERR_INVALID_REQUEST` (a mount that cannot be opened), a file error's code such as `ENOSPC`,
   * `ERR_RESOURCE_EXHAUSTED`, and what `Sidecar.spawn()` throws
   */
  static async create(options?: NodeRuntimeOptions): Promise<NodeRuntime> {
    if (!acceptable('NodeRuntime.create()', options)) await explain('NodeRuntime.create()', options);
    return new NodeRuntime(await provision(options ?? {}), options ?? {});
  }

  /**
   * Runs `code`, an ES module, to its end. Resolves whatever its exit code is, and also when the sandbox ended it: see `error` of the
   * result.
   *
   * @throws the signal's reason, what an output handler threw, `ERR_INVALID_OPTION`, `ERR_RUNTIME_DISPOSED`, `ERR_SIDECAR_EXITED`,
   * `ERR_SIDECAR_DISPOSED`, `ERR_FRAME_TOO_LARGE` (code and stdin together above 32 MiB), `ERR_RESOURCE_EXHAUSTED`
   */
  async exec(code: string, options?: RunOptions): Promise<ExecResult> {
    if (!acceptable('exec()', options)) await explain('exec()', options);
    return new ExecResult(await this.#start('exec', code, options));
  }

  /**
   * The same, for a program that hands back a value with `__return(value)`, as JSON.
   *
   * @throws as `exec()`
   */
  async run<T = unknown>(code: string, options?: RunOptions): Promise<RunResult<T>> {
    if (!acceptable('run()', options)) await explain('run()', options);
    return new RunResult<T>(await this.#start('run', code, options));
  }

  /**
   * Runs a file of the guest to its end, as `node PATH ARGS...` does: CommonJS or an ES module, by Node's own rules. `path` is absolute, or
   * relative to the working directory.
   *
   * @throws as `exec()`; a file that is not there is the program's own error, with exit code 1
   */
  async execFile(path: string, options?: RunOptions): Promise<ExecResult> {
    if (!acceptable('execFile()', options)) await explain('execFile()', options);
    return new ExecResult(await this.#start('execFile', path, options));
  }

  /**
   * Runs a command to its end: a program of the guest that is found through PATH, or by its path.
   *
   * @throws as `exec()`; `ENOENT`, `EACCES` or `ENOEXEC` when there is no such command
   */
  async execCommand(command: string, args: readonly string[] = [], options: CommandOptions = {}): Promise<ExecResult> {
    const program = await this.#command('execCommand()', command, args, options);
    const connection = this.#connection;
    return new ExecResult(
      await evaluate(connection, options, (id, stream, onOutput) => connection.start(id, { ...program, stream }, onOutput)),
    );
  }

  /**
   * Starts `code`, an ES module, and gives a handle on it: its stdin stays open, its output can be read while it runs.
   *
   * @throws as `exec()`
   */
  async spawn(code: string, options: RunOptions = {}): Promise<GuestProcess> {
    if (!acceptable('spawn()', options)) await explain('spawn()', options);
    checkText('spawn()', 'code', code);
    this.#assertAlive();
    const { args, env, cwd, stdin, timeout: timeoutMs } = options;
    const { text, execArgv } = programOf('exec', code, options);
    const program = { runtime: this.#runtime, mode: 'exec', code: text, args, execArgv, env, cwd, timeoutMs } as const;
    return GuestProcess.start(this.#connection, { ...program, stdin: bytesOf(stdin) }, options);
  }

  /**
   * The same for a command: see `execCommand()`.
   *
   * @throws as `execCommand()`
   */
  async spawnCommand(command: string, args: readonly string[] = [], options: CommandOptions = {}): Promise<GuestProcess> {
    return GuestProcess.start(this.#connection, await this.#command('spawnCommand()', command, args, options), options);
  }

  /**
   * The processes that live in the runtime, children of programs included.
   *
   * @throws `ERR_RUNTIME_DISPOSED`, `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`
   */
  async processes(): Promise<ProcessEntry[]> {
    this.#assertAlive();
    return processEntries(await this.#connection.listProcesses({ runtime: this.#runtime }));
  }

  /**
   * Starts a guest process that stays and evaluates snippets one after the other, with one global state.
   *
   * @throws `ERR_INVALID_OPTION`, `ERR_RUNTIME_DISPOSED`, `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`, `ERR_RESOURCE_EXHAUSTED`
   */
  async createResidentRunner(options?: ResidentRunnerOptions): Promise<ResidentRunner> {
    if (!acceptable('createResidentRunner()', options)) await explain('createResidentRunner()', options);
    this.#assertAlive();
    return createRunner(this.#connection, { runtime: this.#runtime, ...options }, this.#onBootTiming);
  }

  /**
   * Replaces the file at `path`, an absolute guest path; directories above it are made. Text is written as UTF-8. The file belongs to the
   * guest; one that is made has the permissions `mode`, or 0o644. Like all file operations here it is not bound by permissions, but by mounts that are read-only.
   *
   * @throws a code such as `ENOSPC`, with `path` and `syscall`; `ERR_INVALID_OPTION`, and what `exec()` throws about runtime and sidecar
   */
  async writeFile(path: string, data: string | Uint8Array, options?: { mode?: number }): Promise<void> {
    if (!acceptable('writeFile()', options)) await explain('writeFile()', options);
    this.#checkFile('writeFile()', path);
    checkData('writeFile()', data);
    await writeFile(this.#connection, this.#runtime, path, toBytes(data), options?.mode);
  }

  /**
   * All bytes of a file.
   *
   * @throws a code such as `ENOENT`; otherwise as `writeFile()`
   */
  async readFile(path: string): Promise<Uint8Array> {
    this.#checkFile('readFile()', path);
    return readFile(this.#connection, this.#runtime, path);
  }

  /**
   * Names in a directory, in order.
   *
   * @throws a code such as `ENOTDIR`; otherwise as `writeFile()`
   */
  async readDir(path: string): Promise<string[]> {
    this.#checkFile('readDir()', path);
    return (await this.#connection.listFiles({ runtime: this.#runtime, path })).names;
  }

  /**
   * The same, with what each of them names.
   *
   * @throws as `readDir()`
   */
  async readDirWithTypes(path: string): Promise<DirectoryEntry[]> {
    this.#checkFile('readDirWithTypes()', path);
    return entriesOf(await this.#connection.listFiles({ runtime: this.#runtime, path }));
  }

  /**
   * What is known of a file; of a link itself with `followSymlinks: false`.
   *
   * @throws a code such as `ENOENT`; otherwise as `writeFile()`
   */
  async stat(path: string, options?: { followSymlinks?: boolean }): Promise<FileStatus> {
    if (!acceptable('stat()', options)) await explain('stat()', options);
    this.#checkFile('stat()', path);
    return statusOf(await this.#connection.statFile({ runtime: this.#runtime, path, follow: options?.followSymlinks }));
  }

  /**
   * Whether something is there; a link counts when its target is.
   *
   * @throws as `writeFile()`, but no file error that means that nothing is there
   */
  async exists(path: string): Promise<boolean> {
    this.#checkFile('exists()', path);
    return exists(this.#connection, this.#runtime, path);
  }

  /**
   * Makes a directory; with `recursive` also those above it, and then it may be there already.
   *
   * @throws a code such as `EEXIST`; otherwise as `writeFile()`
   */
  async mkdir(path: string, options?: { recursive?: boolean }): Promise<void> {
    if (!acceptable('mkdir()', options)) await explain('mkdir()', options);
    this.#checkFile('mkdir()', path);
    await this.#connection.makeDirectory({ runtime: this.#runtime, path, recursive: options?.recursive });
  }

  /**
   * Removes a file, a link or an empty directory; with `recursive` a directory with all that is in it.
   *
   * @throws a code such as `ENOTEMPTY`; otherwise as `writeFile()`
   */
  async remove(path: string, options?: { recursive?: boolean }): Promise<void> {
    if (!acceptable('remove()', options)) await explain('remove()', options);
    this.#checkFile('remove()', path);
    await this.#connection.removeFile({ runtime: this.#runtime, path, recursive: options?.recursive });
  }

  /**
   * Gives a file or a directory another name, in place of what has it.
   *
   * @throws a code such as `ENOENT`; otherwise as `writeFile()`
   */
  async rename(from: string, to: string): Promise<void> {
    this.#checkFile('rename()', from, 'from');
    checkPath('rename()', 'to', to);
    await this.#connection.renameFile({ runtime: this.#runtime, from, to });
  }

  /** What its programs may do now: every scope, as it was given or by default. */
  get permissions(): Readonly<Required<PermissionsPolicy>> {
    return this.#permissions.policy;
  }

  /**
   * Replaces what its programs may do, merged over the default and not over what was before. It counts for all of them, also for those that run,
   * from their next system call on; what is open stays open.
   *
   * @throws `ERR_INVALID_OPTION`, `ERR_INVALID_REQUEST` (a pattern that is none); otherwise as `processes()`
   */
  async setPermissions(policy: PermissionsPolicy): Promise<void> {
    this.#assertAlive();
    await this.#permissions.set(policy);
  }

  /**
   * Has every decision about a permission told, from the time on when this resolves, until the function that it gives is called. A program
   * never waits for a listener: when decisions come faster than they can be told, some are lost, and `onLost` is told how many.
   *
   * @throws `ERR_INVALID_OPTION`; otherwise as `processes()`
   */
  async onPermission(listener: PermissionListener, onLost?: LostListener): Promise<() => Promise<void>> {
    this.#assertAlive();
    return this.#permissions.listen(listener, onLost);
  }

  /**
   * Makes a symbolic link at `path` that leads to `target`, a guest path or one relative to the link.
   *
   * @throws a code such as `EEXIST`; otherwise as `writeFile()`
   */
  async symlink(target: string, path: string): Promise<void> {
    checkTarget('symlink()', target);
    this.#checkFile('symlink()', path);
    await this.#connection.opened.link({ runtime: this.#runtime, path, target });
  }

  /**
   * What the symbolic link at `path` says.
   *
   * @throws `EINVAL` when it is no link; otherwise as `writeFile()`
   */
  async readlink(path: string): Promise<string> {
    this.#checkFile('readlink()', path);
    return this.#connection.opened.readlink({ runtime: this.#runtime, path });
  }

  /**
   * Sets a file's permissions, such as 0o755; of a link those of the file that it leads to.
   *
   * @throws a code such as `ENOENT`; otherwise as `writeFile()`
   */
  async chmod(path: string, mode: number): Promise<void> {
    checkMode('chmod()', mode);
    this.#checkFile('chmod()', path);
    await this.#connection.opened.set({ runtime: this.#runtime, path, mode });
  }

  /**
   * Sets when a file was last read and changed: a Date, or milliseconds since 1970.
   *
   * @throws a code such as `ENOENT`; otherwise as `writeFile()`
   */
  async utimes(path: string, atime: Date | number, mtime: Date | number): Promise<void> {
    const [atimeUs, mtimeUs] = [microseconds('utimes()', 'atime', atime), microseconds('utimes()', 'mtime', mtime)];
    this.#checkFile('utimes()', path);
    await this.#connection.opened.set({ runtime: this.#runtime, path, atimeUs, mtimeUs });
  }

  /**
   * What happens to a file or in a directory from now on, told by events; see `FileChange`. It ends with `return()` (leaving the loop), the
   * signal, or the runtime. What is not asked for is kept up to 64 KiB of names.
   *
   * @throws in the iteration: a code such as `ENOENT`, `ENOSYS` for what cannot be watched; otherwise as `writeFile()`
   */
  watch(path: string, options: WatchOptions = {}): AsyncIterableIterator<FileChange> {
    const ready = this.#ready('watch()', path, options);
    return new Watch(this.#connection.opened, this.#runtime, path, options, ready);
  }

  /**
   * Reads a file in pieces, however large it is. `start` and `end` are its first and its last byte, as in Node.
   *
   * @throws as the stream's `error`: as `readFile()`
   */
  createReadStream(path: string, options: ReadStreamOptions = {}): Readable {
    const ready = this.#ready('createReadStream()', path, options);
    return readStream(this.#connection.opened, this.#runtime, path, options, ready);
  }

  /**
   * Writes a file in pieces: one that is made or cut off, or with `append` grows. Directories above it are made.
   *
   * @throws as the stream's `error`: as `writeFile()`
   */
  createWriteStream(path: string, options: WriteStreamOptions = {}): Writable {
    const ready = this.#ready('createWriteStream()', path, options);
    const { append, mode, signal } = options;
    const purpose = append ? 'append' : 'write';
    return writeStream(this.#connection.opened, this.#runtime, { path, for: purpose, mode }, ready, signal);
  }

  /**
   * A tar archive of what lies at `path`, the working directory unless given. Of a directory it holds what is in it, with names that are
   * relative to it. Programs may go on meanwhile: what goes is left out. Devices, sockets and `/proc` are left out always.
   *
   * @throws as the stream's `error`: as `readFile()`
   */
  exportTar(path: string = this.#cwd, options: ExportTarOptions = {}): Readable {
    const ready = this.#ready('exportTar()', path, options);
    return exportTar(this.#connection.opened, this.#runtime, path, options, ready);
  }

  /**
   * Unpacks a tar archive into a directory, and nowhere else: absolute names, `..`, devices and what would lie behind a link are refused.
   * Files and links that have a name of the archive's are replaced. When it fails, what came before in the archive stays.
   *
   * @throws `ERR_ARCHIVE`, a code such as `ENOSPC`, what the source or zlib throws; otherwise as `writeFile()`
   */
  async importTar(source: TarSource, options: ImportTarOptions = {}): Promise<void> {
    checkSource(source);
    const path = options.path ?? this.#cwd;
    await this.#ready('importTar()', path, options);
    await importTar(this.#connection.opened, this.#runtime, path, source, options.gzip);
  }

  /**
   * Gives programs functions of this process: `callBinding(name, input)`, and a command of that name on PATH. A binding takes the place of another of
   * its name; calls under way end with the one they began with. All are registered, or none.
   *
   * @throws `ERR_INVALID_OPTION`; `EEXIST` when the sandbox has another command of such a name; what `exec()` throws about runtime and sidecar
   */
  async registerBindings(bindings: Bindings): Promise<void> {
    const given = { bindings: bindings ?? null };
    if (!acceptable('registerBindings()', given)) await explain('registerBindings()', given);
    const ready = await bindingsOf('registerBindings()', bindings);
    this.#assertAlive();
    this.#bindings ??= new BindingRegistry(this.#connection, this.#runtime);
    await this.#bindings.add(ready);
  }

  /**
   * Takes bindings and their commands away again; those that are not there need not be. Calls under way go on.
   *
   * @throws `ERR_INVALID_OPTION`; what `exec()` throws about runtime and sidecar
   */
  async unregisterBindings(names: readonly string[]): Promise<void> {
    if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) {
      throw invalidOption('unregisterBindings()', { option: 'names', expected: 'a list of names', received: show(names) });
    }
    this.#assertAlive();
    await this.#bindings?.remove(names);
  }

  /**
   * What the runtime has in use: of each of its limits how much now, how much at most so far, and the limit; and what its sidecar has in use, over all
   * its runtimes.
   *
   * @throws `ERR_RUNTIME_DISPOSED`, `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`
   */
  async getResourceSnapshot(): Promise<ResourceSnapshot> {
    this.#assertAlive();
    const usage = this.#connection.runtimeResources({ runtime: this.#runtime });
    const sidecar = this.#connection.resources();
    return snapshotOf(...(await Promise.all([usage, sidecar])));
  }

  /**
   * Ends the runtime, what runs in it, and its sidecar if that is its own. Programs under way end with exit code 137 and
   * `error.code` `ERR_RUNTIME_DISPOSED`. May be called more than once.
   */
  dispose(): Promise<void> {
    this.#disposal ??= this.#dispose();
    return this.#disposal;
  }

  /** `dispose()`, for `await using`. */
  [asyncDispose](): Promise<void> {
    return this.dispose();
  }

  /** @internal */
  protected override network(): RuntimeNetwork {
    this.#assertAlive();
    this.#network ??= new RuntimeNetwork(this.#connection.network, this.#runtime, this.#fetchResponseBytes);
    return this.#network;
  }

  async #dispose(): Promise<void> {
    await this.#network?.close();
    await disposeRuntime(this.#connection, this.#runtime, this.#owned);
  }

  async #start(call: 'exec' | 'run' | 'execFile', code: string, options: RunOptions | undefined): Promise<Outcome> {
    checkText(`${call}()`, call === 'execFile' ? 'path' : 'code', code);
    this.#assertAlive();
    const outcome = await this.#begin(call === 'execFile' ? 'file' : call, code, options);
    if (this.#onBootTiming !== undefined) {
      reportGuestStart(this.#onBootTiming, outcome.timings);
      reportGuestRun(this.#onBootTiming, outcome.timings);
    }
    return outcome;
  }

  #begin(mode: 'exec' | 'run' | 'file', code: string, options: RunOptions | undefined): Outcome | Promise<Outcome> {
    const runtime = this.#runtime;
    const connection = this.#connection;
    if (options === undefined) return connection.start(connection.nextId(), { runtime, mode, code });
    const { args, env, cwd, timeout: timeoutMs } = options;
    const { text, execArgv } = programOf(mode, code, options);
    const stdin = bytesOf(options.stdin);
    return evaluate(connection, options, (id, stream, onOutput) =>
      connection.start(id, { runtime, mode, code: text, args, execArgv, env, cwd, stdin, timeoutMs, stream }, onOutput),
    );
  }

  async #command(
    call: 'execCommand()' | 'spawnCommand()',
    command: string,
    args: readonly string[],
    options: CommandOptions,
  ): Promise<ProcessStart> {
    if (!acceptable(call, options)) await explain(call, options);
    checkText(call, 'command', command);
    if (!Array.isArray(args) || !args.every((one) => typeof one === 'string' && !one.includes('\0'))) {
      throw invalidOption(call, { option: 'args', expected: 'a list of text', received: show(args) });
    }
    this.#assertAlive();
    const { env, cwd, stdin, timeout: timeoutMs } = options;
    return { runtime: this.#runtime, mode: 'command', code: command, args, env, cwd, stdin: bytesOf(stdin), timeoutMs };
  }

  // What a stream begins with: it tells of what is wrong, even if nobody else asks.
  #ready(call: OptionSet, path: unknown, options: unknown): Promise<void> | undefined {
    try {
      if (acceptable(call, options)) {
        this.#checkFile(call, path);
        return undefined;
      }
    } catch (error) {
      return rejected(error);
    }
    const ready = explain(call, options).then(() => this.#checkFile(call, path));
    ready.catch(() => {});
    return ready;
  }

  #checkFile(call: string, path: unknown, option = 'path'): void {
    checkPath(call, option, path);
    this.#assertAlive();
  }

  #assertAlive(): void {
    if (this.#disposal !== undefined) throw runtimeDisposed(this.#runtime);
  }
}

function rejected(error: unknown): Promise<never> {
  const promise = Promise.reject(error);
  promise.catch(() => {});
  return promise;
}
