// Tests the operations of the lifecycle benchmark with fake sidecars, whose runtimes work, lose
// their state, fail and hang. The tests check counts and not times.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPERATION_NAMES, type OperationName, operations } from '../src/lifecycle/operations/index.js';
import { planRows, type RowPlan } from '../src/lifecycle/plan.js';
import { runRow } from '../src/lifecycle/row.js';
import { measureSoak } from '../src/lifecycle/soak.js';
import { FakeSidecars, type Faults } from './helpers/fake-sidecars.js';

let scratch = '';
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'coldframe-lifecycle-test-'));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const planOf = (operation: OperationName, n = 2, megabytes = 1, way?: string): RowPlan => {
  return { operation, n, megabytes, ...(way !== undefined && { way }), rounds: 2, warmup: 1, guessMs: 1 };
};

async function run(plan: RowPlan, faults: Faults = {}, hangMs = 5_000) {
  const sidecars = new FakeSidecars(faults);
  const operation = operations[plan.operation];
  const row = await runRow(plan, { open: sidecars.open, operation, scratch, budgetMs: 60_000, cores: 2, settleMs: 0, hangMs });
  return { row, sidecars };
}

const MEASURES: Record<OperationName, string[]> = {
  snapshot: ['snapshot'],
  create: ['create', 'answer'],
  rollback: ['rollback', 'first answer'],
  clone: ['clone', 'first answer'],
  pause: ['pause', 'resume', 'answer'],
  spawn: ['spawn', 'eval', 'total', 'with disposal'],
  branch: ['branch', 'answer', 'pause of the parent'],
  durable: ['write', 'sidecar', 'create', 'answer'],
};

test.each(OPERATION_NAMES)('%s: has every measure for right runtimes, and leaves nothing behind', async (operation) => {
  const n = operation === 'branch' ? 1 : 2;
  const { row, sidecars } = await run(planOf(operation, n, 1, operation === 'spawn' ? 'clone' : undefined));
  expect(row.notes).toEqual([]);
  expect(row.runs).toEqual({ total: 2 * n, right: 2 * n, successRate: 1, failures: {} });
  expect(Object.keys(row.measures)).toEqual(MEASURES[operation]);
  for (const { wall, per, samples } of Object.values(row.measures)) {
    expect(samples.wallMs).toHaveLength(2);
    expect(per?.p50).toBeCloseTo((wall?.p50 ?? 0) / n, 9);
  }
  expect(sidecars.live).toBe(0);
  expect(sidecars.disk.size).toBe(0);
  expect(readdirSync(scratch)).toEqual([]);
});

test('times a runtime from a single snapshot, and reports the dirty megabytes', async () => {
  const { row } = await run(planOf('snapshot', 1, 3));
  expect(Object.keys(row.measures)).toEqual(['snapshot', 'first copy', 'create', 'answer']);
  expect(row.facts['actual dirty MB']?.p50).toBe(3);
});

test('has no separate time for the replies of a spawn by creation', async () => {
  const { row } = await run(planOf('spawn', 3, 0, 'create'));
  expect(Object.keys(row.measures)).toEqual(['spawn', 'total', 'with disposal']);
  expect(row.runs.successRate).toBe(1);
});

test('kills the sidecar in every durable round, and restores everything', async () => {
  const { sidecars } = await run(planOf('durable'));
  expect({ kills: sidecars.kills, opened: sidecars.opened }).toEqual({ kills: 3, opened: 4 });
});

test.each(['create', 'clone', 'pause', 'durable', 'rollback', 'snapshot'] as const)(
  '%s: counts a copy with another secret as wrong, without a time',
  async (operation) => {
    const forget: Faults['forget'] = (_nth, guest) => {
      if (guest.kept) guest.kept.secret = 0;
    };
    const { row } = await run(planOf(operation), { forget });
    expect(row.runs.right).toBe(0);
    expect(row.measures[operation]?.wall ?? null).toBeNull();
    expect(Object.keys(row.runs.failures)[0]).toMatch(/output|given up|instead of/);
  },
);

test.each(['clone', 'pause', 'durable'] as const)(
  '%s: counts a copy as wrong whose memory differs in one buffer',
  async (operation) => {
    let spoilt = 0;
    const forget: Faults['forget'] = (nth, guest) => {
      if (nth === 4 && guest.kept) spoilt += guest.kept.data[0]?.fill(0) ? 1 : 0;
    };
    const { row } = await run(planOf(operation), { forget });
    expect(spoilt).toBe(1);
    expect(row.runs).toMatchObject({ total: 4, right: 3 });
    expect(Object.keys(row.runs.failures)[0]).toContain('memory:');
  },
);

