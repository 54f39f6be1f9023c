// Runs one guest program for `run`, `exec` and `sh`: connects its streams to the streams of this
// process, passes signals on, and returns its exit code.
//
// SIGINT reaches the program as a signal, so that its handler can clean up. A second signal, or the
// end of a grace period, kills the program. The exit code is 130 in each case.

import { constants } from 'node:os';
import { isColdframeError } from '../errors/error.js';
import { remedyFor } from '../errors/remedies.js';
import type { ExecResult, GuestProcess, NodeRuntime } from '../index.js';
import type { NodeRuntimeOptions } from '../runtime/options.js';
import { failureText } from './failure.js';
import { runtimeOptions } from './runtime-options.js';
import type { Arguments } from './subcommand.js';

/** The handlers of the output, for the options of `spawn()`. */
export interface Output {
  onStdout?: (chunk: Uint8Array) => unknown;
  onStderr?: (chunk: Uint8Array) => unknown;
}

/** Starts the program in its runtime. */
export type Start = (runtime: NodeRuntime, output: Output) => Promise<GuestProcess>;

/** Milliseconds that a program may take to end after a signal. */
const GRACE_MS = 3_000;
/** Milliseconds until the next attempt to write to a program that does not read its stdin. */
const FULL_MS = 5;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Imports the SDK. */
export const loadSdk = (): Promise<typeof import('../index.js')> => import('../index.js');

/** Creates a runtime, runs a program to its end, and returns the exit code. */
export async function runProgram(args: Arguments, start: Start, more: NodeRuntimeOptions = {}): Promise<number> {
  const interruption = new Interruption();
  const options = { ...runtimeOptions(args), ...more };
  const { NodeRuntime } = await loadSdk();
  const runtime = await NodeRuntime.create(options);
  try {
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    const isJson = args.flags.has('json');
    const program = await start(runtime, isJson ? {} : { onStdout: writer(process.stdout), onStderr: writer(process.stderr) });
    interruption.follow(program);
    const input = pump(runtime, program);
    const result = await Promise.race([program.result, input.then(() => program.result)]);
    if (isJson) console.log(JSON.stringify(withRemedy(result), null, 2));
    else if (result.error !== undefined && interruption.exitCode === undefined) {
      const { code, message } = result.error;
      console.error(failureText({ code, message, remedy: remedyFor(code) }));
    }
    return interruption.exitCode ?? result.exitCode;
  } finally {
    await runtime.dispose();
  }
}

function withRemedy(result: ExecResult): Record<string, unknown> {
  const { error } = result;
  const json = result.toJSON();
  return error === undefined ? json : { ...json, error: { ...error.toJSON(), remedy: remedyFor(error.code) } };
}

// Returns a handler that writes output to a stream. If the stream is full, the next chunk waits.
const writer =
  (stream: NodeJS.WriteStream) =>
  (chunk: Uint8Array): Promise<void> | undefined =>
    stream.write(chunk) ? undefined : new Promise((resolve) => stream.once('drain', resolve));

/**
 * Passes this process's stdin to a program. Resolves when stdin or the program has ended.
 *
 * @throws `ENOBUFS` if there is input and `limits.stdinBytes` is 0
 */
async function pump(runtime: NodeRuntime, program: GuestProcess): Promise<void> {
  try {
    // `run -` has read stdin already.
    if (!process.stdin.readableEnded) for await (const chunk of process.stdin) await write(runtime, program, chunk);
    await program.closeStdin();
  } catch (error) {
    // The program has ended or no longer reads, or its runtime was disposed.
    if (!isColdframeError(error) || error.code === 'ENOBUFS') throw error;
  }
}

// Writes a chunk of any length. A write of more than `limits.stdinBytes` would never succeed.
async function write(runtime: NodeRuntime, program: GuestProcess, chunk: Uint8Array): Promise<void> {
  let most = chunk.length;
  for (let offset = 0; offset < chunk.length; ) {
    const piece = chunk.subarray(offset, offset + most);
    try {
      await program.writeStdin(piece);
      offset += piece.length;
    } catch (error) {
      // The program has not read `limits.stdinBytes` of earlier input.
      if (!isColdframeError(error, 'ENOBUFS')) throw error;
      most = (await runtime.getResourceSnapshot()).limits.stdinBytes.max;
      if (most === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, FULL_MS));
    }
  }
}

/** The signals that this process receives. */
class Interruption {
  /** The exit code of a process that the first signal ends. */
  exitCode: number | undefined;
  #signal: (typeof SIGNALS)[number] | undefined;
  #program: GuestProcess | undefined;

  constructor() {
    for (const signal of SIGNALS) process.on(signal, () => this.#receive(signal));
  }

  /** Passes signals on to `program`, also a signal that arrived before. */
  follow(program: GuestProcess): void {
    this.#program = program;
    if (this.#signal !== undefined) this.#end(this.#signal);
  }

  #receive(signal: (typeof SIGNALS)[number]): void {
    const isFirst = this.#signal === undefined;
    this.#signal = signal;
    this.exitCode ??= 128 + constants.signals[signal];
    this.#end(isFirst ? signal : 'SIGKILL');
  }

  #end(signal: 'SIGKILL' | (typeof SIGNALS)[number]): void {
    const program = this.#program;
    if (program === undefined) return;
    const kill = (name: typeof signal): void => void program.kill(name).catch(() => {});
    kill(signal);
    if (signal !== 'SIGKILL') setTimeout(() => kill('SIGKILL'), GRACE_MS).unref();
  }
}
