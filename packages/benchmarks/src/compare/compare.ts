// Compares two runs of one benchmark figure by figure: ratio of the medians B / A with its noise.
//
// "same" means that the interval around the ratio holds 1, or that the difference is under 5 %, which is what two runs on an
// unchanged machine differ by. The floors are compared too: if they moved, the machine did.

import { UsageError } from '../config/usage-error.js';
import { type Ratio, ratioOfMedians } from '../stats/noise.js';
import { type ComparableReport, type Figure, figuresOf } from './figures.js';

export interface Comparison extends Ratio {
  name: string;
  a: number;
  b: number;
  verdict: 'faster' | 'slower' | 'same';
  isFloor: boolean;
}

export interface ComparedReports {
  comparisons: Comparison[];
  /** In one of the two only. */
  unmatched: string[];
}

const SMALLEST_DIFFERENCE = 0.05;

/** @throws `UsageError` when they are of different benchmarks. */
export function compareReports(a: ComparableReport, b: ComparableReport): ComparedReports {
  if (a.schema !== b.schema) throw new UsageError(`expected two runs of one benchmark, got ${a.schema} and ${b.schema}`);
  const [left, right] = [byName(a), byName(b)];
  const comparisons = [...left.values()].flatMap((figure) => {
    const other = right.get(figure.name);
    return other ? [compare(figure, other)] : [];
  });
  const unmatched = [...new Set([...left.keys(), ...right.keys()])].filter((name) => !left.has(name) || !right.has(name));
  return { comparisons, unmatched };
}

/** Rows that are slower than `limit` times A even at the friendly end of their noise. Floors are not ours to fail. */
export const slowerThan = (comparisons: readonly Comparison[], limit: number): Comparison[] =>
  comparisons.filter(({ ratio, noise, isFloor }) => !isFloor && ratio - noise > limit);

function compare({ name, statistics, isFloor }: Figure, other: Figure): Comparison {
  const { ratio, noise } = ratioOfMedians(statistics, other.statistics);
  const differs = Math.abs(ratio - 1) > Math.max(noise, SMALLEST_DIFFERENCE);
  const verdict = differs ? (ratio > 1 ? 'slower' : 'faster') : 'same';
  return { name, a: statistics.p50, b: other.statistics.p50, ratio, noise, isFloor, verdict };
}

const byName = (report: ComparableReport): Map<string, Figure> =>
  new Map(figuresOf(report).map((figure) => [figure.name, figure]));
