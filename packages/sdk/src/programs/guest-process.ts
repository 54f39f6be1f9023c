// The public handle of a live program: its pid, its streams, its end.

import { constants } from 'node:os';
import type { Outcome } from '../channel/outcome.js';
import type { SidecarConnection } from '../channel/sidecar-connection.js';
import { deferred } from '../deferred.js';
import { isColdframeError } from '../errors/error.js';
import { noReader } from '../errors/make.js';
import { checkArgument } from '../options/check.js';
import { type AttachOptions, type CommandOptions, type SignalName, STDIN_DATA } from '../options/programs.js';
import { rule } from '../options/rule.js';
import type { Pid, ProcessStart, RuntimeId } from '../protocol/generated/messages.js';
import { type Begin, evaluate } from './evaluation.js';
import { explained } from './limit-line.js';
import { OutputStream } from './output-stream.js';
import type { PidHolder, PidRegistry } from './pid-registry.js';
import { endOf, type ProgramEnd, type ProgramEnds } from './program-ends.js';
import { ExecResult, finished } from './result.js';

const NOTHING = new Uint8Array(0);
const SIGNALS: Readonly<Record<string, number | undefined>> = constants.signals;
const MAX_SIGNAL = 64;

const signalNumber = (signal: unknown): unknown => (typeof signal === 'string' ? SIGNALS[signal] : signal);
const SIGNAL = rule((value) => {
  const number = signalNumber(value);
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 && number <= MAX_SIGNAL;
}, "a signal such as 'SIGTERM'");

/** The runtime that a handle's program runs in. */
export interface ProcessContext {
  connection: SidecarConnection;
  runtime: RuntimeId;
  pids: PidRegistry;
  ends: ProgramEnds;
}

/** The handle of a program in a runtime. */
export class GuestProcess {
  /** The pid in the runtime. */
  readonly pid: number;
  /**
   * The program's stdout, if the option `onStdout` is not set. When 256 KiB are unread, the
   * program's writes block. Unless stdout is already being read, stdout is discarded when stderr is
   * read, or when `wait()` or `result` is used.
   */
  readonly stdout: AsyncIterable<Uint8Array>;
  /** The program's stderr, with the rules of `stdout`. */
  readonly stderr: AsyncIterable<Uint8Array>;
  readonly #connection: SidecarConnection;
  readonly #runtime: RuntimeId;
  readonly #pid: Pid;
  readonly #holder: PidHolder;
  readonly #streams: readonly OutputStream[];
  readonly #result: Promise<ExecResult>;
  readonly #ended: Promise<ProgramEnd>;
  readonly #options: CommandOptions;
  #exitCode: number | undefined;

