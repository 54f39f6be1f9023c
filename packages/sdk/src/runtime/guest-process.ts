// A program that runs: its number, its streams, its end. The runtime makes one with `spawn()` or `spawnCommand()`.

import { constants } from 'node:os';
import type { ProcessStart } from '../channel/messages.js';
import type { Outcome } from '../channel/outcome.js';
import type { SidecarConnection } from '../channel/sidecar-connection.js';
import { deferred } from '../deferred.js';
import { isColdframeError } from '../errors/error.js';
import { invalidOption, noReader } from '../errors/make.js';
import { show } from '../options/show.js';
import type { AttachOptions } from '../options/snapshots.js';
import type { CommandOptions, SignalName } from '../options/types.js';
import { type Begin, evaluate } from './evaluation.js';
import type { Holder, Numbers } from './numbers.js';
import { OutputStream } from './output-stream.js';
import { ExecResult } from './result.js';

const NOTHING = new Uint8Array(0);
const SIGNALS: Readonly<Record<string, number | undefined>> = constants.signals;

/** A program in a runtime, from its start on. */
export class GuestProcess {
  /** Its number in the runtime. */
  readonly pid: number;
  /**
   * What it writes to stdout, when there is no `onStdout`. Up to 256 KiB are held for the reader, then the program waits. It is let go when only
   * stderr is read, or when `wait()` or `result` is used.
   */
  readonly stdout: AsyncIterable<Uint8Array>;
  /** The same for stderr. */
  readonly stderr: AsyncIterable<Uint8Array>;
  readonly #connection: SidecarConnection;
  readonly #runtime: number;
  readonly #holder: Holder;
  readonly #streams: readonly OutputStream[];
  readonly #result: Promise<ExecResult>;
  #exitCode: number | undefined;

  private constructor({ connection, runtime }: Home, pid: number, { streams, outcome, holder }: Followed) {
    this.pid = pid;
    [this.stdout, this.stderr] = streams;
    this.#connection = connection;
    this.#runtime = runtime;
    this.#holder = holder;
    this.#streams = streams;
    this.#result = outcome.then((ended) => {
      const result = new ExecResult(ended);
      this.#exitCode = result.exitCode;
      return result;
    });
    // Who never asks need not handle a failure.
    this.#result.catch(() => {});
  }

  /** @internal */
  static start(home: Home, program: ProcessStart, options: CommandOptions): Promise<GuestProcess> {
    return GuestProcess.#begin(home, options, (id, stream, onOutput, onStarted) =>
      home.connection.start(id, { ...program, stream, live: true }, onOutput, onStarted),
    );
  }

  /** @internal A program that came with a snapshot. */
  static attach(home: Home, pid: number, options: AttachOptions): Promise<GuestProcess> {
    return GuestProcess.#begin(home, options, (id, stream, onOutput, onStarted) =>
      home.connection.snapshots.attach(id, { runtime: home.runtime, pid, stream }, onOutput, onStarted),
    );
  }

  static async #begin(home: Home, options: AttachOptions, begin: BeginLive): Promise<GuestProcess> {
    const begun = deferred<number>();
    const followed = follow(home.connection, options, (id, stream, onOutput) => begin(id, stream, onOutput, begun.resolve));
    followed.outcome.catch(begun.reject);
    const pid = await begun.promise;
    const { holder, ended } = followed;
    home.numbers.take(pid, holder);
    // When the connection fails instead, that is what its handle says.
    ended.then(
      () => home.numbers.end(pid, holder),
      () => {},
    );
    return new GuestProcess(home, pid, followed);
  }

  /** How it ended, all of it: output as far as it was captured (`limits.outputBytes`), exit code, `error`. */
  get result(): Promise<ExecResult> {
    for (const stream of this.#streams) stream.drop();
    return this.#result;
  }

  /** Its exit code, once it has ended. */
  get exitCode(): number | undefined {
    return this.#exitCode;
  }

  /**
   * Waits for its end, and gives its exit code.
   *
   * @throws the signal's reason, what an output handler threw, `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`
   */
  async wait(): Promise<number> {
    return (await this.result).exitCode;
  }

  /**
   * More for its stdin. What it has not read yet is kept for it, 16 MiB at most.
   *
   * @throws `EPIPE` when it reads no more, `ENOBUFS` when too much is waiting; what `exec()` throws about runtime and sidecar
   */
  async writeStdin(data: string | Uint8Array): Promise<void> {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    if (!(bytes instanceof Uint8Array)) {
      throw invalidOption('writeStdin()', { option: 'data', expected: 'text or a Uint8Array', received: show(data) });
    }
    if (this.#holder.over) throw noReader(this.pid);
    await this.#connection.writeProcess({ runtime: this.#runtime, pid: this.pid, data: bytes });
  }

  /** Ends its stdin; a program that reads no more is not disturbed. */
  async closeStdin(): Promise<void> {
    if (this.#holder.over) return;
    try {
      await this.#connection.writeProcess({ runtime: this.#runtime, pid: this.pid, data: NOTHING, end: true });
    } catch (error) {
      if (!isColdframeError(error) || error.code !== 'EPIPE') throw error;
    }
  }

  /**
   * Sends it a signal, by name or number; whether it was there to get it. What it does not listen to ends it as on Linux, with exit code 128 and
   * the signal's number.
   *
   * @throws `ERR_INVALID_OPTION`; what `exec()` throws about runtime and sidecar
   */
  async kill(signal: SignalName | number = 'SIGTERM'): Promise<boolean> {
    const number = typeof signal === 'number' ? signal : SIGNALS[signal];
    if (number === undefined || !Number.isInteger(number) || number < 0 || number > 64) {
      throw invalidOption('kill()', { option: 'signal', expected: "a signal such as 'SIGTERM'", received: show(signal) });
    }
    if (this.#holder.over) return false;
    try {
      await this.#connection.signalProcess({ runtime: this.#runtime, pid: this.pid, signal: number });
      return true;
    } catch (error) {
      if (isColdframeError(error) && error.code === 'ESRCH') return false;
      throw error;
    }
  }
}

/** Where a program runs. */
export interface Home {
  connection: SidecarConnection;
  runtime: number;
  numbers: Numbers;
}

// A program that is being seen through.
interface Followed {
  streams: readonly [OutputStream, OutputStream];
  outcome: Promise<Outcome>;
  holder: Holder;
  // Sooner than `outcome`, which waits until all output has been read; and what became of it also when the caller has given it up.
  ended: Promise<unknown>;
}

type BeginLive = (...args: [...Parameters<Begin>, onStarted: (pid: number) => void]) => ReturnType<Begin>;

// Sees a program through, with streams for the output that has no handler.
function follow(connection: SidecarConnection, options: AttachOptions, begin: Begin): Followed {
  const dropOther = (): void => {
    for (const stream of streams) stream.drop();
  };
  const streams = [new OutputStream(dropOther), new OutputStream(dropOther)] as const;
  const { signal, onStdout = (data) => streams[0].push(data), onStderr = (data) => streams[1].push(data) } = options;
  const ended = deferred<unknown>();
  ended.promise.catch(() => {});
  const whole: Begin = (...args) => {
    const coming = begin(...args);
    ended.resolve(coming);
    return coming;
  };
  const outcome = Promise.resolve(evaluate(connection, { signal, onStdout, onStderr }, whole));
  const end = (): void => {
    for (const stream of streams) stream.end();
  };
  outcome.then(end, end);
  return { streams, outcome, holder: { over: false }, ended: ended.promise };
}
