// Ends a wait for a listener when the program that was going to listen has ended.

import { programExited } from '../errors/make.js';
import type { AwaitedProgram, ListenerQuery } from '../options/network.js';
import type { RuntimeAccess } from '../sidecar/runtime-access.js';

/** The end of a program. */
export interface ProgramEnd {
  readonly exitCode: number;
  readonly stderr: string;
  readonly pid?: number;
  readonly signal?: string;
  readonly failure?: Error & { readonly code: string };
}

/** The failures of the programs that the app started in one runtime. */
export interface ProgramFailures {
  /** The number of programs that the app has started. */
  readonly starts: number;
  /** The number of programs that have failed. */
  readonly failures: number;
  /**
   * Returns the latest failure, unless the app has started a program since. A program without a
   * handle counts only if it failed after the first `failures` failures.
   */
  latestFailure(failures: number): ProgramEnd | undefined;
  /** Calls `listener` for every later failure. Returns a function that unsubscribes. */
  onFailure(listener: (end: ProgramEnd) => void): () => void;
}

/** Calls `end` when the wait is to end. Returns a function that removes the registration. */
export type WaitEnd = (end: (error: Error) => void) => () => void;

/** A call of `waitForListener()`. */
export interface WaitCall {
  readonly query: ListenerQuery;
  readonly program: AwaitedProgram | undefined;
  /** The number of programs that had failed when the call was made. */
  readonly earlierFailures: number;
}

/**
 * Returns the end of a wait for a listener of `program`. Without `program`, the wait ends when a
 * program fails and the runtime has no other process.
 */
export function endOfWait({ connection, runtime }: RuntimeAccess, failures: ProgramFailures, call: WaitCall): WaitEnd {
  const { query, program, earlierFailures } = call;
  // The reply arrives after the reply about a present listener, because the wait was requested
  // earlier.
  const processes = async (): Promise<number> => (await connection.request('process.list', { runtime })).pids.length;
  return (end) => {
    let isOver = false;
    const check = async (exit: ProgramEnd): Promise<void> => {
      const { starts } = failures;
      const left = await processes();
      const isLast = left === 0 && failures.starts === starts;
      if (!isOver && (isLast || program !== undefined)) end(errorOf(exit, query));
    };
    // If the request fails, the runtime or the sidecar has ended, which ends the wait too.
    const onExit = (exit: ProgramEnd): void => void check(exit).catch(() => {});
    let unsubscribe = (): void => {};
    if (program !== undefined) {
      (program as unknown as { ended: Promise<ProgramEnd> }).ended.then(onExit, () => {});
    } else {
      const latest = failures.latestFailure(earlierFailures);
      if (latest !== undefined) onExit(latest);
      unsubscribe = failures.onFailure(onExit);
    }
    return () => {
      isOver = true;
      unsubscribe();
    };
  };
}

function errorOf({ failure, ...exit }: ProgramEnd, query: ListenerQuery): Error {
  return programExited({ ...exit, ...(failure && { reason: failure.code }), ...query }, failure);
}
