// The shapes that the results of all benchmarks share: recorded failures, skipped rows, and the
// floors beside the results.

import type { Floors } from '../floors/floor.js';

/** The record of a failed row in the JSON of a section that records failures. */
export interface RecordedFailure {
  error: string;
}

/** The result of a row, or the reason why the row has no result. */
export type Recorded<Result> = Result | RecordedFailure;

/** Returns whether a row of a section that records failures has failed. */
export const isFailure = <Result>(result: Recorded<Result> | null | undefined): result is RecordedFailure =>
  typeof result === 'object' && result !== null && 'error' in result;

/** Returns the results in a list, without the recorded failures. */
export const resultsIn = <Result>(list: readonly Recorded<Result>[]): Result[] =>
  list.filter((result): result is Result => !isFailure(result));

/** A row without a result, with the fields that identify the row. */
export type Skipped = Readonly<Record<string, string | number>>;

export type Measured<Run> = Run & {
  floors: Floors;
  skipped: readonly (Skipped & { reason: string })[];
};
