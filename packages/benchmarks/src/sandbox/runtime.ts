// The runtimes and sidecars that the lifecycle and density benchmarks measure.
//
// The benchmarks use only the interfaces of this file. Tests implement the interfaces with
// runtimes that lose their state, reply wrongly, fail or hang. Next: `sdk.ts`, the implementation
// with the SDK.

import { type ExecResult, problemOf, type Snippet } from './snippet.js';

export interface MeasuredSnapshot {
  readonly id: string;
  /** The size of the snapshot in bytes, without the image of the installation. */
  readonly bytes: number;
}

/** A program in a runtime that reads the clock every millisecond. */
export interface Ticker {
  /** Starts a new span, over which `worst()` reports. */
  begin(): Promise<void>;
  /** Returns the longest time between two readings of the span, in milliseconds. */
  worst(): Promise<number>;
}

export interface MeasuredRuntime {
  /** Evaluates code in the resident runner of the runtime. */
  evaluate(code: string): Promise<ExecResult>;
  /** Runs a fresh program. */
  exec(code: string): Promise<ExecResult>;
  snapshot(store: 'memory' | 'disk'): Promise<MeasuredSnapshot>;
  rollback(snapshot: MeasuredSnapshot): Promise<void>;
  clone(count: number): Promise<MeasuredRuntime[]>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  startTicker(): Promise<Ticker>;
  dispose(): Promise<void>;
}

export interface RuntimeOptions {
  /** Whether the runtime has a resident runner from the start. */
  runner: boolean;
  /** Memory that the guest needs beyond the memory of an ordinary program. */
  megabytes?: number;
  /** File space that the guest needs beyond the space of an ordinary program. */
  fileMegabytes?: number;
  files?: Readonly<Record<string, string>>;
}

export interface MeasuredSidecar {
  readonly pid: number;
  create(options: RuntimeOptions): Promise<MeasuredRuntime>;
  /** Restores a snapshot of this sidecar, or a snapshot on disk by its id. */
  restore(snapshot: MeasuredSnapshot | string): Promise<MeasuredRuntime>;
  /** Deletes a snapshot from its store. */
  deleteSnapshot(snapshot: MeasuredSnapshot): Promise<void>;
  /** Returns the numbers of runtimes and processes that the sidecar reports. */
  held(): Promise<{ runtimes: number; processes: number }>;
  /** Kills the process with SIGKILL. Resolves when the process has ended. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a sidecar that stores snapshots in `directory`. */
export type OpenSidecar = (directory: string) => Promise<MeasuredSidecar>;

/** Evaluates a snippet. Resolves with the problem of its output, or `undefined`. */
export const evaluationProblem = async (runtime: MeasuredRuntime, snippet: Snippet): Promise<string | undefined> =>
  problemOf(snippet, await runtime.evaluate(snippet.code));

/** Evaluates a snippet. @throws when the output is wrong. */
export async function evaluateRight(runtime: MeasuredRuntime, snippet: Snippet): Promise<void> {
  const problem = await evaluationProblem(runtime, snippet);
  if (problem !== undefined) throw new Error(problem);
}
