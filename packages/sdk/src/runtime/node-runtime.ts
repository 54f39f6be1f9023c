// The public handle of a runtime: checks what comes in, asks the connection, shapes what comes back.

import { asyncDispose } from '../async-dispose.js';
import { bindingsOf } from '../bindings/binding.js';
import { BindingRegistry } from '../bindings/registry.js';
import type { Bindings } from '../bindings/types.js';
import type { ProcessStart } from '../channel/messages.js';
import type { Outcome } from '../channel/outcome.js';
import type { SidecarConnection } from '../channel/sidecar-connection.js';
import { invalidOption, runtimeDisposed } from '../errors/make.js';
import { RuntimeNetwork } from '../network/runtime-network.js';
import { acceptable, explain } from '../options/check.js';
import type { PermissionsPolicy } from '../options/permission-types.js';
import { policyOf } from '../options/permissions.js';
import { show } from '../options/show.js';
import type { CommandOptions, NodeRuntimeOptions, ResidentRunnerOptions, RunOptions } from '../options/types.js';
import type { ResidentRunner } from '../runner/resident-runner.js';
import { Runners } from '../runner/runners.js';
import { reportGuestRun, reportGuestStart } from './boot-timing.js';
import { type Provisioned, provision } from './create.js';
import { disposeRuntime, unlessGone } from './dispose.js';
import { evaluate } from './evaluation.js';
import type { FilePlace } from './file-methods.js';
import { GuestProcess, type Home } from './guest-process.js';
import { Numbers } from './numbers.js';
import { type LostListener, type PermissionListener, RuntimePermissions } from './permissions.js';
import { listProcesses, type ProcessEntry } from './processes.js';
import { bytesOf, checkText, programOf } from './program.js';
import { type ResourceSnapshot, snapshotOf } from './resources.js';
import { ExecResult, RunResult } from './result.js';
import { DEFAULT_CWD } from './seed.js';
import { SnapshotMethods, type Whole } from './snapshot-methods.js';

/**
 * One sandbox for Node programs. Each `exec` and `run` starts a fresh guest process in it; programs may run at the same time.
 *
 * @example
 * await using runtime = await NodeRuntime.create();
 * const { stdout } = await runtime.exec('console.log(1 + 1)');
 */
export class NodeRuntime extends SnapshotMethods implements AsyncDisposable {
  readonly #provisioned: Provisioned;
  readonly #connection: SidecarConnection;
  readonly #runtime: number;
  readonly #home: Home;
  readonly #options: Inherited;
  readonly #cwd: string;
  readonly #permissions: RuntimePermissions;
  readonly #runners: Runners;
  #network: RuntimeNetwork | undefined;
  #disposal: Promise<void> | undefined;

  private constructor(provisioned: Provisioned, options: Inherited) {
    super();
    const { connection, runtime, restored } = provisioned;
    this.#provisioned = provisioned;
    this.#connection = connection;
    this.#runtime = runtime;
    this.#home = { connection, runtime, numbers: new Numbers() };
    this.#options = options;
    const { permissions = restored && policyOf(restored.permissions) } = options;
    this.#permissions = new RuntimePermissions(connection, runtime, permissions);
    this.#cwd = options.cwd ?? restored?.cwd ?? DEFAULT_CWD;
    this.#runners = new Runners(connection, this.#home.numbers, options.onBootTiming);
    if (restored !== undefined) this.#runners.adopt(restored.programs);
    provisioned.policy?.begin(this.sleeper());
  }

