// A terminal: a program whose standard input and output are a terminal of the runtime. The terminal
// is a live program, so pauses, snapshots and pools treat the terminal like every program.

import { asyncDispose } from '../async-dispose.js';
import type { SignalName } from '../options/programs.js';
import type { GuestProcess } from './guest-process.js';
import type { ProgramEnd } from './program-ends.js';
import type { ExecResult } from './result.js';

/** An open terminal of a runtime, with the program that runs on the terminal. */
export class Terminal implements AsyncDisposable {
  readonly #program: GuestProcess;
  // The exit code after `dispose()`.
  #disposed: number | undefined;

  /** @internal */
  constructor(program: GuestProcess) {
    this.#program = program;
  }

  /** The pid of the program, which leads the terminal's session. */
  get pid(): number {
    return this.#program.pid;
  }

  /**
   * The output of the terminal, if the option `onData` is not set. When 256 KiB are unread, writes
   * to the terminal block.
   */
  get output(): AsyncIterable<Uint8Array> {
    return this.#program.stdout;
  }

  /** The exit code of the program, or `undefined` while the program runs. */
  get exitCode(): number | undefined {
    return this.#program.exitCode ?? this.#disposed;
  }

  /**
   * Returns the result of the program when the program has ended. `stdout` and `stderr` are empty,
   * because the output of a terminal is not stored.
   */
  get result(): Promise<ExecResult> {
    return this.#program.result;
  }

  /** @internal The end of the program, for `waitForListener()`. */
  get ended(): Promise<ProgramEnd> {
    return this.#program.ended;
  }

  /**
   * Types bytes on the terminal's keyboard. `'\x03'` is Ctrl+C, and `'\r'` the Enter key. At most
   * `limits.stdinBytes` (16 MiB) of unread data are stored.
   *
   * @throws as `GuestProcess.writeStdin()`
   */
  write(data: string | Uint8Array): Promise<void> {
    return this.#program.writeStdin(data);
  }

  /**
   * Sets the size of the terminal in characters. The programs in the foreground receive SIGWINCH if
   * the size has changed.
   *
   * @throws `ERR_INVALID_OPTION`, `ESRCH` after the end of the program; otherwise as `exec()` for
   * runtime and sidecar
   */
  async resize(cols: number, rows: number): Promise<void> {
    await this.#program.resize(cols, rows);
  }

  /** Sends a signal to the program. Returns whether the program existed. */
  kill(signal: SignalName | number = 'SIGHUP'): Promise<boolean> {
    return this.#program.kill(signal);
  }

  /**
   * Waits until the program has ended and returns its exit code. @throws as `GuestProcess.wait()`
   */
  wait(): Promise<number> {
    return this.#program.wait();
  }

  /** Ends the program and all programs of the terminal's session. */
  async dispose(): Promise<void> {
    await this.#program.kill('SIGKILL');
    // The result waits for the readers of the output, which may wait for the app.
    this.#disposed = await this.#program.ended.then(
      ({ exitCode }) => exitCode,
      () => undefined,
    );
  }

  /** The same as `dispose()`. */
  async [asyncDispose](): Promise<void> {
    await this.dispose();
  }

  /** Returns the pid and the exit code, for `JSON.stringify()`. */
  toJSON(): { pid: number; exitCode: number | undefined } {
    return this.#program.toJSON();
  }
}
