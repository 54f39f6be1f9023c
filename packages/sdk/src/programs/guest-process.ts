// The public handle of a live program: its pid, its streams, its end.

import { callListener } from '../call-listener.js';
import type { LossListener, StartListener } from '../channel/channel.js';
import type { Outcome } from '../channel/outcome.js';
import type { SidecarConnection } from '../channel/sidecar-connection.js';
import { type Deferred, deferred } from '../deferred.js';
import { isColdframeError } from '../errors/error.js';
import { detached, noReader } from '../errors/make.js';
import { checkArgument } from '../options/check.js';
import { type AttachOptions, type CommandOptions, type OutputHandler, type SignalName, STDIN_DATA } from '../options/programs.js';
import { TERMINAL_SIDE } from '../options/terminals.js';
import type { Pid, ProcessStart, RequestId, RuntimeId } from '../protocol/generated/messages.js';
import { type Begin, evaluate } from './evaluation.js';
import { explained } from './limit-line.js';
import { OutputStream } from './output-stream.js';
import type { PidHolder, PidRegistry } from './pid-registry.js';
import { endOf, type ProgramEnd, type ProgramEnds } from './program-ends.js';
import { ExecResult, finished } from './result.js';
import { SIGNAL, signalNumber } from './signals.js';

const NOTHING = new Uint8Array(0);

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
  readonly #followed: FollowedProgram;
  #end: ExecResult | undefined;

  private constructor({ connection, runtime }: ProcessContext, pid: Pid, followed: FollowedProgram, options: CommandOptions) {
    const { streams, outcome, holder, ended } = followed;
    this.pid = pid;
    this.#pid = pid;
    [this.stdout, this.stderr] = streams;
    this.#connection = connection;
    this.#runtime = runtime;
    this.#holder = holder;
    this.#streams = streams;
    this.#options = options;
    this.#followed = followed;
    this.#ended = ended.then((early) => endOf(early, pid));
    this.#ended.catch(() => {});
    const complete = outcome.then((complete) => {
      this.#end = new ExecResult(explained(complete, options));
      return this.#end;
    });
    this.#result = Promise.race([complete, followed.detached.promise]);
    // If the app never reads the result, a rejection needs no handler.
    this.#result.catch(() => {});
  }

  /** @internal Starts a program. */
  static start(context: ProcessContext, program: ProcessStart, options: CommandOptions): Promise<GuestProcess> {
    return GuestProcess.#begin(context, options, (id, stream, onOutput, _, onStarted) =>
      context.connection.start(id, { ...program, stream, live: true }, onOutput, (pid) => onStarted(pid)),
    );
  }

  /** @internal Attaches to a program. */
  static attach(context: ProcessContext, pid: Pid, options: AttachOptions): Promise<GuestProcess> {
    return GuestProcess.#begin(context, options, (id, stream, onOutput, allowEarlier, onStarted, onLost) => {
      const begun: StartListener = (started, earlier, isListener) => {
        allowEarlier(earlier);
        onStarted(started, isListener);
      };
      return context.connection.attach(id, { runtime: context.runtime, pid, stream }, onOutput, begun, onLost);
    });
  }

  // Discards the output that has no reader, because the program's writes wait for a reader.
  #complete(): Promise<ExecResult> {
    for (const stream of this.#streams) stream.drop();
    return this.#result;
  }

  static async #begin(context: ProcessContext, options: CommandOptions, begin: BeginLive): Promise<GuestProcess> {
    const started = deferred<{ pid: Pid; isListener: boolean }>();
    const onStarted = (pid: Pid, isListener = false): void => started.resolve({ pid, isListener });
    const followed = follow(context.connection, options, onStarted, begin);
    followed.outcome.catch(started.reject);
    const { pid, isListener } = await started.promise;
    // All handles of a program share one holder.
    if (isListener) followed.listen(context.pids.share(pid));
    else context.pids.assign(pid, followed.holder);
    const { holder, ended } = followed;
    // If `ended` rejects, the handle was detached, or the connection has failed, and calls through
    // the handle report that failure.
    ended.then(
      (outcome) => {
        context.pids.end(pid, holder);
        if (!isListener) context.ends.ended(outcome, pid);
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
    return this.#end?.exitCode;
  }

  /** The signal that ended the program, `null` if it exited, `undefined` while it runs. */
  get signal(): SignalName | null | undefined {
    return this.#end?.signal;
  }

  /**
   * The number of bytes of output that the handle has lost. Only a handle of `attach()` loses
   * output: the program does not wait for its readers.
   */
  get lostBytes(): number {
    return this.#followed.lostBytes;
  }

  /**
   * Detaches the handle from the program, which continues. The handle receives no more output, and
   * `wait()` and `result` reject with `ERR_DETACHED`. Input and signals still reach the program.
   */
  detach(): void {
    this.#followed.detach(detached(this.pid));
  }

  /**
   * @internal The end of the program. Unlike `result`, this promise waits for no reader of the
   * output and discards no output.
   */
  get ended(): Promise<ProgramEnd> {
    return this.#ended;
  }

  /** Returns the pid, the exit code and the signal, for `JSON.stringify()`. */
  toJSON(): { pid: number; exitCode: number | undefined; signal: SignalName | null | undefined } {
    return { pid: this.pid, exitCode: this.exitCode, signal: this.signal };
  }

  /**
   * Waits until the program has ended and returns its exit code.
   *
   * @throws the signal's reason, the error of an output handler, `ERR_DETACHED`,
   * `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`
   */
  async wait(): Promise<number> {
    return (await this.#complete()).exitCode;
  }

  /**
   * Writes to the program's stdin. At most `limits.stdinBytes` (16 MiB) of unread data are stored.
   *
   * @throws `EPIPE` if the program no longer reads, `ENOBUFS` if more data would be unread, `EBADF`
   * without an open stdin; otherwise as `kill()`
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

  /**
   * Sets the size of the terminal that the program was opened on, in characters.
   *
   * @throws `ERR_INVALID_OPTION`, `ENOTTY` without a terminal, `ESRCH` after the end of the
   * program; otherwise as `exec()` for runtime and sidecar
   */
  async resize(cols: number, rows: number): Promise<void> {
    checkArgument('resize()', 'cols', TERMINAL_SIDE, cols);
    checkArgument('resize()', 'rows', TERMINAL_SIDE, rows);
    await this.#connection.request('process.resize', { runtime: this.#runtime, pid: this.#pid, size: { columns: cols, rows } });
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

type BeginLive = (
  ...args: [...Parameters<Begin>, onStarted: (pid: Pid, isListener?: boolean) => void, onLost: LossListener]
) => ReturnType<Begin>;

/** A program whose output and end a handle receives. */
interface FollowedProgram {
  readonly streams: readonly [OutputStream, OutputStream];
  readonly outcome: Promise<Outcome>;
  holder: PidHolder;
  /**
   * Settles when the program has ended, also after an abort. `outcome` settles later, when all
   * output has been read.
   */
  readonly ended: Promise<Outcome>;
  /** Rejects when the handle is detached. */
  readonly detached: Deferred<never>;
  lostBytes: number;
  /** Marks the handle as a listener of a program with another handle. */
  listen(holder: PidHolder): void;
  detach(reason: Error): void;
}

// Calls `begin`, which starts a program or attaches to a program. Makes streams for the output that
// has no handler.
function follow(
  connection: SidecarConnection,
  options: AttachOptions,
  onStarted: (pid: Pid, isListener?: boolean) => void,
  begin: BeginLive,
): FollowedProgram {
  let [isListener, isDetached] = [false, false];
  let request: RequestId | undefined;
  const dropAll = (): void => {
    for (const stream of streams) stream.drop();
  };
  const streams = [new OutputStream(dropAll), new OutputStream(dropAll)] as const;
  const { signal, onStdout = (data) => streams[0].push(data), onStderr = (data) => streams[1].push(data) } = options;
  const unlessDetached =
    (handler: OutputHandler): OutputHandler =>
    (data) =>
      isDetached ? undefined : handler(data);
  const ended = deferred<Outcome>();
  ended.promise.catch(() => {});
  const detachment = deferred<never>();
  detachment.promise.catch(() => {});
  const onLost: LossListener = (bytes) => {
    followed.lostBytes += bytes;
    const { onLost: listener } = options;
    if (listener !== undefined && !isDetached) callListener(() => listener(bytes));
  };
  const observed: Begin = (id, ...args) => {
    request = id;
    const outcome = begin(id, ...args, onStarted, onLost);
    ended.resolve(outcome);
    return outcome;
  };
  const handlers = { signal, onStdout: unlessDetached(onStdout), onStderr: unlessDetached(onStderr) };
  const followed: FollowedProgram = {
    streams,
    outcome: Promise.resolve(evaluate(connection, handlers, observed)),
    holder: { over: false },
    ended: ended.promise,
    detached: detachment,
    lostBytes: 0,
    listen(holder) {
      isListener = true;
      followed.holder = holder;
    },
    detach(reason) {
      if (isDetached) return;
      isDetached = true;
      dropAll();
      detachment.reject(reason);
      // The request that started the program stays pending until the end of the program.
      if (isListener && request !== undefined) connection.cancel(request);
    },
  };
  const end = (): void => {
    for (const stream of streams) stream.end();
  };
  followed.outcome.then(end, end);
  return followed;
}