  private constructor(
    { connection, runtime }: ProcessContext,
    pid: Pid,
    { streams, outcome, holder, ended }: FollowedProgram,
    options: CommandOptions,
  ) {
    this.pid = pid;
    this.#pid = pid;
    [this.stdout, this.stderr] = streams;
    this.#connection = connection;
    this.#runtime = runtime;
    this.#holder = holder;
    this.#streams = streams;
    this.#options = options;
    this.#ended = ended.then((early) => endOf(early, pid));
    this.#ended.catch(() => {});
    this.#result = outcome.then((complete) => {
      const result = new ExecResult(explained(complete, options));
      this.#exitCode = result.exitCode;
      return result;
    });
    // If the app never reads the result, a rejection needs no handler.
    this.#result.catch(() => {});
  }

  /** @internal Starts a program. */
  static start(context: ProcessContext, program: ProcessStart, options: CommandOptions): Promise<GuestProcess> {
    return GuestProcess.#begin(context, options, (id, stream, onOutput, _, onStarted) =>
      context.connection.start(id, { ...program, stream, live: true }, onOutput, onStarted),
    );
  }

  /** @internal Attaches to a program that was restored from a snapshot. */
  static attach(context: ProcessContext, pid: Pid, options: AttachOptions): Promise<GuestProcess> {
    return GuestProcess.#begin(context, options, (id, stream, onOutput, allowEarlier, onStarted) =>
      context.connection.attach(id, { runtime: context.runtime, pid, stream }, onOutput, (started, earlier) => {
        allowEarlier(earlier);
        onStarted(started);
      }),
    );
  }

  // Discards the output that has no reader, because the program's writes wait for a reader.
  #complete(): Promise<ExecResult> {
    for (const stream of this.#streams) stream.drop();
    return this.#result;
  }

  static async #begin(context: ProcessContext, options: CommandOptions, begin: BeginLive): Promise<GuestProcess> {
    const started = deferred<Pid>();
    const followed = follow(context.connection, options, (id, stream, onOutput, allowEarlier) =>
      begin(id, stream, onOutput, allowEarlier, started.resolve),
    );
    followed.outcome.catch(started.reject);
    const pid = await started.promise;
    const { holder, ended } = followed;
    context.pids.assign(pid, holder);
    // If `ended` rejects, the connection has failed, and calls through the handle report that
    // failure.
    ended.then(
      (outcome) => {
        context.pids.end(pid, holder);
        context.ends.ended(outcome, pid);
      },
      () => {},
    );
    return new GuestProcess(context, pid, followed, options);
  }

  /**
   * Returns the result of the program when the program has ended: exit code, `error`, and captured
   * output (`limits.outputBytes`).
   */
  get result(): Promise<ExecResult> {
    return this.#complete().then((result) => finished(result, this.#options));
  }

  /** The program's exit code, or `undefined` while the program runs. */
  get exitCode(): number | undefined {
    return this.#exitCode;
  }

  /**
   * @internal The end of the program. Unlike `result`, this promise waits for no reader of the
   * output and discards no output.
   */
  get ended(): Promise<ProgramEnd> {
    return this.#ended;
  }

  /** Returns the pid and the exit code, for `JSON.stringify()`. */
  toJSON(): { pid: number; exitCode: number | undefined } {
    return { pid: this.pid, exitCode: this.exitCode };
  }

  /**
   * Waits until the program has ended and returns its exit code.
   *
   * @throws the signal's reason, the error of an output handler, `ERR_SIDECAR_EXITED`,
   * `ERR_SIDECAR_DISPOSED`
   */
  async wait(): Promise<number> {
    return (await this.#complete()).exitCode;
  }

  /**
   * Writes to the program's stdin. At most `limits.stdinBytes` (16 MiB) of unread data are stored.
   *
   * @throws `EPIPE` if the program no longer reads, `ENOBUFS` if more data would be unread;
   * otherwise as `exec()` for runtime and sidecar
   */
  async writeStdin(data: string | Uint8Array): Promise<void> {
    checkArgument('writeStdin()', 'data', STDIN_DATA, data);
    if (this.#holder.over) throw noReader(this.pid);
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    await this.#connection.request('process.write', { runtime: this.#runtime, pid: this.#pid, data: bytes });
  }

  /** Ends the program's stdin. Does nothing if the program no longer reads. */
  async closeStdin(): Promise<void> {
    if (this.#holder.over) return;
    try {
      await this.#connection.request('process.write', { runtime: this.#runtime, pid: this.#pid, data: NOTHING, end: true });
    } catch (error) {
      if (!isColdframeError(error) || error.code !== 'EPIPE') throw error;
    }
  }

  /** @internal Sets the size of the program's terminal. */
  async resize(columns: number, rows: number): Promise<void> {
    await this.#connection.request('process.resize', { runtime: this.#runtime, pid: this.#pid, size: { columns, rows } });
  }

  /**
   * Sends a signal by name or number. Returns whether the process existed. An unhandled signal ends
   * the process as on Linux, with exit code 128 plus the signal's number.
   *
   * @throws `ERR_INVALID_OPTION`; otherwise as `exec()` for runtime and sidecar
   */
  async kill(signal: SignalName | number = 'SIGTERM'): Promise<boolean> {
    checkArgument('kill()', 'signal', SIGNAL, signal);
    if (this.#holder.over) return false;
    try {
      const number = signalNumber(signal) as number;
      await this.#connection.request('process.signal', { runtime: this.#runtime, pid: this.#pid, signal: number });
      return true;
    } catch (error) {
      if (isColdframeError(error) && error.code === 'ESRCH') return false;
      throw error;
    }
  }
}

interface FollowedProgram {
  streams: readonly [OutputStream, OutputStream];
  outcome: Promise<Outcome>;
  holder: PidHolder;
  /**
   * Settles when the program has ended, also after an abort. `outcome` settles later, when all
   * output has been read.
   */
  ended: Promise<Outcome>;
}

type BeginLive = (...args: [...Parameters<Begin>, onStarted: (pid: Pid) => void]) => ReturnType<Begin>;

// Calls `begin`, which starts a program or attaches to a restored program. Makes streams for the
// output that has no handler.
function follow(connection: SidecarConnection, options: AttachOptions, begin: Begin): FollowedProgram {
  const dropOther = (): void => {
    for (const stream of streams) stream.drop();
  };
  const streams = [new OutputStream(dropOther), new OutputStream(dropOther)] as const;
  const { signal, onStdout = (data) => streams[0].push(data), onStderr = (data) => streams[1].push(data) } = options;
  const ended = deferred<Outcome>();
  ended.promise.catch(() => {});
  const observed: Begin = (...args) => {
    const outcome = begin(...args);
    ended.resolve(outcome);
    return outcome;
  };
  const outcome = Promise.resolve(evaluate(connection, { signal, onStdout, onStderr }, observed));
  const end = (): void => {
    for (const stream of streams) stream.end();
  };
  outcome.then(end, end);
  return { streams, outcome, holder: { over: false }, ended: ended.promise };
}
