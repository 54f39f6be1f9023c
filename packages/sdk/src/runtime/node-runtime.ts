// The public handle of a runtime: checks what comes in, asks the connection, shapes what comes back.

import { asyncDispose } from '../async-dispose.js';
import type { ResourceSnapshot } from '../channel/messages.js';
import { invalidOption, runtimeDisposed } from '../errors/make.js';
import { acceptable, explain } from '../options/check.js';
import { show } from '../options/show.js';
import type { BootTimingListener, NodeRuntimeOptions, ResidentRunnerOptions, RunOptions } from '../options/types.js';
import { createRunner, type ResidentRunner } from '../runner/resident-runner.js';
import type { Outcome, ProcessConnection, SidecarConnection } from '../sidecar/connection.js';
import { reportGuestRun, reportGuestStart } from './boot-timing.js';
import { type Provisioned, provision } from './create.js';
import { disposeRuntime } from './dispose.js';
import { evaluate } from './evaluation.js';
import { ExecResult, RunResult } from './result.js';

/**
 * One sandbox for Node programs. Each `exec` and `run` starts a fresh guest process in it; programs may run at the same time.
 *
 * @example
 * await using runtime = await NodeRuntime.create();
 * const { stdout } = await runtime.exec('console.log(1 + 1)');
 */
export class NodeRuntime implements AsyncDisposable {
  readonly #connection: SidecarConnection;
  readonly #owned: ProcessConnection | undefined;
  readonly #runtime: number;
  readonly #onBootTiming: BootTimingListener | undefined;
  #disposal: Promise<void> | undefined;

  private constructor(provisioned: Provisioned, onBootTiming: BootTimingListener | undefined) {
    this.#connection = provisioned.connection;
    this.#owned = provisioned.owned;
    this.#runtime = provisioned.runtime;
    this.#onBootTiming = onBootTiming;
  }

  /**
   * Makes a runtime, and spawns a sidecar for it unless one is given.
   *
   * @throws `ERR_INVALID_OPTION`, `ERR_INVALID_REQUEST`, `ERR_RESOURCE_EXHAUSTED`, and what `Sidecar.spawn()` throws
   */
  static async create(options?: NodeRuntimeOptions): Promise<NodeRuntime> {
    if (!acceptable('NodeRuntime.create()', options)) await explain('NodeRuntime.create()', options);
    return new NodeRuntime(await provision(options ?? {}), options?.onBootTiming);
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
   * What the sidecar has in use, over all its runtimes.
   *
   * @throws `ERR_RUNTIME_DISPOSED`, `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`
   */
  async getResourceSnapshot(): Promise<ResourceSnapshot> {
    this.#assertAlive();
    return this.#connection.resources();
  }

  /**
   * Ends the runtime, what runs in it, and its sidecar if that is its own. Programs under way end with exit code 137 and
   * `error.code` `ERR_RUNTIME_DISPOSED`. May be called more than once.
   */
  dispose(): Promise<void> {
    this.#disposal ??= disposeRuntime(this.#connection, this.#runtime, this.#owned);
    return this.#disposal;
  }

  /** `dispose()`, for `await using`. */
  [asyncDispose](): Promise<void> {
    return this.dispose();
  }

  async #start(call: 'exec' | 'run' | 'execFile', code: string, options: RunOptions | undefined): Promise<Outcome> {
    if (typeof code !== 'string') {
      const option = call === 'execFile' ? 'path' : 'code';
      throw invalidOption(`${call}()`, { option, expected: 'text', received: show(code) });
    }
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
    const { args, execArgv, env, cwd, timeout: timeoutMs } = options;
    const stdin = typeof options.stdin === 'string' ? Buffer.from(options.stdin) : options.stdin;
    return evaluate(connection, options, (id, stream, onOutput) =>
      connection.start(id, { runtime, mode, code, args, execArgv, env, cwd, stdin, timeoutMs, stream }, onOutput),
    );
  }

  #assertAlive(): void {
    if (this.#disposal !== undefined) throw runtimeDisposed(this.#runtime);
  }
}
