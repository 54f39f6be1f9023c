// Runs many pieces of work, a limited number at a time or all at once.
//
// `runConcurrently` keeps a fixed number of pieces in flight until a deadline. `startTogether`
// starts all pieces at once and records when each piece reaches a named mark.

import { now } from '../statistics/timer.js';
import { reason } from './failures.js';

export interface Concurrency {
  count: number;
  /** The largest number of pieces in flight at a time. */
  width: number;
  /** Time on the clock of `now()` after which no further piece begins. @default no deadline */
  deadline?: number;
  /** The number of pieces that begin even after the deadline. @default 0 */
  atLeast?: number;
}

/**
 * Calls `work` with every index below `count`. Resolves with the number of indexes that did not
 * begin. `work` handles its own failures: a rejection rejects the whole call.
 */
export async function runConcurrently(
  { count, width, deadline, atLeast = 0 }: Concurrency,
  work: (index: number) => Promise<void>,
): Promise<number> {
  let begun = 0;
  const mayBegin = () => deadline === undefined || begun < atLeast || now() < deadline;
  const lane = async () => {
    while (begun < count && mayBegin()) await work(begun++);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, lane));
  return count - begun;
}

/** The times at which the pieces reached one mark. */
export interface Timing {
  /** Time of the last piece. A piece that failed counts with the time of its failure. */
  wallMs: number;
  /** Times by index. `undefined` for a piece that did not reach the mark. */
  eachMs: (number | undefined)[];
}

export type Settled<T> = { value: T } | { error: string };

export interface Together<T> {
  timings: Record<string, Timing>;
  items: Settled<T>[];
}

/** Records that a piece of work has reached a mark. */
export type Mark = (name: string) => void;

/**
 * Starts `count` pieces at once. Times count from the common start. The wall time includes failed
 * pieces, because a failure must not make a row look faster.
 */
export async function startTogether<T>(count: number, work: (index: number, mark: Mark) => Promise<T>): Promise<Together<T>> {
  const marks: Record<string, (number | undefined)[]> = {};
  const failedAt: number[] = [];
  const startedAt = now();
  const items = await Promise.all(
    Array.from({ length: count }, async (_, index): Promise<Settled<T>> => {
      const mark: Mark = (name) => {
        const at = now() - startedAt;
        marks[name] ??= Array.from({ length: count }, () => undefined);
        marks[name][index] = at;
      };
      try {
        return { value: await work(index, mark) };
      } catch (error) {
        failedAt.push(now() - startedAt);
        return { error: reason(error) };
      }
    }),
  );
  const timings = Object.entries(marks).map(([name, eachMs]) => {
    const reached = eachMs.filter((value) => value !== undefined);
    return [name, { wallMs: Math.max(...reached, ...failedAt), eachMs }] as const;
  });
  return { timings: Object.fromEntries(timings), items };
}

export const isValue = <T>(item: Settled<T> | undefined): item is { value: T } => item !== undefined && 'value' in item;