  /**
   * Makes a runtime, new or from a snapshot, and spawns a sidecar for it unless one is given.
   *
   * @throws `ERR_INVALID_OPTION`, `ERR_SNAPSHOT_NOT_FOUND` and the other codes of snapshots, `ERR_INVALID_REQUEST` (a mount that cannot be opened), a file error's code such as `ENOSPC`,
   * `ERR_RESOURCE_EXHAUSTED`, and what `Sidecar.spawn()` throws
   */
  static async create(options?: NodeRuntimeOptions): Promise<NodeRuntime> {
    if (!acceptable('NodeRuntime.create()', options)) await explain('NodeRuntime.create()', options);
    return new NodeRuntime(await provision(options ?? {}), inherited(options));
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
    this.assertAlive();
    const { args, env, cwd, stdin, timeout: timeoutMs } = options;
    const { text, execArgv } = programOf('exec', code, options);
    const program = { runtime: this.#runtime, mode: 'exec', code: text, args, execArgv, env, cwd, timeoutMs } as const;
    return GuestProcess.start(this.#home, { ...program, stdin: bytesOf(stdin) }, options);
  }

  /**
   * The same for a command: see `execCommand()`.
   *
   * @throws as `execCommand()`
   */
  async spawnCommand(command: string, args: readonly string[] = [], options: CommandOptions = {}): Promise<GuestProcess> {
    return GuestProcess.start(this.#home, await this.#command('spawnCommand()', command, args, options), options);
  }

  /**
   * The processes that live in the runtime, children of programs included.
   *
   * @throws `ERR_RUNTIME_DISPOSED`, `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`
   */
  async processes(): Promise<ProcessEntry[]> {
    this.assertAlive();
    return listProcesses(this.#home);
  }

  /**
   * Starts a guest process that stays and evaluates snippets one after the other, with one global state.
   *
   * @throws `ERR_INVALID_OPTION`, `ERR_RUNTIME_DISPOSED`, `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`, `ERR_RESOURCE_EXHAUSTED`
   */
  async createResidentRunner(options?: ResidentRunnerOptions): Promise<ResidentRunner> {
    if (!acceptable('createResidentRunner()', options)) await explain('createResidentRunner()', options);
    this.assertAlive();
    return this.#runners.create({ runtime: this.#runtime, ...options });
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
    this.assertAlive();
    await this.#permissions.set(policy);
  }

  /**
   * Has every decision about a permission told, from the time on when this resolves, until the function that it gives is called. A program
   * never waits for a listener: when decisions come faster than they can be told, some are lost, and `onLost` is told how many.
   *
   * @throws `ERR_INVALID_OPTION`; otherwise as `processes()`
   */
  async onPermission(listener: PermissionListener, onLost?: LostListener): Promise<() => Promise<void>> {
    this.assertAlive();
    return this.#permissions.listen(listener, onLost);
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
    this.assertAlive();
    this.#provisioned.bindings ??= new BindingRegistry(this.#connection, this.#runtime);
    const registry = this.#provisioned.bindings;
    await this.inUse(() => registry.add(ready));
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
    this.assertAlive();
    await this.inUse(() => this.#provisioned.bindings?.remove(names));
  }

  /**
   * What the runtime has in use: of each of its limits how much now, how much at most so far, and the limit; and what its sidecar has in use, over all
   * its runtimes.
   *
   * @throws `ERR_RUNTIME_DISPOSED`, `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`
   */
  async getResourceSnapshot(): Promise<ResourceSnapshot> {
    this.assertAlive();
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
    this.assertAlive();
    this.#network ??= new RuntimeNetwork(this.#connection.network, this.#runtime, this.#options.fetchResponseBytes);
    return this.#network;
  }

  async #dispose(): Promise<void> {
    const { household, policy } = this.#provisioned;
    // It ends whatever fails before.
    try {
      await this.#network?.close();
    } finally {
      try {
        // An attempt to put it to sleep waits for its programs to rest. Nobody waits for that now.
        const ended = policy?.isAsleep ? unlessGone(household.connection.disposeRuntime(this.#runtime)) : undefined;
        await Promise.all([ended, policy?.end()]);
      } finally {
        await disposeRuntime(this.#connection, this.#runtime, household.leave());
      }
    }
  }

  async #start(call: 'exec' | 'run' | 'execFile', code: string, options: RunOptions | undefined): Promise<Outcome> {
    checkText(`${call}()`, call === 'execFile' ? 'path' : 'code', code);
    this.assertAlive();
    const outcome = await this.#begin(call === 'execFile' ? 'file' : call, code, options);
    const { onBootTiming } = this.#options;
    if (onBootTiming !== undefined) {
      reportGuestStart(onBootTiming, outcome.timings);
      reportGuestRun(onBootTiming, outcome.timings);
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
    this.assertAlive();
    const { env, cwd, stdin, timeout: timeoutMs } = options;
    return { runtime: this.#runtime, mode: 'command', code: command, args, env, cwd, stdin: bytesOf(stdin), timeoutMs };
  }

  /** @internal */
  protected override place(): FilePlace {
    return { connection: this.#connection, runtime: this.#runtime, cwd: this.#cwd };
  }

  /** @internal */
  protected override assertAlive(): void {
    if (this.#disposal !== undefined) throw runtimeDisposed(this.#runtime);
    this.assertAwake(this.#runtime);
  }

  /** @internal */
  protected override isDisposed(): boolean {
    return this.#disposal !== undefined;
  }

  /** @internal */
  protected override whole(): Whole {
    return {
      provisioned: this.#provisioned,
      numbers: this.#home.numbers,
      runners: this.#runners,
      onLimitWarning: this.#options.onLimitWarning,
      network: this.#network,
    };
  }

  /** @internal */
  protected override another(provisioned: Provisioned): this {
    const options = { ...this.#options, cwd: this.#cwd, permissions: this.#permissions.policy };
    return new NodeRuntime(provisioned, options) as this;
  }
}

// What of the options counts after the creation, for copies too.
interface Inherited extends Pick<NodeRuntimeOptions, 'cwd' | 'permissions' | 'onBootTiming' | 'onLimitWarning'> {
  fetchResponseBytes?: number | undefined;
}

const NOTHING: Inherited = {};

function inherited(options: NodeRuntimeOptions | undefined): Inherited {
  if (options === undefined) return NOTHING;
  const { cwd, permissions, onBootTiming, onLimitWarning, limits } = options;
  return { cwd, permissions, onBootTiming, onLimitWarning, fetchResponseBytes: limits?.fetchResponseBytes };
}
