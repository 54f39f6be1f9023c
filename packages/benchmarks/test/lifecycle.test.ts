// The lifecycle benchmark on boxes that work, forget, fail and hang. What is timed is not looked at; what is counted is.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { operations } from '../src/lifecycle/operations/index.js';
import { OPERATIONS, type OperationName, planRows, type RowPlan } from '../src/lifecycle/plan.js';
import { runRow } from '../src/lifecycle/row.js';
import { measureSoak } from '../src/lifecycle/soak.js';
import { FakeWorld, type Faults } from './helpers/fake-host.js';

let scratch = '';
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'coldframe-lifecycle-test-'));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const planOf = (operation: OperationName, n = 2, megabytes = 1, way?: string): RowPlan => {
  return { operation, n, megabytes, ...(way !== undefined && { way }), rounds: 2, warmup: 1, guessMs: 1 };
};

async function run(plan: RowPlan, faults: Faults = {}, hangMs = 5_000) {
  const world = new FakeWorld(faults);
  const operation = operations[plan.operation];
  const row = await runRow(plan, { open: world.open, operation, scratch, budgetMs: 60_000, cores: 2, settleMs: 0, hangMs });
  return { row, world };
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

test.each(OPERATIONS)('%s: every place right, every measure there, nothing left', async (operation) => {
  const n = operation === 'branch' ? 1 : 2;
  const { row, world } = await run(planOf(operation, n, 1, operation === 'spawn' ? 'clone' : undefined));
  expect(row.notes).toEqual([]);
  expect(row.runs).toEqual({ total: 2 * n, right: 2 * n, successRate: 1, failures: {} });
  expect(Object.keys(row.measures)).toEqual(MEASURES[operation]);
  for (const { wall, per, samples } of Object.values(row.measures)) {
    expect(samples.wallMs).toHaveLength(2);
    expect(per?.p50).toBeCloseTo((wall?.p50 ?? 0) / n, 9);
  }
  expect(world.live).toBe(0);
  expect(world.disk.size).toBe(0);
  expect(readdirSync(scratch)).toEqual([]);
});

test('a single snapshot is also made into a box that is timed, and says what was dirty', async () => {
  const { row } = await run(planOf('snapshot', 1, 3));
  expect(Object.keys(row.measures)).toEqual(['snapshot', 'first copy', 'create', 'answer']);
  expect(row.facts['actual dirty MB']?.p50).toBe(3);
});

test('a spawn by creation has no clock of its own for the answers', async () => {
  const { row } = await run(planOf('spawn', 3, 0, 'create'));
  expect(Object.keys(row.measures)).toEqual(['spawn', 'total', 'with disposal']);
  expect(row.runs.successRate).toBe(1);
});

test('a durable row kills the sidecar in every round and finds everything again', async () => {
  const { world } = await run(planOf('durable'));
  expect({ kills: world.kills, opened: world.opened }).toEqual({ kills: 3, opened: 4 });
});

test.each(['create', 'clone', 'pause', 'durable', 'rollback', 'snapshot'] as const)(
  '%s: a copy with another secret is counted as wrong and has no time',
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

test.each(['clone', 'pause', 'durable'] as const)('%s: a copy whose memory differs in one buffer is wrong', async (operation) => {
  let spoilt = 0;
  const forget: Faults['forget'] = (nth, guest) => {
    if (nth === 4 && guest.kept) spoilt += guest.kept.data[0]?.fill(0) ? 1 : 0;
  };
  const { row } = await run(planOf(operation), { forget });
  expect(spoilt).toBe(1);
  expect(row.runs).toMatchObject({ total: 4, right: 3 });
  expect(Object.keys(row.runs.failures)[0]).toContain('its memory');
});

test('one wrong place of a round keeps its neighbours and its wall time', async () => {
  const { row } = await run(planOf('create', 4), { before: (call, nth) => fail(call === 'restore' && nth === 7) });
  expect(row.runs).toMatchObject({ total: 8, right: 7, failures: { 'ERR_BROKEN: told to fail': 1 } });
  expect(row.measures.answer?.wall?.count).toBe(2);
  expect(row.measures.answer?.each?.count).toBe(7);
});

test('a snapshot that cannot be deleted, or a box that cannot be disposed of, is a failure', async () => {
  const removing = await run(planOf('rollback'), { before: (call, nth) => fail(call === 'remove' && nth === 3) });
  expect(removing.row.runs).toMatchObject({ right: 3, failures: { 'remove: ERR_BROKEN: told to fail': 1 } });
  const disposing = await run(planOf('pause'), { before: (call, nth) => fail(call === 'dispose' && nth === 3) });
  expect(disposing.row.runs).toMatchObject({ right: 3, failures: { 'dispose: ERR_BROKEN: told to fail': 1 } });
});

test('a round that breaks has failed in all places, and the row goes on with a new sidecar', async () => {
  const { row, world } = await run(planOf('clone', 5), { before: (call, nth) => fail(call === 'clone' && nth === 2) });
  expect(row.runs).toMatchObject({ total: 10, right: 5, failures: { 'ERR_BROKEN: told to fail': 5 } });
  expect(row.notes).toEqual(['a round broke: ERR_BROKEN: told to fail']);
  expect(world.opened).toBe(2);
});

test('a row in which every round breaks is given up, with a success rate of nothing', async () => {
  const { row } = await run({ ...planOf('pause'), rounds: 9 }, { before: (call) => fail(call === 'create') });
  expect(row).toMatchObject({ runs: { total: 6, right: 0, successRate: 0 }, measures: {} });
  expect(row.notes.at(-2)).toBe('given up after 3 broken rounds');
});

test('what hangs ends', async () => {
  const never = new Promise<void>(() => {});
  const { row } = await run(planOf('rollback'), { before: (call) => (call === 'rollback' ? never : undefined) }, 100);
  expect(row.runs.right).toBe(0);
  expect(Object.keys(row.runs.failures)[0]).toContain('took longer than');
});

test('time that runs out makes fewer rounds and says so', async () => {
  const world = new FakeWorld();
  const plan = { ...planOf('create'), rounds: 50 };
  const setting = { open: world.open, operation: operations.create, scratch, cores: 2, settleMs: 20, budgetMs: 60 };
  const row = await runRow(plan, setting);
  expect(row.rounds).toBeLessThan(50);
  expect(row.notes).toEqual([`${row.rounds} of 50 rounds`]);
});

test('a soak counts wrong cycles and what is left', async () => {
  const world = new FakeWorld({ before: (call, nth) => fail(call === 'restore' && nth === 50) });
  let descriptors = 10;
  const memory = { privateDirtyKib: 100, privateCleanKib: 0, pageTablesKib: 1, pssKib: 100 };
  const census = () => ({ memory, rssKib: 100, mappings: 50, descriptors: descriptors++ });
  const result = await measureSoak(world.open, { cycles: 40, width: 4, warmup: 4, directory: scratch, census });
  expect(result).toMatchObject({ cycles: 40, right: 39, failures: ['ERR_BROKEN: told to fail'], grownKib: 0 });
  expect(result.left).toEqual({ runtimes: 0, processes: 0, descriptors: 1, files: 0, mappings: 0 });
  expect(result.quarters).toHaveLength(4);
  expect(world.live).toBe(0);
});

test('the plan has the sizes of the field, and every row a name of its own', () => {
  const rows = planRows(OPERATIONS, false);
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
