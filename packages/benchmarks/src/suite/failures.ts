// Describes and counts failures.
//
// A run that was wrong has no latency, so each result has the number of right runs and the reasons
// of the wrong runs. Tokens and numbers in the reasons differ from run to run. The code masks
// tokens and numbers, so that equal failures are counted together.

import { type Statistics, summarize } from '../statistics/statistics.js';
import { now } from '../statistics/timer.js';

/** Returns the message of an error. If the error has a code, the code precedes the message. */
export function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return codeOf(error) === undefined ? error.message : `${codeOf(error)}: ${error.message}`;
}

/** Thrown by a row that cannot be measured. The message is the reason in `skipped`. */
export class RowSkipped extends Error {
  override name = 'RowSkipped';
}

/**
 * Returns the reason why a whole row failed. Unless the row was skipped, the error's code or name
 * precedes the message.
 */
export function rowFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof RowSkipped) return error.message;
  return `${codeOf(error) ?? error.name}: ${error.message}`;
}

const codeOf = (error: Error): string | undefined => ('code' in error && typeof error.code === 'string' ? error.code : undefined);

const KINDS = 10;

const MASKS: readonly (readonly [pattern: RegExp, mask: string])[] = [
  [/"[0-9a-f]{12} \d+\\n"/g, '"…"'],
  [/[0-9a-f]{12}/g, '…'],
  [/snap-[a-z0-9]+/g, 'snap-…'],
  [/\d{4,}/g, '…'],
];

/**
 * Counts failures by their masked reason. All kinds after the first ten are counted together as
 * `others`.
 */
export function countFailures(failures: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const failure of failures) {
    const kind = MASKS.reduce((text, [pattern, mask]) => text.replace(pattern, mask), failure);
    const key = kind in counts || Object.keys(counts).length < KINDS ? kind : 'others';
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

export interface Runs {
  total: number;
  right: number;
  successRate: number;
  failures: Record<string, number>;
}

export function countRuns(total: number, failures: readonly string[], right = total - failures.length): Runs {
  return { total, right, successRate: total === 0 ? 0 : right / total, failures: countFailures(failures) };
}

export interface Tallied extends Runs {
  /** Time of each right run, from the call to the reply. */
  eachMs: Statistics | null;
  samples: number[];
}

/** Times runs. Keeps the times of right runs and the reasons of wrong runs. */
export class Tally {
  readonly #samples: number[] = [];
  readonly #failures: string[] = [];

  /**
   * Times `work`, which resolves with the problem of its result, or with `undefined` if the result
   * is right.
   */
  async time(work: () => Promise<string | undefined>): Promise<void> {
    const from = now();
    const problem = await work().catch(reason);
    if (problem === undefined) this.#samples.push(now() - from);
    else this.#failures.push(problem);
  }

  end(): Tallied {
    const total = this.#samples.length + this.#failures.length;
    return { ...countRuns(total, this.#failures), eachMs: summarize(this.#samples), samples: this.#samples };
  }
}
