// Tests the matrix benchmark without a sandbox: its plan, and its rows on sides that are right,
// wrong, broken, or without the call.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type MatrixSetup, matrix } from '../src/matrix/benchmark.js';
import { columnName, planColumns, ratioToNode, slowdownOf } from '../src/matrix/columns.js';
import type { Lane, Side } from '../src/matrix/lane.js';
import { appOperation, guestOperation, type Operation, programOf, repeatCall, timeCall } from '../src/matrix/operation.js';
import { operations, operationsNamed } from '../src/matrix/operations/index.js';
import { measureRow, type RowShape } from '../src/matrix/row.js';
import type { SideName } from '../src/matrix/sides.js';
import { measureBenchmark } from '../src/suite/measure.js';
import { isComplete, outcomesOf } from '../src/suite/outcomes.js';
import { tablesOf } from '../src/suite/report.js';
import { expectComparable } from './helpers/comparable.js';
import { silent } from './helpers/conditions.js';
import { isWellNested } from './helpers/markup.js';

const SHAPE: RowShape = { columns: planColumns([1, 3]), sliceMs: 0, warmup: 1, rounds: 2, budgetMs: 60_000 };

interface FakeSide extends Side {
  log: string[];
}

/** A side whose lanes reply with `perform`. The log has the lanes and the neighbours. */
function fakeSide(perform: () => Promise<unknown>): FakeSide {
  const log: string[] = [];
  const write = (text: string) => async () => void log.push(text);
  const lane = { perform, folder: () => '/', close: write('close lane') } as unknown as Lane;
  return {
    log,
    openLane: async () => {
      log.push('open lane');
      return lane;
    },
    startNeighbour: async () => {
      log.push('neighbour');
      return { stop: write('stop neighbour') };
    },
    close: write('close'),
  };
}

const asking = (name: string): Operation =>
  appOperation(name, 'programs', async ({ perform }) => ({
    once: () =>
      timeCall(
        () => perform(''),
        (value) => (value === 'right' ? undefined : `the value was ${value}`),
      ),
  }));

const right = async () => 'right';

test('plans a column for each width, and a column beside a neighbour', () => {
  expect(planColumns([8, 1, 4]).map(columnName)).toEqual(['alone', '4 at once', '8 at once', 'neighbour']);
});

test('names at least forty operations, each once, and each file call in each place', () => {
  const names = operations.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThanOrEqual(40);
  for (const name of names.filter((each) => each.endsWith('(memory)'))) {
    expect(names).toEqual(expect.arrayContaining([name.replace('memory', 'mount'), name.replace('memory', 'app fs')]));
  }
});

test('selects the operations whose name contains one of the texts', () => {
  expect(operationsNamed('exec,fetch').map(({ name }) => name)).toEqual(['exec', 'execFile', 'fetch']);
  expect(operationsNamed('')).toEqual(operations);
  expect(operationsNamed('nothing')).toEqual([]);
});

test('counts calls at once for each lane, and starts and stops a neighbour for each slice beside it', async () => {
  const side = fakeSide(right);
  const row = await measureRow(asking('ask'), new Map([['shared', side]]), SHAPE);
  expect(row.cells.map((cell) => [columnName(cell), cell.runs.right, cell.rounds.length])).toEqual([
    ['alone', 2, 2],
    ['3 at once', 6, 2],
    ['neighbour', 2, 2],
  ]);
  const count = (text: string) => side.log.filter((line) => line === text).length;
  expect([count('open lane'), count('close lane'), count('neighbour'), count('stop neighbour')]).toEqual([3, 3, 3, 3]);
  expect(row.notes).toEqual([]);
});

test('records no time for wrong calls, and names the reason', async () => {
  let calls = 0;
  const side = fakeSide(async () => (++calls % 2 === 0 ? 'right' : 'wrong'));
  const { cells } = await measureRow(asking('ask'), new Map([['shared', side]]), { ...SHAPE, columns: planColumns([4]) });
  const [cell] = cells;
  expect(cell?.runs).toMatchObject({ total: 8, right: 4, failures: { 'the value was wrong': 4 } });
  expect(cell?.statistics?.count).toBe(4);
});

test('measures the other sides if a side cannot be opened or has no such call', async () => {
  const broken: Side = { ...fakeSide(right), openLane: () => Promise.reject(new Error('no sidecar')) };
  const sides = new Map<SideName, Side>([
    ['owned', broken],
    ['shared', fakeSide(right)],
  ]);
  const row = await measureRow(asking('ask'), sides, SHAPE);
  expect(new Set(row.cells.map(({ side }) => side))).toEqual(new Set(['shared']));
  expect(row.notes).toEqual(['owned: no sidecar']);
  const absent: Operation = { name: 'absent', group: 'programs', places: [], open: async () => undefined };
  expect(await measureRow(absent, sides, SHAPE)).toMatchObject({ cells: [], notes: ['owned: no sidecar'] });
});

