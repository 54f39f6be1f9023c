// Checks that `bench:compare` can compare a report.

import { expect } from 'vitest';
import { type ComparableReport, compareReports, figuresOf } from '../../src/compare/compare.js';

/**
 * Expects a unique name for every figure, and equal figures in the report that comes from a file.
 */
export function expectComparable(report: ComparableReport): string[] {
  const names = figuresOf(report).map(({ name }) => name);
  expect([...new Set(names)]).toEqual(names);
  const { comparisons, unmatched } = compareReports(report, JSON.parse(JSON.stringify(report)) as ComparableReport);
  expect(comparisons.map(({ name }) => name)).toEqual(names);
  expect(comparisons.filter(({ verdict }) => verdict !== 'same')).toEqual([]);
  expect(unmatched).toEqual([]);
  return names;
}
