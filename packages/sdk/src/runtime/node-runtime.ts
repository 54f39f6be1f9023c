// The public handle of a runtime: one documented method for each call. Next: `parts.ts`.

import type { Readable, Writable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { asyncDispose } from '../async-dispose.js';
import { checkOptions } from '../options/check.js';
import type * as Files from '../options/files.js';
import type * as Network from '../options/network.js';
import { joinAll, onSidecarOfNetwork } from '../private-networks/handles.js';
import { makeParts } from './load-parts.js';
import type { RuntimeParts } from './parts.js';
import { provision, withNetwork } from './provision.js';
import type * as Types from './signature-types.js';

/** Returns the parts of a `NodeRuntime`, or `undefined` for another object. */
export let partsOf: (value: object) => RuntimeParts | undefined;

/**
 * One sandbox for Node programs. Each call of `exec` and `run` starts a new guest process in the
 * runtime. Programs may run at the same time.
 *
 * @example
 * await using runtime = await NodeRuntime.create();
 * const { stdout } = await runtime.exec('console.log(1 + 1)');
 */
export class NodeRuntime implements AsyncDisposable {
  readonly #parts: RuntimeParts;

  static {
    partsOf = (value) => (#parts in value ? value.#parts : undefined);
  }

  private constructor(parts: RuntimeParts) {
    this.#parts = parts;
  }

  /**
   * Creates a runtime, new or from a snapshot. The option `sidecar` has the rules for its sidecar.
   * @throws `ERR_INVALID_OPTION`, `ERR_SNAPSHOT_NOT_FOUND` and other codes of snapshots,
   * `ERR_INVALID_REQUEST` (a mount that cannot be opened), a code of a file error such as `ENOSPC`,
   * `ERR_RESOURCE_EXHAUSTED`, `ERR_SIDECAR_DISPOSED`; otherwise as `Sidecar.spawn()`
   */
  static async create(options: Types.NodeRuntimeOptions = {}): Promise<NodeRuntime> {
    checkOptions('NodeRuntime.create()', options);
    const lasting = withNetwork(onSidecarOfNetwork(options));
    return joinAll(new NodeRuntime(makeParts(await provision(lasting), lasting)), options.network?.join);
  }

  /** The parts of the wall around the process of the runtime's sidecar. See `sidecar.walls`. */
  get walls(): readonly Types.Wall[] {
    return this.#parts.walls;
  }

  /**
   * Runs `code`, an ES module, to its end. Resolves for any exit code, and also if the sandbox
   * ended the program: see `error` of the result.
   * @throws the signal's reason, the error of an output handler, `ERR_INVALID_OPTION`,
   * `ERR_RUNTIME_DISPOSED`, `ERR_RUNTIME_PAUSED`, `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`,
   * `ERR_FRAME_TOO_LARGE` (code and stdin together above 32 MiB), `ERR_RESOURCE_EXHAUSTED`, `E2BIG`
   * (arguments or environment). A wrong `cwd` is `ENOENT` or `ENOTDIR`.
   */
  exec(code: string, options?: Types.RunOptions): Promise<Types.ExecResult> {
    return this.#parts.programs.exec(code, options);
  }

  /** Runs `code` as `exec()`, and returns the value of `__return(value)`. @throws as `exec()` */
  run<T = unknown>(code: string, options?: Types.RunOptions): Promise<Types.RunResult<T>> {
    return this.#parts.programs.run<T>(code, options);
  }

  /**
   * Runs a file of the guest to its end, as `node PATH ARGS...` does: CommonJS or an ES module, by
   * Node's own rules. A relative path is resolved against the working directory.
   * @throws as `exec()`; a missing file is an error of the program, with exit code 1
   */
  execFile(path: string, options?: Types.RunOptions): Promise<Types.ExecResult> {
    return this.#parts.programs.execFile(path, options);
  }

  /**
   * Runs a program of several files. `files` has their paths, relative to a new directory, and
   * their contents. The program runs in that directory as `execFile()` runs `entry`. The directory
   * is removed afterwards.
   * @throws as `exec()`
   */
  execFiles(files: Types.ProgramFiles, options?: Types.ExecFilesOptions): Promise<Types.ExecResult> {
    return this.#parts.execFiles(files, options);
  }

  /**
   * Runs a command of the guest to its end. `command` is a path, or a name for a search in PATH.
   * @throws as `exec()`; `ENOENT`, `EACCES` or `ENOEXEC` for a command that cannot be run
   */
  execCommand(command: string, args: readonly string[] = [], options: Types.CommandOptions = {}): Promise<Types.ExecResult> {
    return this.#parts.programs.execCommand(command, args, options);
  }

  /**
   * Starts `code`, an ES module, and returns a handle. The program's stdin stays open, and its
   * output can be read while the program runs.
   * @throws as `exec()`
   */
  spawn(code: string, options: Types.RunOptions = {}): Promise<Types.GuestProcess> {
    return this.#parts.programs.spawn(code, options);
  }

  /** Starts a command and returns a handle, as `spawn()` does. @throws as `execCommand()` */
  spawnCommand(command: string, args: readonly string[] = [], options: Types.CommandOptions = {}): Promise<Types.GuestProcess> {
    return this.#parts.programs.spawnCommand(command, args, options);
  }

  /**
   * Opens a terminal and starts a command on the terminal, by default a shell. The command leads a
   * session that the terminal controls: Ctrl+C ends the programs in the foreground.
   * @throws `ERR_RESOURCE_EXHAUSTED` at `limits.terminals`; otherwise as `execCommand()`
   */
  openTerminal(options: Types.OpenTerminalOptions = {}): Promise<Types.Terminal> {
    return this.#parts.programs.openTerminal(options);
  }

  /**
   * Returns the live processes of the runtime, children included. @throws `ERR_RUNTIME_DISPOSED`,
   * `ERR_RUNTIME_PAUSED`, `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`
   */
  processes(): Promise<Types.ProcessEntry[]> {
    return this.#parts.programs.list();
  }

  /**
   * Returns a further handle of a program, also of a program that ended in the last 30 seconds. The
   * program does not wait for it. @throws `EPERM` (a child, a runner), `ESRCH`; as `processes()`
   */
  attach(pid: number, options: Types.AttachOptions = {}): Promise<Types.GuestProcess> {
    return this.#parts.programs.attach(pid, options);
  }

  /**
   * Starts a guest process that evaluates snippets one after another, with one global state.
   * @throws `ERR_INVALID_OPTION`, `ERR_RESOURCE_EXHAUSTED`, as `exec()` for `cwd` and the runtime
   */
  createResidentRunner(options?: Types.ResidentRunnerOptions): Promise<Types.ResidentRunner> {
    return this.#parts.runners.create(options);
  }

  /** Returns all live resident runners, also of a snapshot. @throws as `processes()` */
  residentRunners(): Promise<Types.ResidentRunner[]> {
    return this.#parts.runners.list();
  }

  /** The permissions in force, with the default for every scope that is not set. */
  get permissions(): Types.CompletePolicy {
    return this.#parts.permissions.policy;
  }

  /**
   * Replaces the permissions of all programs. The policy is merged over the default, not over the
   * previous policy. The new policy applies to running programs from their next system call. Open
   * files and connections stay open.
   * @throws `ERR_INVALID_OPTION`, `ERR_INVALID_REQUEST` (an invalid pattern); otherwise as
   * `processes()`
   */
  setPermissions(policy: Types.PermissionsPolicy): Promise<void> {
    return this.#parts.permissions.set(policy);
  }

  /**
   * Calls `listener` for every permission decision after the promise has resolved. Returns a
   * function that unsubscribes, after all decisions so far were delivered. A program never waits
   * for a listener. If decisions are too fast, some are lost, and `onLost` receives their number.
   * @throws `ERR_INVALID_OPTION`; otherwise as `processes()`
   */
  onPermission(listener: Types.PermissionListener, onLost?: Types.LostListener): Promise<() => Promise<void>> {
    return this.#parts.permissions.listen(listener, onLost);
  }

  /**
   * Registers functions of this process: programs use `callBinding(name, input)`, or a command of
   * that name on PATH. A binding replaces the present binding of that name. Pending calls continue
   * with the old binding. If one binding is refused, no binding is registered.
   * @throws `ERR_INVALID_OPTION`; `EEXIST` if the sandbox has another command with one of the
   * names; otherwise as `processes()`
   */
  registerBindings(bindings: Types.Bindings): Promise<void> {
    return this.#parts.bindings.register(bindings);
  }

  /**
   * Removes bindings and their commands. Ignores unknown names. Pending calls continue.
   * @throws `ERR_INVALID_OPTION`; otherwise as `processes()`
   */
  unregisterBindings(names: readonly string[]): Promise<void> {
    return this.#parts.bindings.unregister(names);
  }

  /**
   * Replaces the file at `path`, an absolute guest path. The policy is not checked, but read-only
   * mounts are not written. Makes missing parent directories. Text is written as UTF-8. A new file
   * belongs to `owner`, by default `user`, and has the permission bits `mode`, by default 0o644.
   * @throws a code such as `ENOSPC`, with `path` and `syscall`; `ERR_INVALID_OPTION`; otherwise as
   * `processes()`
   */
  writeFile(path: string, data: string | Uint8Array, options?: Files.WriteFileOptions): Promise<void> {
    return this.#parts.files.writeFile(path, data, options);
  }

  /** Returns all bytes of a file. @throws a code such as `ENOENT`; otherwise as `writeFile()` */
  readFile(path: string): Promise<Uint8Array> {
    return this.#parts.files.readFile(path);
  }

  /** Returns the names in a directory, sorted. @throws `ENOTDIR`; otherwise as `stat()` */
  readDir(path: string): Promise<string[]> {
    return this.#parts.files.readDir(path);
  }

  /** Returns the names in a directory with their types. @throws as `readDir()` */
  readDirWithTypes(path: string): Promise<Types.DirectoryEntry[]> {
    return this.#parts.files.readDirWithTypes(path);
  }

  /** Returns the status of a file. @throws a code such as `ENOENT`; otherwise as `writeFile()` */
  stat(path: string, options?: Files.StatOptions): Promise<Types.FileStatus> {
    return this.#parts.files.stat(path, options);
  }

  /**
   * Returns whether a path exists. For a link, returns whether the target exists.
   * @throws `ERR_INVALID_OPTION`; otherwise as `processes()`
   */
  exists(path: string): Promise<boolean> {
    return this.#parts.files.exists(path);
  }

  /**
   * Makes a directory. With `recursive`, makes missing parents and accepts an existing directory.
   * @throws a code such as `EEXIST`; otherwise as `writeFile()`
   */
  mkdir(path: string, options?: Files.MkdirOptions): Promise<void> {
    return this.#parts.files.mkdir(path, options);
  }

  /** Makes a directory named by `prefix` and random letters; returns it. @throws as `mkdir()` */
  mkdtemp(prefix = '/tmp/'): Promise<string> {
    return this.#parts.files.mkdtemp(prefix);
  }

  /**
   * Removes a file, a link or an empty directory. With `recursive`, removes a directory with its
   * content.
   * @throws a code such as `ENOTEMPTY`; otherwise as `writeFile()`
   */
  remove(path: string, options?: Files.TreeOptions): Promise<void> {
    return this.#parts.files.remove(path, options);
  }

  /** Renames a file or directory. Replaces a file or empty one at `to`. @throws as `stat()` */
  rename(from: string, to: string): Promise<void> {
    return this.#parts.files.rename(from, to);
  }

  /** Makes a symbolic link to a path, absolute or relative to the link. @throws as `mkdir()` */
  symlink(target: string, path: string): Promise<void> {
    return this.#parts.files.symlink(target, path);
  }

  /** Returns the target of a symbolic link. @throws `EINVAL` for no link; otherwise as `stat()` */
  readlink(path: string): Promise<string> {
    return this.#parts.files.readlink(path);
  }

  /** Sets the permission bits of a file, such as 0o755. Follows links. @throws as `stat()` */
  chmod(path: string, mode: number): Promise<void> {
    return this.#parts.files.chmod(path, mode);
  }

  /** Sets the owner and the group of a file. Follows links. @throws as `stat()` */
  chown(path: string, owner: Types.Owner): Promise<void> {
    return this.#parts.files.chown(path, owner);
  }

  /** The user attributes of files, as Linux's extended attributes. */
  get xattrs(): Types.UserAttributes {
    return this.#parts.files.xattrs;
  }

  /** Sets the times of a file: Dates, or milliseconds since 1970. @throws as `stat()` */
  utimes(path: string, atime: Date | number, mtime: Date | number): Promise<void> {
    return this.#parts.files.utimes(path, atime, mtime);
  }

  /**
   * Iterates over the changes of a file or a directory after this call. Ends after `return()`, when
   * the signal aborts, or when the runtime is disposed. Up to 64 KiB of unread names are kept.
   * @throws in the iteration: a code such as `ENOENT`, `ENOSYS` for files that cannot be watched;
   * otherwise as `writeFile()`
   */
  watch(path: string, options: Files.WatchOptions & { typed: true }): Types.FileWatch<Types.FileEvent>;
  watch(path: string, options?: Files.WatchOptions): Types.FileWatch<Types.FileChange>;
  watch(path: string, options: Files.WatchOptions = {}): Types.FileWatch<Types.FileChange | Types.FileEvent> {
    return this.#parts.files.watch(path, options);
  }

  /** Returns a stream that reads a file. @throws as the stream's `error`: as `readFile()` */
  createReadStream(path: string, options: Files.ReadStreamOptions = {}): Readable {
    return this.#parts.files.createReadStream(path, options);
  }

  /**
   * Returns a stream that writes a file in pieces. The stream replaces the file's content, or
   * appends to the file with `append`. Makes missing parents.
   * @throws as the stream's `error`: as `writeFile()`
   */
  createWriteStream(path: string, options: Files.WriteStreamOptions = {}): Writable {
    return this.#parts.files.createWriteStream(path, options);
  }

  /**
   * Returns a tar archive of `path`, by default the working directory. Names in the archive of a
   * directory are relative to the directory. Files that a program removes during the call are left
   * out. Devices, sockets and `/proc` are always left out.
   * @throws as the stream's `error`: as `readFile()`
   */
  exportTar(path?: string, options?: Files.ExportTarOptions): Readable {
    return this.#parts.files.exportTar(path, options);
  }

  /**
   * Unpacks a tar archive into a directory. Refuses absolute names, `..`, devices and entries whose
   * path contains a link. Replaces files and links with the name of an entry. After a failure,
   * files of earlier entries stay.
   * @throws `ERR_ARCHIVE`, a code such as `ENOSPC`, an error of the source or of zlib; otherwise as
   * `writeFile()`
   */
  importTar(source: Files.TarSource, options: Files.ImportTarOptions = {}): Promise<void> {
    return this.#parts.files.importTar(source, options);
  }

  /**
   * Sends a request to a guest's HTTP server and reads the whole response. Redirects are not
   * followed, and the body is not decompressed. The host in the URL of a `Request` is ignored.
   * @throws `ECONNREFUSED`, `ECONNRESET`, `ERR_FETCH_TIMEOUT`, `ERR_RESPONSE_TOO_LARGE`,
   * `ERR_RESPONSE_INVALID`, the signal's reason, `ERR_INVALID_OPTION`; otherwise as `processes()`
   */
  fetch(
    port: number,
    request: string | Network.FetchOptions | Request = {},
    options: Network.FetchOptions = {},
  ): Promise<Types.GuestResponse> {
    return this.#parts.network.fetch(port, request, options);
  }

  /**
   * Returns a dispatcher of undici that sends requests to a guest's port, for any host in their
   * URL: `fetch(url, { dispatcher })`. The dispatcher streams in both directions, keeps connections
   * open, and does not bound the response. The disposal of the runtime ends the dispatcher. A
   * rollback or a pause ends the dispatcher's pending requests.
   * @throws `ERR_INVALID_OPTION`, `ERR_RUNTIME_DISPOSED`, `ERR_RUNTIME_PAUSED`
   */
  dispatcher(port: number): Dispatcher {
    return this.#parts.network.dispatcher(port);
  }

  /**
   * Connects to a guest's TCP port or Unix socket. The returned Duplex emits `connect`, or `error`
   * with `ECONNREFUSED`. The disposal of the runtime closes the connection.
   * @throws as `dispatcher()`
   */
  connect(target: Network.ConnectOptions): Types.GuestStream {
    return this.#parts.network.connect(target);
  }

  /**
   * Waits until a process listens at a TCP port or Unix socket, or no program is left to listen.
   * @throws `ERR_LISTENER_TIMEOUT`, `ERR_PROGRAM_EXITED`, the signal's reason,
   * `ERR_INVALID_OPTION`; otherwise as `processes()`
   */
  waitForListener(query: Network.ListenerQuery, options: Network.WaitForListenerOptions = {}): Promise<Types.GuestListener> {
    return this.#parts.network.waitForListener(query, options);
  }

  /**
   * Returns the present listener at a TCP port or Unix socket, or `undefined`.
   * @throws `ERR_INVALID_OPTION`; otherwise as `processes()`
   */
  findListener(query: Network.ListenerQuery): Promise<Types.GuestListener | undefined> {
    return this.#parts.network.findListener(query);
  }

  /** Returns all listeners. @throws as `processes()` */
  listeners(): Promise<Types.GuestListener[]> {
    return this.#parts.network.listeners();
  }

  /**
   * Serves a guest's TCP port at a loopback address of the host machine, until `close()` of the
   * result or the disposal of the runtime. Every process of the host machine that can reach the
   * address reaches the guest's port.
   * @throws the error of Node's `listen()` for an address in use, `ERR_INVALID_OPTION`; otherwise
   * as `processes()`
   */
  exposePort(port: number, options: Network.ExposePortOptions = {}): Promise<Types.ExposedPort> {
    return this.#parts.network.exposePort(port, options);
  }

  /** The connections out of the runtime: the options in force, changes, dry runs and events. */
  get network(): Types.OutsideNetwork {
    return this.#parts.outside;
  }

  /** The secrets of the runtime: their names, new values. */
  get secrets(): Types.RuntimeSecrets {
    return this.#parts.secrets;
  }

  /** The state of the runtime. */
  get state(): Types.RuntimeState {
    return this.#parts.state;
  }

  /** The snapshots of the runtime's tenant in the sidecar. They outlive the runtime. */
  get snapshots(): Types.SnapshotStore {
    return this.#parts.snapshots.store;
  }

  /**
   * Takes a snapshot: files, processes with their memory, timers, connections among the programs.
   * The programs quiesce for the snapshot and then continue.
   * @throws `ERR_NOT_QUIET` (a program did not quiesce in time), `ERR_SNAPSHOT`,
   * `ERR_SNAPSHOT_FILE`, `ERR_RESOURCE_EXHAUSTED`, `ERR_INVALID_OPTION`; otherwise as `processes()`
   */
  snapshot(options: Types.SnapshotOptions = {}): Promise<Types.Snapshot> {
    return this.#parts.snapshots.take(options);
  }

  /**
   * Rolls the runtime back to a snapshot of its tenant. Programs in the snapshot continue from the
   * snapshot's state. All other programs, and open connections, streams and watches of the app, end
   * with `ERR_ROLLED_BACK`. Limits, permissions, bindings and mounts do not change.
   * @throws `ERR_SNAPSHOT_NOT_FOUND`, `ERR_SNAPSHOT_LACKS`, `ERR_SNAPSHOT_FOREIGN`,
   * `ERR_SNAPSHOT_DAMAGED`, `ERR_RESOURCE_EXHAUSTED`, `ERR_INVALID_OPTION`; otherwise as
   * `processes()`
   */
  rollback(snapshot: Types.Snapshot | string): Promise<void> {
    return this.#parts.snapshots.rollback(snapshot);
  }

  /**
   * Clones the runtime in its sidecar, with the same limits, permissions, bindings and mounts, and
   * with the same `network` unless set. With `n`, makes `n` clones, or none after a failure. With
   * `settle`, makes as many clones as possible and returns a result for each. @throws as
   * `snapshot()`
   */
  clone(options?: Types.SingleCloneOptions): Promise<NodeRuntime>;
  clone(n: number, options: Types.CloneOptions & { settle: true }): Promise<PromiseSettledResult<NodeRuntime>[]>;
  clone(n: number, options?: Types.CloneOptions): Promise<NodeRuntime[]>;
  clone(
    n?: number | Types.SingleCloneOptions,
    options: Types.CloneOptions = {},
  ): Promise<NodeRuntime | NodeRuntime[] | PromiseSettledResult<NodeRuntime>[]> {
    return this.#parts.clone(n, options, (parts) => new NodeRuntime(parts));
  }

  /**
   * Pauses the runtime: writes its state to the sidecar's folder and frees its memory. Pending
   * results keep waiting. Open connections, requests, waits, streams and watches end with
   * `ERR_RUNTIME_PAUSED`. Later calls except `dispose()` fail with `ERR_RUNTIME_PAUSED` until
   * `resume()`. `NodeRuntime.create({ snapshot })` also restores the runtime, in another sidecar. A
   * failed pause changes nothing. With `whenBusy: 'freeze'`, resolves with `undefined` if the
   * runtime was frozen in memory instead. @throws as `snapshot()`
   */
  pause(options?: Types.PauseOptions & { whenBusy?: 'reject' }): Promise<Types.Snapshot>;
  pause(options: Types.PauseOptions): Promise<Types.Snapshot | undefined>;
  pause(options: Types.PauseOptions = {}): Promise<Types.Snapshot | undefined> {
    return this.#parts.pause.pause(options);
  }

  /** Resumes the runtime after a pause, also by its idle policy. @throws as `rollback()` */
  resume(options?: Types.ResumeOptions): Promise<void> {
    return this.#parts.pause.resume(options);
  }

  /** Returns the uses and the limits, also of the whole `sidecar`. @throws as `processes()` */
  getResourceSnapshot(): Promise<Types.ResourceSnapshot> {
    return this.#parts.resources();
  }

  /**
   * Ends the runtime and its programs, with `ERR_RUNTIME_DISPOSED`. Also ends a sidecar that the
   * runtime spawned, unless a clone still uses the sidecar. Further calls do nothing.
   */
  dispose(): Promise<void> {
    return this.#parts.dispose();
  }

  /** Calls `dispose()`, for `await using`. */
  [asyncDispose](): Promise<void> {
    return this.dispose();
  }
}
