// Comparing two runs: what counts as a difference, and when the command fails.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compareReports, slowerThan } from '../src/compare/compare.js';
import type { ComparableReport } from '../src/compare/figures.js';
import { readReport } from '../src/compare/read.js';
import { toJson } from '../src/report/report.js';
import { fakeReport } from './helpers/report.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coldframe-compare-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

test('a run compared with itself is the same everywhere', () => {
  const { comparisons, unmatched } = compareReports(fakeReport(), fakeReport());
  expect(new Set(comparisons.map(({ verdict }) => verdict))).toEqual(new Set(['same']));
  expect(comparisons.filter(({ isFloor }) => isFloor)).toHaveLength(3);
  expect(comparisons.filter(({ isFloor }) => !isFloor)).toHaveLength(5 * 3 * 2 * 2);
  expect(unmatched).toEqual([]);
});

test('a doubled time is slower one way and faster the other; floors stay the same', () => {
  const { comparisons } = compareReports(fakeReport(), fakeReport(2));
  const shared = comparisons.find(({ name }) => name === 'shared-sidecar sequential 10 cold');
  expect(shared?.ratio).toBeCloseTo(2, 6);
  expect(shared?.verdict).toBe('slower');
  expect(comparisons.filter(({ isFloor }) => isFloor).every(({ verdict }) => verdict === 'same')).toBe(true);
  const back = compareReports(fakeReport(2), fakeReport()).comparisons;
  expect(back.find(({ name }) => name === 'shared-sidecar sequential 10 cold')?.verdict).toBe('faster');
});

test('a difference within the noise is no difference', () => {
  const wide = (report: ReturnType<typeof fakeReport>) => {
    for (const row of report.results) if (row.coldStart) row.coldStart = { ...row.coldStart, count: 3, mad: row.coldStart.p50 };
    return report;
  };
  const { comparisons } = compareReports(wide(fakeReport()), wide(fakeReport(1.5)));
  expect(comparisons.find(({ name }) => name === 'embedded sequential 1 cold')?.verdict).toBe('same');
  expect(slowerThan(comparisons, 1.2).every(({ name }) => name.endsWith('warm'))).toBe(true);
});

test('rows in one file only are listed', () => {
  const fewer = fakeReport(1, (run) => run.results.splice(0, 1));
  expect(compareReports(fakeReport(), fewer).unmatched).toEqual([
    'owned-sidecar sequential 1 cold',
    'owned-sidecar sequential 1 warm',
  ]);
});

test('a limit fails rows of ours that are above it beyond their noise, and no floor', () => {
  const slowFloors = fakeReport(1.3, (run) => {
    for (const floor of Object.values(run.floors)) if (floor.statistics) floor.statistics.p50 *= 9;
  });
  const { comparisons } = compareReports(fakeReport(), slowFloors);
  expect(slowerThan(comparisons, 1.5)).toEqual([]);
  expect(slowerThan(comparisons, 1.05)).toHaveLength(60);
});

test('a file that is no report is named in the error', () => {
  expect(() => readReport(join(folder, 'missing.json'))).toThrow(/missing\.json: expected the JSON of a run: .*ENOENT/);
  expect(() => readReport(file('other.json', '{"schema":"x"}'))).toThrow(/expected schema coldframe-coldstart\/1, .*, got "x"/);
  expect(() => readReport(file('broken.json', '{'))).toThrow('broken.json');
  expect(readReport(file('good.json', toJson(fakeReport())))).toMatchObject({ results: { length: 30 } });
});

test('runs of different benchmarks are not compared', () => {
  const pool = { ...fakeReport(), schema: 'coldframe-pool/1' } as unknown as ComparableReport;
  expect(() => compareReports(fakeReport(), pool)).toThrow('got coldframe-coldstart/1 and coldframe-pool/1');
});
