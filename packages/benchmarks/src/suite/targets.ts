// Compares a run with the promises of `docs/specification.md`. The result of a target is `met`,
// `missed` or `unmeasured`.
//
// A target is declared beside the rows that measure the promise, with the promise's number and
// bound. A test compares the bounds with the specification. A value that could not be measured is
// `unmeasured`, which does not count as met.

import type { Measured } from './run.js';

export type Unit = 'ms' | 'µs' | 'starts/s' | 'KiB' | 'MB' | '×' | '%' | '';

type Bound = { readonly atMost: number; readonly atLeast?: never } | { readonly atLeast: number; readonly atMost?: never };

export type Target<Run> = Bound & {
  /**
   * The number of the promise in `docs/specification.md`. Several targets can belong to one
   * promise.
   */
  readonly promise: string;
  /** The measured quantity. */
  readonly what: string;
  readonly unit: Unit;
  measured(run: Measured<Run>): number | undefined;
  /** Returns a name of the quantity that depends on the run. @default `what` */
  nameIn?(run: Measured<Run>): string;
};

export type Verdict = 'met' | 'missed' | 'unmeasured';

/** A target with the measured value and the result, in the form of the JSON. */
export interface TargetResult {
  /** The promise's row in `docs/specification.md`. */
  id: string;
  what: string;
  unit: Unit;
  bound: number;
  /**
   * Whether the value must be at least the bound. Otherwise the value must be at most the bound.
   */
  atLeast: boolean;
  measured: number | null;
  verdict: Verdict;
}

/** Returns the result of comparing one value with its bound, or `null` without a bound. */
export function judge(measured: number | undefined, bound: number | undefined, atLeast = false): Verdict | null {
  if (bound === undefined) return null;
  return judgeBy(measured, bound, atLeast);
}

function judgeBy(measured: number | undefined, bound: number, atLeast: boolean): Verdict {
  if (measured === undefined || Number.isNaN(measured)) return 'unmeasured';
  return (atLeast ? measured >= bound : measured <= bound) ? 'met' : 'missed';
}

/** Returns the results of all targets of a benchmark, in the order of the promises. */
export const judgeTargets = <Run>(benchmark: HasTargets<Run>, run: Measured<Run>): TargetResult[] =>
  targetsOf(benchmark).map((target) => {
    const { promise: id, what, unit, atMost, atLeast } = target;
    const bound = atMost ?? atLeast;
    const measured = target.measured(run);
    const verdict = judgeBy(measured, bound, atLeast !== undefined);
    return {
      id,
      what: target.nameIn?.(run) ?? what,
      unit,
      bound,
      atLeast: atLeast !== undefined,
      measured: verdict === 'unmeasured' || measured === undefined ? null : measured,
      verdict,
    };
  });

interface HasTargets<Run> {
  readonly sections: readonly { readonly targets?: readonly Target<Run>[] }[];
  readonly targets?: readonly Target<Run>[];
}

/**
 * Returns the targets of a benchmark by promise: `S2` before `S10`, letters in order of
 * declaration.
 */
export function targetsOf<Run>({ sections, targets = [] }: HasTargets<Run>): Target<Run>[] {
  const declared = [...sections.flatMap((section) => section.targets ?? []), ...targets];
  const letters = declared.map(({ promise }) => promise.charAt(0));
  const rank = ({ promise }: Target<Run>) => letters.indexOf(promise.charAt(0)) * 1_000 + Number(promise.slice(1));
  return declared.sort((a, b) => rank(a) - rank(b));
}

/** Returns the lowest share in percent, for a target of 100 %, or `undefined` without shares. */
export const worstPercentage = (shares: readonly number[]): number | undefined =>
  shares.length === 0 ? undefined : 100 * Math.min(...shares);
