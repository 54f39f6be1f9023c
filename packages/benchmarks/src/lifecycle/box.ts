// A runtime that can be saved, as the lifecycle benchmark sees it.
//
// The operations know only these interfaces: the tests drive them with boxes that forget, answer wrongly, fail or hang. Next: `adapter.ts`,
// the real ones.

import type { ExecResult } from '../scenarios/adapter.js';

/** What a snapshot left behind, to make boxes from. */
export interface Saved {
  readonly id: string;
  /** What it holds beyond the installation's image. */
  readonly bytes: number;
}

/** A program in a box that looks at the clock every millisecond. */
export interface Ticker {
  /** Forgets what it has seen so far. */
  begin(): Promise<void>;
  /** The longest time between two looks since then, in ms. */
  worst(): Promise<number>;
}

export interface Box {
  /** Evaluates in its live runner; in a copy that is the runner which was copied. */
  ask(code: string): Promise<ExecResult>;
  /** Runs a fresh program in it. */
  exec(code: string): Promise<ExecResult>;
  snapshot(where: 'memory' | 'disk'): Promise<Saved>;
  rollback(saved: Saved): Promise<void>;
  /** All, or an error. */
  clone(count: number): Promise<Box[]>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  startTicker(): Promise<Ticker>;
  dispose(): Promise<void>;
}

export interface BoxOptions {
  /** Whether a runner lives in it from the start. */
  runner: boolean;
  /** Room for so much more than programs have by default. */
  megabytes?: number;
  /** The same for files. */
  fileMegabytes?: number;
  files?: Readonly<Record<string, string>>;
}

/** A sidecar process. */
export interface Host {
  readonly pid: number;
  create(options: BoxOptions): Promise<Box>;
  /** From a snapshot of this host, or by the name of one on disk. */
  restore(saved: Saved | string): Promise<Box>;
  /** Deletes a snapshot, wherever it is stored. */
  remove(saved: Saved): Promise<void>;
  /** What it says it holds. */
  held(): Promise<{ runtimes: number; processes: number }>;
  /** kill -9, by its number; resolves when it is gone. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a sidecar that keeps snapshots in `directory`. */
export type OpenHost = (directory: string) => Promise<Host>;

/** What went wrong, with its code. */
export const reason = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? `${error.code}: ` : '';
  return `${code}${error.message}`;
};
