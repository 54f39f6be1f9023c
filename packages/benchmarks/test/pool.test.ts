// The pool benchmark on pools that are made up: what counts as right, what is divided, and what is missing.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { measureAmortised } from '../src/pool/amortised.js';
import { measureCrowd } from '../src/pool/crowds.js';
import { measureHygiene } from '../src/pool/hygiene.js';
import { measurePools, shapesOf } from '../src/pool/measure.js';
import { renderPools } from '../src/pool/page.js';
import { ORDINARY, type PoolPlan, QUICK } from '../src/pool/plan.js';
import { publishedPools } from '../src/pool/published.js';
import { type PoolReport, SCHEMA } from '../src/pool/report.js';
import { oursOf, poolTables } from '../src/pool/tables.js';
import { judgePools } from '../src/pool/targets.js';
import { nextTask, problemOf } from '../src/pool/task.js';
import { poolWarnings } from '../src/pool/warnings.js';
import { expectComparable } from './helpers/compared.js';
import { FakePools } from './helpers/fake-pools.js';
import { isWellNested } from './helpers/markup.js';
import { fakeReport } from './helpers/report.js';

const scratch = mkdtempSync(join(tmpdir(), 'pool-test-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

test('a task is right when it says its word and has found nothing that it may not find', () => {
  const task = nextTask('a');
  expect(problemOf(task, `${task.token} nothing\n`, false)).toBeUndefined();
  expect(problemOf(task, `${task.token} a\n`, true)).toBeUndefined();
  expect(problemOf(task, `${task.token} a\n`, false)).toBe('it found what an earlier task had left');
  expect(problemOf(task, `${task.token} b\n`, true)).toBe('it found what another tenant had left');
  expect(problemOf(task, '', false)).toMatch(/^expected t\d+, got ""/);
});

const shape = { width: 3, tasks: 20, slots: 4, tenants: 2 };

test('all tasks count, those of a dirty pool as wrong', async () => {
  const clean = await measureAmortised(new FakePools().open, scratch, { ...shape, way: 'pool', uses: 10 });
  expect(clean).toMatchObject({ total: 20, right: 20, successRate: 1, hitRatio: 1, created: 2 });
  expect(clean.amortisedMs).toBeGreaterThan(0);
  expect(clean.samples.length).toBe(20);
  const dirty = await measureAmortised(new FakePools({ dirty: true }).open, scratch, { ...shape, way: 'pool', uses: 10 });
  expect(dirty.failures).toEqual({ 'it found what an earlier task had left': 18 });
  const shared = await measureAmortised(new FakePools().open, scratch, { ...shape, way: 'pool, shared uses', uses: 10 });
  expect(shared).toMatchObject({ right: 20 });
});

test('a task that fails is counted with its reason, and the row goes on', async () => {
  const before = (nth: number): void => {
    if (nth === 7) throw Object.assign(new Error('no'), { code: 'ERR_BROKEN' });
  };
  const row = await measureAmortised(new FakePools({ before }).open, scratch, { ...shape, way: 'created' });
  expect(row).toMatchObject({ total: 20, right: 19, failures: { 'ERR_BROKEN: no': 1 }, hitRatio: undefined });
});

test('what is durable outlives a kill in each round, and is removed in the end', async () => {
  const pools = new FakePools();
  const row = await measureCrowd(pools.open, scratch, { way: 'durable prewarm', at: 3, rounds: 2 });
  expect(row).toMatchObject({ total: 6, right: 6, hitRatio: 1, wallMs: { count: 2 } });
  // One writes it; one for the round that does not count, and one for each that does.
  expect([pools.kills, pools.live, pools.disk.size]).toEqual([4, 0, 0]);
  const cold = await measureCrowd(pools.open, scratch, { way: 'cold', at: 3, rounds: 2 });
  expect([cold.hitRatio, pools.kills, pools.live]).toEqual([undefined, 4, 0]);
});

test('what a pool leaves behind is counted', async () => {
  const row = await measureHygiene(new FakePools({ left: 2 }).open, scratch, 5);
  expect(row).toMatchObject({ total: 5, right: 5, releaseMs: { count: 5 }, readyMs: { count: 5 } });
  // Two pools come after the first look.
  expect(row.left).toMatchObject({ runtimes: 4, processes: 0, files: 0 });
});

async function reportOf(pools: FakePools, plan: PoolPlan = QUICK, budgetMs = 60_000): Promise<PoolReport> {
  const setting = { open: pools.open, plan, scratch, budgetMs, floorSamples: 2, floors: [], say: () => {} };
  const result = await measurePools(setting);
  const { hardware, timer, startedAt } = fakeReport();
  const head = { hardware, timer, startedAt, durationMs: 1_000 };
  return { schema: SCHEMA, ...head, plan, ...result, targets: judgePools(result), warnings: poolWarnings(result) };
}

test('a whole run has all rows, tables, targets and a page', async () => {
  const report = await reportOf(new FakePools());
  expect(report.skipped).toEqual([]);
  expect(report.amortised.length).toBe(shapesOf(QUICK).length);
  expect(report.crowds.length).toBe(8);
  expect(report.targets.find(({ id }) => id === 'W9')).toMatchObject({ measured: 100, verdict: 'met' });
  expect(report.warnings).toEqual([]);
  expect(expectComparable(report)).toContain('durable prewarm, 1 at one moment, wall');
  for (const { head, rows } of poolTables(report)) for (const row of rows) expect(row.length).toBe(head.length);
  const page = renderPools(JSON.parse(JSON.stringify(report)) as PoolReport);
  expect(isWellNested(page)).toBe(true);
  expect(page).toContain('Coppice');
});

test('what is wrong shows: in the targets, in the warnings, and beside what others have published', async () => {
  const report = await reportOf(new FakePools({ dirty: true }));
  expect(report.targets.find(({ id }) => id === 'W9')).toMatchObject({ verdict: 'missed' });
  expect(report.targets.find(({ id }) => id === 'W1')).toMatchObject({ verdict: 'unmeasured' });
  expect(report.warnings.some((line) => line.includes('what an earlier task had left'))).toBe(true);
  const [amortised] = publishedPools;
  expect(amortised && oursOf(report, amortised)).toBeUndefined();
});

test('rows for which there is no time are missing with that reason', async () => {
  const report = await reportOf(new FakePools(), QUICK, 0);
  expect(report.amortised).toEqual([]);
  expect(report.skipped.length).toBe(shapesOf(QUICK).length + 8 + 1);
  expect(new Set(report.skipped.map(({ reason }) => reason))).toEqual(new Set(['no time left']));
  expect(judgePools(report).map(({ verdict }) => verdict)).toEqual(judgePools(report).map(() => 'unmeasured'));
});

test('every published figure has one of ours beside it in the ordinary plan', () => {
  for (const { what, ours } of publishedPools) {
    if ('uses' in ours) expect(ORDINARY.uses, what).toContain(ours.uses);
    if ('at' in ours) expect(ORDINARY.crowds, what).toContain(ours.at);
  }
});
