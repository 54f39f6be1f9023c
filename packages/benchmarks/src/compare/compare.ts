// Compares two runs of one benchmark, figure by figure: the ratio of the medians B / A, with its
// noise.
//
// Figures are matched by name. "same" means that the interval around the ratio contains 1, or that
// the difference is at most 5 %. Differences of this size occur between two runs on an unchanged
// machine. The floors are compared too: if the floors changed, the machine changed.

import { readFileSync } from 'node:fs';
import { benchmarks } from '../benchmarks.js';
import type { Floors } from '../floors/floor.js';
import { type Ratio, ratioOfMedians } from '../statistics/noise.js';
import type { Statistics } from '../statistics/statistics.js';
import type { AnyBenchmark } from '../suite/benchmark.js';
import { flatMapResults } from '../suite/outcomes.js';
import { isFailure } from '../suite/run.js';
import { UsageError } from '../suite/usage-error.js';

/** The JSON of a run: the fields that all versions of all benchmarks can have. */
export interface ComparableReport {
  schema: string;
  floors?: Floors;
}

export interface ComparableFigure {
  name: string;
  statistics: Statistics;
  isFloor: boolean;
}

export interface Comparison extends Ratio {
  name: string;
  a: number;
  b: number;
  verdict: 'faster' | 'slower' | 'same';
  isFloor: boolean;
}

export interface ComparedReports {
  comparisons: Comparison[];
  /** Names of the figures that only one of the two runs has. */
  unmatched: string[];
}

const SMALLEST_DIFFERENCE = 0.05;

/** Reads the JSON of a run. @throws `UsageError` for a file without the schema of a benchmark. */
export function readReport(path: string): ComparableReport {
  let report: unknown;
  try {
    report = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new UsageError(`${path}: expected the JSON of a run: ${String(error)}`);
  }
  const schema = typeof report === 'object' && report !== null && 'schema' in report ? report.schema : undefined;
  if (benchmarkOf(schema)) return report as ComparableReport;
  const schemas = benchmarks.map((benchmark) => benchmark.schema).join(', ');
  throw new UsageError(`${path}: expected schema ${schemas}, got ${JSON.stringify(schema)}`);
}

const benchmarkOf = (schema: unknown): AnyBenchmark | undefined => benchmarks.find((benchmark) => benchmark.schema === schema);

/**
 * Returns the figures of a run: first its floors, then the figures of its results that have
 * statistics.
 */
export function figuresOf(report: ComparableReport): ComparableFigure[] {
  const floors = Object.entries(report.floors ?? {}).map(([name, { statistics }]) => ({
    name: `floor ${name}`,
    statistics,
    isFloor: true,
  }));
  const benchmark = benchmarkOf(report.schema);
  const run = report as unknown as Record<string, unknown>;
  const results = benchmark
    ? flatMapResults(benchmark, run, (section, result) =>
        section.recordsFailures && isFailure(result) ? [] : (section.figures?.(result) ?? []),
      )
    : [];
  return [...floors, ...results].flatMap(({ name, statistics, isFloor = false }) =>
    statistics ? [{ name, statistics, isFloor }] : [],
  );
}

/** Compares the figures of two runs. @throws `UsageError` for runs of different benchmarks. */
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

/**
 * Returns the figures whose ratio exceeds `limit` by more than their noise. No floor is returned.
 */
export const slowerThan = (comparisons: readonly Comparison[], limit: number): Comparison[] =>
  comparisons.filter(({ ratio, noise, isFloor }) => !isFloor && ratio - noise > limit);

function compare({ name, statistics, isFloor }: ComparableFigure, other: ComparableFigure): Comparison {
  const { ratio, noise } = ratioOfMedians(statistics, other.statistics);
  const differs = Math.abs(ratio - 1) > Math.max(noise, SMALLEST_DIFFERENCE);
  const verdict = differs ? (ratio > 1 ? 'slower' : 'faster') : 'same';
  return { name, a: statistics.p50, b: other.statistics.p50, ratio, noise, isFloor, verdict };
}

const byName = (report: ComparableReport): Map<string, ComparableFigure> =>
  new Map(figuresOf(report).map((figure) => [figure.name, figure]));
