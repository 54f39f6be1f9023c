// What any report must be to `bench:compare`.

import { expect } from 'vitest';
import { compareReports } from '../../src/compare/compare.js';
import { type ComparableReport, figuresOf } from '../../src/compare/figures.js';

/** Every figure has a name of its own, and is the same in the same run when it comes from a file. */
export function expectComparable(report: ComparableReport): string[] {
  const names = figuresOf(report).map(({ name }) => name);
  expect([...new Set(names)]).toEqual(names);
  const { comparisons, unmatched } = compareReports(report, JSON.parse(JSON.stringify(report)) as ComparableReport);
  expect(comparisons.map(({ name }) => name)).toEqual(names);
  expect(comparisons.filter(({ verdict }) => verdict !== 'same')).toEqual([]);
  expect(unmatched).toEqual([]);
  return names;
}
