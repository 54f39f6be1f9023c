// Declares the type of an operation of the matrix, and its two kinds.
//
// The app makes a call of the public API, or a program in the guest repeats a call. A call counts
// only if its result is right. A new operation needs an entry in a file of `operations/`.

import { now } from '../statistics/timer.js';
import { reason } from '../suite/failures.js';
import type { Lane, Place } from './lane.js';

export const GROUPS = ['programs', 'network', "the app's files", "the guest's calls", "the guest's files"] as const;
export type Group = (typeof GROUPS)[number];

/** Calls that were made one after the other for some milliseconds. */
export interface Slice {
  /** Milliseconds of each right call, or of each series of right calls divided by its length. */
  samples: number[];
  /** The reason of each wrong call. */
  failures: string[];
}

export interface OpenedOperation {
  /** Makes calls for `sliceMs`, and at least one call. */
  sample(sliceMs: number): Promise<Slice>;
  close?(): Promise<void>;
}

export interface Operation {
  name: string;
  group: Group;
  /** The file systems that the operation uses. */
  places: readonly Place[];
  /**
   * Prepares the calls of a lane. Resolves with `undefined` if the lane's side has no such call.
   */
  open(lane: Lane): Promise<OpenedOperation | undefined>;
}

/** The most samples of a slice. A fast operation would otherwise dominate the size of the JSON. */
const MOST_SAMPLES = 60;

/** A call of the app. */
export interface AppCall {
  /** Makes one call. Resolves with its milliseconds. @throws when the result is wrong. */
  once(): Promise<number>;
  close?(): Promise<void>;
}

export const appOperation = (
  name: string,
  group: Group,
  open: (lane: Lane) => Promise<AppCall | undefined>,
  places: readonly Place[] = [],
): Operation => ({
  name,
  group,
  places,
  open: async (lane) => {
    const call = await open(lane);
    return call && { sample: (sliceMs) => repeatCall(call.once, sliceMs), ...(call.close && { close: call.close }) };
  },
});

export async function repeatCall(once: () => Promise<number>, sliceMs: number): Promise<Slice> {
  const slice: Slice = { samples: [], failures: [] };
  const end = now() + sliceMs;
  do {
    try {
      slice.samples.push(await once());
    } catch (error) {
      slice.failures.push(reason(error));
    }
  } while (now() < end && slice.samples.length + slice.failures.length < MOST_SAMPLES);
  return slice;
}

/** Times a call. @throws when `check` returns the problem of the result. */
export async function timeCall<T>(call: () => Promise<T>, check: (result: T) => string | undefined): Promise<number> {
  const from = now();
  const result = await call();
  const elapsed = now() - from;
  const problem = check(result);
  if (problem !== undefined) throw new Error(problem);
  return elapsed;
}

/** Returns a check for a result that must be equal to `expected`. */
export const equals =
  (expected: unknown) =>
  (result: unknown): string | undefined =>
    result === expected
      ? undefined
      : `the result was ${JSON.stringify(result)?.slice(0, 80)} instead of ${JSON.stringify(expected)}`;

/**
 * A call that a program in the guest repeats. The fields other than `waits` are JavaScript text.
 */
export interface GuestCall {
  /** Statements before the calls. */
  setup?: string;
  /** An expression. With `waits`, its value is a promise. */
  operation: string;
  waits?: boolean;
  /** An expression over `result`, the value of the last call. */
  check: string;
  expected: string;
  /** Statements after the calls. */
  teardown?: string;
}

/** The output of a program of a guest's call. */
interface GuestOutput {
  samples: number[];
  check: string;
}

export const guestOperation = (
  name: string,
  group: Group,
  callIn: (lane: Pick<Lane, 'folder'>) => GuestCall,
  places: readonly Place[] = [],
): Operation => ({
  name,
  group,
  places,
  open: async (lane) => {
    const call = callIn(lane);
    return {
      sample: async (sliceMs) => {
        try {
          const { samples, check } = (await lane.perform(programOf(call, sliceMs))) as GuestOutput;
          if (check !== call.expected) throw new Error(`the check was ${check} instead of ${call.expected}`);
          return { samples, failures: [] };
        } catch (error) {
          return { samples: [], failures: [reason(error)] };
        }
      },
    };
  },
});

/** A series of calls has at least this duration, so that the clock's resolution suffices. */
const SERIES_MS = 0.1;
const LONGEST_SERIES = 4096;

/**
 * Returns the body of a program. The program finds the length of a series, and then times series
 * until the slice is over.
 */
export function programOf({ setup = '', operation, waits = false, check, teardown = '' }: GuestCall, sliceMs: number): string {
  return `
const end = performance.now() + ${sliceMs};
${setup}
let result;
const series = ${waits ? 'async ' : ''}(count) => {
  const from = performance.now();
  for (let i = 0; i < count; i++) result = ${waits ? 'await ' : ''}(${operation});
  return performance.now() - from;
};
let count = 1;
let took = await series(count);
while (took < ${SERIES_MS} && count < ${LONGEST_SERIES}) took = await series((count *= 4));
const samples = [took / count];
while (performance.now() < end && samples.length < ${MOST_SAMPLES}) samples.push((await series(count)) / count);
const check = String(${check});
${teardown}
return { samples, check };
`;
}
