// The public handle of a resident runner: a guest process that stays, and evaluates snippets one after the other.

import { asyncDispose } from '../async-dispose.js';
import type { Outcome } from '../channel/outcome.js';
import type { SidecarConnection } from '../channel/sidecar-connection.js';
import { isColdframeError } from '../errors/error.js';
import { invalidOption, runnerDisposed } from '../errors/make.js';
import { acceptable, explain } from '../options/check.js';
import { show } from '../options/show.js';
import type { BootTimingListener, ResidentExecOptions } from '../options/types.js';
import { reportGuestRun } from '../runtime/boot-timing.js';
import { unlessGone } from '../runtime/dispose.js';
import { evaluate } from '../runtime/evaluation.js';
import { ExecResult } from '../runtime/result.js';

// Its process is gone: a call's failure, or what became of a snippet that waited its turn.
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
  /** The number of its process in the runtime. */
  readonly pid: number;
  readonly #connection: SidecarConnection;
  readonly #runner: number;
  readonly #onBootTiming: BootTimingListener | undefined;
  #disposal: Promise<void> | undefined;
  #exited = false;

  /** @internal */
  constructor(connection: SidecarConnection, runner: number, pid: number, onBootTiming: BootTimingListener | undefined) {
    this.pid = pid;
    this.#connection = connection;
    this.#runner = runner;
    this.#onBootTiming = onBootTiming;
  }

  /**
   * Evaluates `code`, an ES module, and resolves when it and what it started has come to its end. A `timeout` ends the snippet.
   *
   * @throws the signal's reason, what an output handler threw, `ERR_INVALID_OPTION`, `ERR_RUNNER_DISPOSED`, `ERR_RUNNER_EXITED`,
   * `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`, `ERR_FRAME_TOO_LARGE`
   */
  async exec(code: string, options?: ResidentExecOptions): Promise<ExecResult> {
    if (!acceptable('ResidentRunner.exec()', options)) await explain('ResidentRunner.exec()', options);
    if (typeof code !== 'string') {
      throw invalidOption('ResidentRunner.exec()', { option: 'code', expected: 'text', received: show(code) });
    }
    if (this.#disposal !== undefined) throw runnerDisposed(this.#runner);
    try {
      const outcome = await this.#begin(code, options);
      if (outcome.failure?.code === EXITED) this.#exited = true;
      if (this.#onBootTiming !== undefined) reportGuestRun(this.#onBootTiming, outcome.timings);
      return new ExecResult(outcome);
    } catch (error) {
      if (isColdframeError(error, EXITED)) this.#exited = true;
      throw error;
    }
  }

  /** @internal Whether it has been disposed, or its process is known to have ended. */
  get isOver(): boolean {
    return this.#exited || this.#disposal !== undefined;
  }

  /** Ends the process; snippets under way resolve with exit code 137 and `error.code` `ERR_CANCELED`. May be called more than once. */
  dispose(): Promise<void> {
    if (this.#disposal === undefined) {
      this.#disposal = unlessGone(this.#connection.disposeRunner(this.#runner));
      // Its process lives on then, and can be disposed of again.
      this.#disposal.catch(() => {
        this.#disposal = undefined;
      });
    }
    return this.#disposal;
  }

  /** `dispose()`, for `await using`. */
  [asyncDispose](): Promise<void> {
    return this.dispose();
  }

  #begin(code: string, options: ResidentExecOptions | undefined): Outcome | Promise<Outcome> {
    const connection = this.#connection;
    const runner = this.#runner;
    if (options === undefined) return connection.evaluate(connection.nextId(), { runner, code });
    const timeoutMs = options.timeout;
    return evaluate(connection, options, (id, stream, onOutput) =>
      connection.evaluate(id, { runner, code, timeoutMs, stream }, onOutput),
    );
  }
}
