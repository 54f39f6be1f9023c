// Tests the pool benchmark with fake pools: the check of tasks, the division of times, and skipped
// rows.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type PoolRun, type PoolSetup, pool } from '../src/pool/benchmark.js';
import { measureCalls } from '../src/pool/calls.js';
import { measureCheckouts } from '../src/pool/checkouts.js';
import { oursBeside } from '../src/pool/tables.js';
import { nextTask, taskProblem } from '../src/pool/task.js';
import { measureTasks, taskShapes } from '../src/pool/tasks.js';
import { publishedPools } from '../src/published/pool.js';
import { measureBenchmark } from '../src/suite/measure.js';
import { readOptions } from '../src/suite/options.js';
import { type Report, renderPage, tablesOf } from '../src/suite/report.js';
import { judgeTargets } from '../src/suite/targets.js';
import { measurementWarnings } from '../src/suite/warnings.js';
import { expectComparable } from './helpers/comparable.js';
import { silent } from './helpers/conditions.js';
import { FakePools } from './helpers/fake-pools.js';
import { isWellNested } from './helpers/markup.js';
import { fakeReport } from './helpers/report.js';

const scratch = mkdtempSync(join(tmpdir(), 'pool-test-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

test('accepts a task that prints its token and has found no forbidden file', () => {
  const task = nextTask('a');
  expect(taskProblem(task, `${task.token} nothing\n`, false)).toBeUndefined();
  expect(taskProblem(task, `${task.token} a\n`, true)).toBeUndefined();
  expect(taskProblem(task, `${task.token} a\n`, false)).toBe('the task found a file of an earlier task');
  expect(taskProblem(task, `${task.token} b\n`, true)).toBe('the task found a file of another tenant');
  expect(taskProblem(task, '', false)).toMatch(/^expected t\d+, got ""/);
});

const shape = { width: 3, tasks: 20, slots: 4, tenants: 2 };

test('counts all tasks, and counts tasks of a dirty pool as wrong', async () => {
  const clean = await measureTasks(new FakePools().open, scratch, { ...shape, way: 'pool', uses: 10 });
  expect(clean).toMatchObject({ total: 20, right: 20, successRate: 1, hitRatio: 1, created: 2 });
  expect(clean.amortisedMs).toBeGreaterThan(0);
  expect(clean.samples.length).toBe(20);
  const dirty = await measureTasks(new FakePools({ dirty: true }).open, scratch, { ...shape, way: 'pool', uses: 10 });
  expect(dirty.failures).toEqual({ 'the task found a file of an earlier task': 18 });
  const shared = await measureTasks(new FakePools().open, scratch, { ...shape, way: 'pool, shared uses', uses: 10 });
  expect(shared).toMatchObject({ right: 20 });
});

test('counts a failed task with its reason, and continues the row', async () => {
  const before = (nth: number): void => {
    if (nth === 7) throw Object.assign(new Error('no'), { code: 'ERR_BROKEN' });
  };
  const row = await measureTasks(new FakePools({ before }).open, scratch, { ...shape, way: 'created' });
  expect(row).toMatchObject({ total: 20, right: 19, failures: { 'ERR_BROKEN: no': 1 }, hitRatio: undefined });
});

test('restores a durable snapshot after the kill of each round, and deletes the snapshot', async () => {
  const pools = new FakePools();
  const row = await measureCalls(pools.open, scratch, { way: 'durable prewarm', at: 3, rounds: 2 });
  expect(row).toMatchObject({ total: 6, right: 6, hitRatio: 1, wallMs: { count: 2 } });
  // A first sidecar writes the snapshot. The warm-up round and each of the two counted rounds have
  // a sidecar too, and every sidecar is killed.
  expect([pools.kills, pools.live, pools.disk.size]).toEqual([4, 0, 0]);
  const cold = await measureCalls(pools.open, scratch, { way: 'cold', at: 3, rounds: 2 });
  expect([cold.hitRatio, pools.kills, pools.live]).toEqual([undefined, 4, 0]);
});

test('counts the resources that a pool leaves behind', async () => {
  const row = await measureCheckouts(new FakePools({ left: 2 }).open, scratch, 5);
  expect(row).toMatchObject({ total: 5, right: 5, releaseMs: { count: 5 }, readyMs: { count: 5 } });
  // Two pools are made after the first count, and each pool leaves two runtimes.
  expect(row.left).toMatchObject({ runtimes: 4, processes: 0, files: 0 });
});

const QUICK = { ...readOptions(pool.options, { flags: {}, env: {}, isQuick: true }), quick: true };

async function reportOf(pools: FakePools, budgetSeconds = 60): Promise<Report<PoolRun>> {
  const options = { ...QUICK, budgetSeconds };
  const { setup } = await pool.open(options, { scratch, cores: 2 });
  const run = await measureBenchmark(pool, options, { ...setup, open: pools.open }, silent);
  const { hardware, timer, startedAt } = fakeReport();
  const head = { schema: pool.schema, hardware, timer, startedAt, durationMs: 1_000, options };
  return { ...head, ...run, targets: judgeTargets(pool, run), warnings: measurementWarnings(pool, run, timer.resolutionMs) };
}

async function quickTaskShapes() {
  const { setup } = await pool.open(QUICK, { scratch, cores: 2 });
  return taskShapes(setup as PoolSetup);
}

test('has all rows, tables, targets and a page after a whole run', async () => {
  const report = await reportOf(new FakePools());
  expect(report.skipped).toEqual([]);
  expect(report.amortised.length).toBe((await quickTaskShapes()).length);
  expect(report.crowds.length).toBe(8);
  expect(report.targets.find(({ id }) => id === 'W9')).toMatchObject({ measured: 100, verdict: 'met' });
  expect(report.warnings).toEqual([]);
  expect(expectComparable(report)).toContain('durable prewarm, 1 at one moment, wall');
  for (const { head, rows } of tablesOf(pool, report)) for (const row of rows) expect(row.length).toBe(head.length);
  const page = renderPage(pool, JSON.parse(JSON.stringify(report)) as Report<PoolRun>);
  expect(isWellNested(page)).toBe(true);
  expect(page).toContain('Coppice');
});

test('shows wrong tasks in the targets, in the warnings, and beside published figures', async () => {
  const report = await reportOf(new FakePools({ dirty: true }));
  expect(report.targets.find(({ id }) => id === 'W9')).toMatchObject({ verdict: 'missed' });
  expect(report.targets.find(({ id }) => id === 'W1')).toMatchObject({ verdict: 'unmeasured' });
  expect(report.warnings.some((line) => line.includes('a file of an earlier task'))).toBe(true);
  const [amortised] = publishedPools;
  expect(amortised && oursBeside(report, amortised)).toBeUndefined();
});

test('skips rows for lack of time, with that reason', async () => {
  const report = await reportOf(new FakePools(), 0);
  expect(report.amortised).toEqual([]);
  expect(report.skipped.length).toBe((await quickTaskShapes()).length + 8 + 1);
  expect(new Set(report.skipped.map(({ reason }) => reason))).toEqual(new Set(['no time left']));
  expect(report.targets.map(({ verdict }) => verdict)).toEqual(report.targets.map(() => 'unmeasured'));
});

test('measures a figure for every published figure in the ordinary form', () => {
  const ordinary = readOptions(pool.options, { flags: {}, env: {} });
  for (const { what, ours } of publishedPools) {
    if ('uses' in ours) expect(ordinary.uses, what).toContain(ours.uses);
    if ('at' in ours) expect(ordinary.crowds, what).toContain(ours.at);
  }
});
