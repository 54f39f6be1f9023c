// Tests the suite with a small benchmark: measured, skipped and recorded rows, and their effect on
// warnings, targets and completeness.

import { expect, test } from 'vitest';
import type { Benchmark, Row, Section } from '../src/suite/benchmark.js';
import { RowSkipped } from '../src/suite/failures.js';
import { measureBenchmark } from '../src/suite/measure.js';
import { isComplete, outcomesOf, rightShare } from '../src/suite/outcomes.js';
import type { RowProgress } from '../src/suite/progress.js';
import { tablesOf } from '../src/suite/report.js';
import type { Recorded } from '../src/suite/run.js';
import { table, words } from '../src/suite/table.js';
import { judgeTargets, targetsOf } from '../src/suite/targets.js';
import { measurementWarnings } from '../src/suite/warnings.js';
import { silent } from './helpers/conditions.js';

interface Result {
  name: string;
  total: number;
  right: number;
}

type Run = { rows: Result[]; extras: Recorded<Result>[]; last: Recorded<Result> | null };

interface Setup {
  rows: readonly Row<Result>[];
  extras: readonly Row<Result>[];
  last: readonly Row<Result>[];
  closed: string[];
}

const section = <Field extends keyof Run & string>(field: Field, more: Partial<Section<Setup, Run, Field, Result>> = {}) => ({
  field,
  open: (setup: Setup) => ({ rows: setup[field], close: async () => void setup.closed.push(field) }),
  describe: ({ name }: Result) => name,
  outcomes: ({ name, total, right }: Result) => [{ name, total, right, failure: right < total ? 'broken' : undefined }],
  tables: () => [],
  ...more,
});

const benchmark: Benchmark<{ seconds: number }, Setup, Run> = {
  name: 'test',
  schema: 'test/1',
  heading: 'Test',
  summary: 'A benchmark for tests.',
  options: {
    seconds: { name: '--seconds', placeholder: 'N', help: 'time for the rows', fallback: 1, parse: Number },
  },
  floorSamples: () => 0,
  budgetMs: ({ seconds }) => seconds * 1_000,
  open: () => ({ setup: { rows: [], extras: [], last: [], closed: [] } }),
  sections: [
    section('rows', {
      targets: [
        { promise: 'X10', what: 'rows', unit: '', atLeast: 2, measured: ({ rows }) => rows.length },
        { promise: 'X2', what: 'runs', unit: '', atMost: 9, measured: ({ rows: [row] }) => row?.total },
      ],
      tables: ({ rows }) => [table('Rows', rows, [words('name', ({ name }) => name)])],
    }),
    section('extras', { recordsFailures: true }),
    section('last', { isSingle: true, recordsFailures: true }),
  ],
};

const rowOf = (name: string, work: () => Result, guessMs?: number): Row<Result> => ({
  name,
  key: { row: name },
  ...(guessMs !== undefined && { guessMs }),
  measure: async () => work(),
});

const right = (name: string, guessMs?: number): Row<Result> => rowOf(name, () => ({ name, total: 4, right: 4 }), guessMs);

const failing = (name: string, error: Error): Row<Result> =>
  rowOf(name, () => {
    throw error;
  });

const setupOf = (change: Partial<Setup>): Setup => ({ rows: [], extras: [], last: [], closed: [], ...change });

