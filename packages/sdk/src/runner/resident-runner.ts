// The public handle of a resident runner: a guest process that evaluates snippets one after
// another.

import { asyncDispose } from '../async-dispose.js';
import type { Outcome } from '../channel/outcome.js';
import { isColdframeError } from '../errors/error.js';
import { runnerDisposed } from '../errors/make.js';
import type { BootTimingListener } from '../options/boot-timing.js';
import { checkArgument, checkOptions } from '../options/check.js';
import { type CellOptions, PROGRAM, type ResidentExecOptions } from '../options/programs.js';
import { evaluate } from '../programs/evaluation.js';
import { explained } from '../programs/limit-line.js';
import { ExecResult, finished, RunResult } from '../programs/result.js';
import { assertWorkingDirectory } from '../programs/working-directory.js';
import type { RunnerId } from '../protocol/generated/messages.js';
import { reportGuestRun } from '../sidecar/boot-timing.js';
import type { RuntimeAccess } from '../sidecar/runtime-access.js';
import { unlessEnded } from '../sidecar/unless-ended.js';
import { CellResult } from './cell-result.js';

/**
 * The error code of a call after the runner's process has ended, and of a snippet that waited for
 * earlier snippets at that time.
 */
const EXITED = 'ERR_RUNNER_EXITED';

/**
 * A guest process with one global state. Snippets wait for each other.
 *
 * @example
 * await using runner = await runtime.createResidentRunner();
 * await runner.exec('globalThis.n = 1');
 * const { stdout } = await runner.exec('console.log(++n)');
 */
export class ResidentRunner implements AsyncDisposable {
  /** The pid of the runner's process in the runtime. */
  readonly pid: number;
  readonly #access: RuntimeAccess;
  readonly #runner: RunnerId;
  readonly #onBootTiming: BootTimingListener | undefined;
  #disposal: Promise<void> | undefined;
  #exited = false;

  /** @internal */
  constructor(access: RuntimeAccess, runner: RunnerId, pid: number, onBootTiming: BootTimingListener | undefined) {
    this.pid = pid;
    this.#access = access;
    this.#runner = runner;
    this.#onBootTiming = onBootTiming;
  }

  /**
   * Evaluates `code`, an ES module. Resolves when the code and all work that the code started have
   * ended, or with `until: 'value'` when the code has ended. If `timeout` passes, the snippet is
   * ended, and the runner keeps its state.
   *
   * @throws the signal's reason, the error of an output handler, `ERR_INVALID_OPTION`,
   * `ERR_RUNNER_DISPOSED`, `ERR_RUNNER_EXITED`, `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`,
   * `ERR_FRAME_TOO_LARGE`
   */
  async exec(code: string, options?: ResidentExecOptions): Promise<ExecResult> {
    checkOptions('ResidentRunner.exec()', options);
    const outcome = await this.#evaluate('ResidentRunner.exec()', code, options, undefined);
    return finished(new ExecResult(outcome), options);
  }

  /**
   * Evaluates `code` as `exec()` does. The snippet can return a value with `__return(value)`,
   * through JSON.
   *
   * @throws as `exec()`
   * @example
   * const { value } = await runner.run<number>('__return(n)');
   */
  async run<T = unknown>(code: string, options?: ResidentExecOptions): Promise<RunResult<T>> {
    checkOptions('ResidentRunner.run()', options);
    const outcome = await this.#evaluate('ResidentRunner.run()', code, options, true);
    return finished(new RunResult<T>(outcome), options);
  }

  /**
   * Evaluates `code` as a cell of a notebook. Imports and declarations of the top level stay, and
   * later cells can declare the names again. The value of the last expression is awaited and
   * becomes a result, unless it is `undefined`. In a runner of the language `'bash'`, `code` is a
   * script of the shell. In a runner of the language `'python'`, `code` is a cell as in Jupyter.
   *
   * @throws as `exec()`
   * @example
   * await runner.cell("import { sep } from 'node:path'; const twice = (text) => text + text");
   * const { text } = await runner.cell('twice(sep)');
   */
  async cell(code: string, options?: CellOptions): Promise<CellResult> {
    const { language = 'javascript', until = 'value', ...rest } = options ?? {};
    const call = 'ResidentRunner.cell()';
    checkOptions(call, options);
    // The protocol has no language of cells of Python, because the runner has the language.
    const sent = language === 'python' ? 'javascript' : language;
    const outcome = await this.#evaluate(call, code, { ...rest, until }, true, sent);
    return finished(new CellResult(outcome), options);
  }

  /**
   * Ends the running evaluation, which resolves with exit code 130 and `error.code`
   * `ERR_INTERRUPTED`. Between two evaluations, ends the callback that runs. The runner keeps its
   * state, and evaluations that wait run next. Resolves when the sidecar has accepted the request.
   *
   * @throws `ERR_RUNNER_DISPOSED`, `ERR_RUNNER_EXITED`, `ERR_SIDECAR_EXITED`,
   * `ERR_SIDECAR_DISPOSED`
   */
  async interrupt(): Promise<void> {
    if (this.#disposal !== undefined) throw runnerDisposed(this.#runner);
    await this.#access.connection.request('runner.interrupt', { runner: this.#runner });
  }

  /** @internal Whether the runner was disposed, or its process is known to have ended. */
  get isOver(): boolean {
    return this.#exited || this.#disposal !== undefined;
  }

  /**
   * Ends the runner's process. Running and waiting snippets resolve with exit code 137 and
   * `error.code` `ERR_CANCELED`. Further calls do nothing.
   */
  dispose(): Promise<void> {
    if (this.#disposal === undefined) {
      this.#disposal = unlessEnded(this.#access.connection.request('runner.dispose', { runner: this.#runner }));
      // After a failed request the process still runs, so a further `dispose()` sends the request
      // again.
      this.#disposal.catch(() => {
        this.#disposal = undefined;
      });
    }
    return this.#disposal;
  }

  /** Calls `dispose()`, for `await using`. */
  [asyncDispose](): Promise<void> {
    return this.dispose();
  }

  async #evaluate(
    call: 'ResidentRunner.exec()' | 'ResidentRunner.run()' | 'ResidentRunner.cell()',
    code: string,
    options: ResidentExecOptions | undefined,
    returns: true | undefined,
    cell?: 'javascript' | 'typescript',
  ): Promise<Outcome> {
    checkArgument(call, 'code', PROGRAM, code);
    if (this.#disposal !== undefined) throw runnerDisposed(this.#runner);
    if (options?.cwd !== undefined) await assertWorkingDirectory(this.#access, call, options.cwd);
    try {
      const outcome = await this.#begin(code, options, returns, cell);
      if (outcome.failure?.code === EXITED) this.#exited = true;
      if (this.#onBootTiming !== undefined) reportGuestRun(this.#onBootTiming, outcome.timings);
      return explained(outcome, options);
    } catch (error) {
      if (isColdframeError(error, EXITED)) this.#exited = true;
      throw error;
    }
  }

  #begin(
    code: string,
    options: ResidentExecOptions | undefined,
    returns: true | undefined,
    cell: 'javascript' | 'typescript' | undefined,
  ): Outcome | Promise<Outcome> {
    const { connection } = this.#access;
    const runner = this.#runner;
    if (options === undefined) return connection.evaluate(connection.nextId(), { runner, code, returns });
    const { env, cwd, until, timeout: timeoutMs } = options;
    return evaluate(connection, options, (id, stream, onOutput) =>
      connection.evaluate(id, { runner, code, returns, env, cwd, until, cell, timeoutMs, stream }, onOutput),
    );
  }
}