test('shortens a row when the time is over, after one round', async () => {
  const row = await measureRow(asking('ask'), new Map([['shared', fakeSide(right)]]), { ...SHAPE, rounds: 5, budgetMs: 0 });
  expect(row.cells[0]?.rounds).toHaveLength(1);
  expect(row.notes).toEqual(['time budget: 1 of 5 rounds']);
});

test('makes at least one call, and at most the given number of calls', async () => {
  expect((await repeatCall(async () => 1, 0)).samples).toEqual([1]);
  expect((await repeatCall(async () => 1, 60_000)).samples).toHaveLength(60);
  expect((await repeatCall(() => Promise.reject(new Error('no')), 0)).failures).toEqual(['no']);
});

test('the program of a guest call returns samples and the check', async () => {
  const call = { setup: 'let calls = 0;', operation: '++calls', check: 'result === calls', expected: 'true' };
  const AsyncFunction = (async () => {}).constructor as new (body: string) => () => Promise<{ samples: number[]; check: string }>;
  const { samples, check } = await new AsyncFunction(programOf(call, 1))();
  expect(check).toBe('true');
  expect(samples.length).toBeGreaterThan(0);
  expect(samples.every((sample) => sample >= 0)).toBe(true);
});

test('a guest call with a wrong check has no samples', async () => {
  const operation = guestOperation('call', 'programs', () => ({ operation: '1', check: 'result', expected: '2' }));
  const opened = await operation.open({ perform: async () => ({ samples: [1], check: '1' }) } as unknown as Lane);
  expect(await opened?.sample(0)).toEqual({ samples: [], failures: ['the check was 1 instead of 2'] });
});

const rowOf = (cells: readonly (readonly [SideName, number, boolean, number])[]) => ({
  operation: 'x',
  group: 'programs',
  notes: [],
  cells: cells.map(([side, width, isBesideNeighbour, p50]) => ({
    side,
    width,
    isBesideNeighbour,
    statistics: { count: 1, mean: p50, p50, p95: p50, p99: p50, min: p50, max: p50, mad: 0 },
    rounds: [p50],
    runs: { total: 1, right: 1, successRate: 1, failures: {} },
  })),
});

test('divides by Node and by one call alone, for any times', () => {
  const time = fc.double({ min: 1e-6, max: 1e6, noNaN: true });
  fc.assert(
    fc.property(time, time, time, (alone, atOnce, node) => {
      const row = rowOf([
        ['shared', 1, false, alone],
        ['shared', 8, false, atOnce],
        ['node', 1, false, node],
      ]);
      expect(ratioToNode(row, 'shared')).toBeCloseTo(alone / node, 10);
      expect(slowdownOf(row, 'shared', { width: 8, isBesideNeighbour: false })).toBeCloseTo(atOnce / alone, 10);
      expect(slowdownOf(row, 'shared', { width: 1, isBesideNeighbour: false })).toBe(1);
      expect(slowdownOf(row, 'shared', { width: 1, isBesideNeighbour: true })).toBeUndefined();
      expect(ratioToNode(row, 'embedded')).toBeUndefined();
    }),
  );
});

const setupWith = (perform: () => Promise<unknown>): MatrixSetup => ({
  operations: [asking('ask'), asking('ask again')],
  sides: new Map([
    ['shared', fakeSide(perform)],
    ['node', fakeSide(right)],
  ]),
  options: { only: '', sides: ['shared', 'node'], widths: [1, 2], rounds: 2, budgetSeconds: 60, quick: true },
});

test('shows each side, compares with another run, and draws the page', async () => {
  const setup = setupWith(right);
  const run = await measureBenchmark(matrix, setup.options, setup, { ...silent, floors: [] });
  expect(run.skipped).toEqual([]);
  expect(isComplete(outcomesOf(matrix, run), run.skipped)).toBe(true);
  const tables = tablesOf(matrix, { ...run, targets: [] });
  expect(tables.map(({ title }) => title.split(':')[0])).toEqual([
    'One call at a time (p50, µs), and divided by Node',
    'shared',
    'node',
  ]);
  expect(tables[0]?.head).toContain('shared / node');
  const names = expectComparable({ ...run, schema: matrix.schema });
  expect(names).toContain('ask, shared, 2 at once');
  const drawings = matrix.sections.flatMap((section) => section.charts?.(run) ?? []).map(({ drawing }) => drawing);
  expect(drawings.filter((drawing) => drawing !== '').length).toBe(2);
  expect(drawings.join('')).not.toMatch(/NaN|undefined/);
  expect(drawings.every(isWellNested)).toBe(true);
});

test('a wrong side makes the benchmark incomplete', async () => {
  const setup = setupWith(async () => 'wrong');
  const run = await measureBenchmark(matrix, setup.options, setup, silent);
  const outcomes = outcomesOf(matrix, run);
  expect(isComplete(outcomes, run.skipped)).toBe(false);
  expect(outcomes[0]?.failure).toBe('shared: the value was wrong');
});