test('skips a failed row or records its failure, and measures the other rows', async () => {
  const setup = setupOf({
    rows: [failing('a', new RowSkipped('no memory')), failing('b', new TypeError('broken')), right('c')],
    extras: [failing('d', Object.assign(new Error('no sidecar'), { code: 'ERR_X' })), right('e')],
  });
  const run = await measureBenchmark(benchmark, { seconds: 1 }, setup, silent);
  expect(run).toEqual({
    rows: [{ name: 'c', total: 4, right: 4 }],
    extras: [{ error: 'd: ERR_X: no sidecar' }, { name: 'e', total: 4, right: 4 }],
    last: null,
    floors: {},
    skipped: [
      { row: 'a', reason: 'no memory' },
      { row: 'b', reason: 'TypeError: broken' },
    ],
  });
  expect(setup.closed).toEqual(['rows', 'extras', 'last']);
  expect(measurementWarnings(benchmark, run, 0)).toEqual([
    'not measured: d: ERR_X: no sidecar',
    'a skipped: no memory (1 row)',
    'b skipped: TypeError: broken (1 row)',
  ]);
  expect(isComplete(outcomesOf(benchmark, run), run.skipped)).toBe(false);
});

test('measures rows outside the budget when no time is left', async () => {
  const setup = setupOf({ rows: [right('in the budget', 5), right('outside')], last: [right('single')] });
  const run = await measureBenchmark(benchmark, { seconds: 0 }, setup, silent);
  expect(run.rows.map(({ name }) => name)).toEqual(['outside']);
  expect(run.last).toEqual({ name: 'single', total: 4, right: 4 });
  expect(run.skipped).toEqual([{ row: 'in the budget', reason: 'no time left' }]);
});

test('reports each row with its position, and the expected time of rows in the budget', async () => {
  const seen: (Pick<RowProgress, 'name' | 'index' | 'count'> & { hasEta: boolean; text: string })[] = [];
  const progress = {
    write: () => {},
    row: ({ name, index, count, etaMs }: RowProgress, text: string) =>
      void seen.push({ name, index, count, hasEta: etaMs !== undefined, text }),
  };
  const setup = setupOf({ rows: [right('a', 1), right('b')] });
  await measureBenchmark(benchmark, { seconds: 1 }, setup, { floors: [], progress });
  expect(seen).toEqual([
    { name: 'a', index: 0, count: 2, hasEta: true, text: 'a' },
    { name: 'b', index: 1, count: 2, hasEta: false, text: 'b' },
  ]);
});

test('skips a section that cannot be opened, and closes what was opened before', async () => {
  const broken = {
    ...benchmark,
    sections: [benchmark.sections[0], { ...section('extras'), open: () => Promise.reject(new Error('no')) }],
  };
  const setup = setupOf({ rows: [right('a')] });
  const run = await measureBenchmark(broken as typeof benchmark, { seconds: 1 }, setup, silent);
  expect(run.skipped).toEqual([{ row: 'extras', reason: 'Error: no' }]);
  expect(setup.closed).toEqual(['rows']);
});

test('counts right runs over all results', async () => {
  const setup = setupOf({ rows: [right('a'), rowOf('b', () => ({ name: 'b', total: 4, right: 2 }))] });
  const run = await measureBenchmark(benchmark, { seconds: 1 }, setup, silent);
  const outcomes = outcomesOf(benchmark, run);
  expect(rightShare(outcomes)).toBe(0.75);
  expect(isComplete(outcomes, run.skipped)).toBe(false);
  expect(measurementWarnings(benchmark, run, 0)).toEqual(['b: 2 of 4 failed: broken']);
  expect(rightShare([])).toBeUndefined();
});

test('orders targets by promise, and shows them in the last table', async () => {
  expect(targetsOf(benchmark).map(({ promise }) => promise)).toEqual(['X2', 'X10']);
  const run = await measureBenchmark(benchmark, { seconds: 1 }, setupOf({ rows: [right('a')] }), silent);
  const targets = judgeTargets(benchmark, run);
  expect(targets.map(({ id, verdict }) => [id, verdict])).toEqual([
    ['X2', 'met'],
    ['X10', 'missed'],
  ]);
  const tables = tablesOf(benchmark, { ...run, targets });
  expect(tables.map(({ title }) => title)).toEqual(['Rows', 'Targets']);
  expect(tables[0]).toEqual({ title: 'Rows', head: ['name'], rows: [['a']], textColumns: [0] });
});