test('keeps the wall time and the other runtimes of a round with one failure', async () => {
  const { row } = await run(planOf('create', 4), { before: (call, nth) => fail(call === 'restore' && nth === 7) });
  expect(row.runs).toMatchObject({ total: 8, right: 7, failures: { 'ERR_BROKEN: told to fail': 1 } });
  expect(row.measures.answer?.wall?.count).toBe(2);
  expect(row.measures.answer?.each?.count).toBe(7);
});

test('counts a failed deletion and a failed disposal', async () => {
  const removing = await run(planOf('rollback'), { before: (call, nth) => fail(call === 'deleteSnapshot' && nth === 3) });
  expect(removing.row.runs).toMatchObject({ right: 3, failures: { 'remove: ERR_BROKEN: told to fail': 1 } });
  const disposing = await run(planOf('pause'), { before: (call, nth) => fail(call === 'dispose' && nth === 3) });
  expect(disposing.row.runs).toMatchObject({ right: 3, failures: { 'dispose: ERR_BROKEN: told to fail': 1 } });
});

test('fails all runtimes of a broken round, and continues with a new sidecar', async () => {
  const { row, sidecars } = await run(planOf('clone', 5), { before: (call, nth) => fail(call === 'clone' && nth === 2) });
  expect(row.runs).toMatchObject({ total: 10, right: 5, failures: { 'ERR_BROKEN: told to fail': 5 } });
  expect(row.notes).toEqual(['a round broke: ERR_BROKEN: told to fail']);
  expect(sidecars.opened).toBe(2);
});

test('ends a row after three broken rounds, with a success rate of 0', async () => {
  const { row } = await run({ ...planOf('pause'), rounds: 9 }, { before: (call) => fail(call === 'create') });
  expect(row).toMatchObject({ runs: { total: 6, right: 0, successRate: 0 }, measures: {} });
  expect(row.notes.at(-2)).toBe('given up after 3 broken rounds');
});

test('ends a round that hangs', async () => {
  const never = new Promise<void>(() => {});
  const { row } = await run(planOf('rollback'), { before: (call) => (call === 'rollback' ? never : undefined) }, 100);
  expect(row.runs.right).toBe(0);
  expect(Object.keys(row.runs.failures)[0]).toContain('took longer than');
});

test('runs fewer rounds when the time is short, and reports the number', async () => {
  const sidecars = new FakeSidecars();
  const plan = { ...planOf('create'), rounds: 50 };
  const setting = { open: sidecars.open, operation: operations.create, scratch, cores: 2, settleMs: 20, budgetMs: 60 };
  const row = await runRow(plan, setting);
  expect(row.rounds).toBeLessThan(50);
  expect(row.notes).toEqual([`${row.rounds} of 50 rounds`]);
});

test('counts wrong cycles of a soak, and their remaining resources', async () => {
  const sidecars = new FakeSidecars({ before: (call, nth) => fail(call === 'restore' && nth === 50) });
  let descriptors = 10;
  const memory = { privateDirtyKib: 100, privateCleanKib: 0, pageTablesKib: 1, pssKib: 100 };
  const footprint = () => ({ memory, rssKib: 100, mappings: 50, descriptors: descriptors++ });
  const result = await measureSoak(sidecars.open, { cycles: 40, width: 4, warmup: 4, directory: scratch, footprint });
  expect(result).toMatchObject({ cycles: 40, right: 39, failures: ['ERR_BROKEN: told to fail'], grownKib: 0 });
  expect(result.left).toEqual({ runtimes: 0, processes: 0, descriptors: 1, files: 0, mappings: 0 });
  expect(result.quarters).toHaveLength(4);
  expect(sidecars.live).toBe(0);
});

test('plans the published sizes, and names every row uniquely', () => {
  const rows = planRows(OPERATION_NAMES, false);
  const of = (operation: OperationName) => rows.filter((row) => row.operation === operation);
  expect(
    of('snapshot')
      .filter(({ n, way }) => n === 1 && way === undefined)
      .map(({ megabytes }) => megabytes),
  ).toEqual([0, 10, 50, 100, 200, 500, 800, 1024]);
  expect(of('create').map(({ n }) => n)).toEqual([1, 10, 20, 50, 100, 10]);
  expect(
    of('clone')
      .filter(({ megabytes }) => megabytes === 10)
      .map(({ n }) => n),
  ).toEqual([1, 10, 20, 100]);
  const names = rows.map(({ operation, n, megabytes, way }) => `${operation} ${n} ${megabytes} ${way}`);
  expect(new Set(names).size).toBe(rows.length);
  expect(Math.min(...rows.map(({ rounds }) => rounds))).toBe(5);
});

function fail(condition: boolean): void {
  if (condition) throw Object.assign(new Error('told to fail'), { code: 'ERR_BROKEN' });
}
