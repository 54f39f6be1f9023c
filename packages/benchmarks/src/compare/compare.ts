// Compares two cold-start runs row by row: ratio of the medians B / A with its noise.
//
// "same" means that the interval around the ratio holds 1, or that the difference is under 5 %, which is what two runs on an
// unchanged machine differ by. The floors are compared too: if they moved, the machine did.

import type { RowResult } from '../matrix/result.js';
import type { ColdstartReport } from '../report/report.js';
import { type Ratio, ratioOfMedians } from '../stats/noise.js';
import type { Statistics } from '../stats/statistics.js';

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

export function compareReports(a: ColdstartReport, b: ColdstartReport): ComparedReports {
  const [left, right] = [figures(a), figures(b)];
  const comparisons: Comparison[] = [];
  for (const [name, { statistics, isFloor }] of left) {
    const other = right.get(name);
    if (other) comparisons.push(compare(name, statistics, other.statistics, isFloor));
  }
  const unmatched = [...new Set([...left.keys(), ...right.keys()])].filter((name) => !left.has(name) || !right.has(name));
  return { comparisons, unmatched };
}

/** Rows that are slower than `limit` times A even at the friendly end of their noise. Floors are not ours to fail. */
export const slowerThan = (comparisons: readonly Comparison[], limit: number): Comparison[] =>
  comparisons.filter(({ ratio, noise, isFloor }) => !isFloor && ratio - noise > limit);

function compare(name: string, a: Statistics, b: Statistics, isFloor: boolean): Comparison {
  const { ratio, noise } = ratioOfMedians(a, b);
  const differs = Math.abs(ratio - 1) > Math.max(noise, SMALLEST_DIFFERENCE);
  return { name, a: a.p50, b: b.p50, ratio, noise, isFloor, verdict: differs ? (ratio > 1 ? 'slower' : 'faster') : 'same' };
}

function figures(report: ColdstartReport): Map<string, { statistics: Statistics; isFloor: boolean }> {
  const all = new Map<string, { statistics: Statistics; isFloor: boolean }>();
  const add = (name: string, statistics: Statistics | null, isFloor: boolean) => {
    if (statistics) all.set(name, { statistics, isFloor });
  };
  for (const [name, floor] of Object.entries(report.floors)) add(`floor ${name}`, floor.statistics, true);
  for (const row of report.results) {
    add(`${rowName(row)} cold`, row.coldStart, false);
    add(`${rowName(row)} warm`, row.warmStart, false);
  }
  return all;
}

const rowName = ({ scenario, mode, batchSize }: RowResult): string => `${scenario} ${mode} ${batchSize}`;
