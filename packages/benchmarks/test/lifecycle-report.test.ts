// Targets, tables and the page of the lifecycle, from rows that were recorded by arithmetic.

import { expect, test } from 'vitest';
import { compareReports, slowerThan } from '../src/compare/compare.js';
import { renderLifecycle } from '../src/lifecycle/page.js';
import { OPERATIONS, planRows } from '../src/lifecycle/plan.js';
import { type LifecycleMeasurements, type LifecycleReport, SCHEMA } from '../src/lifecycle/report.js';
import type { Round } from '../src/lifecycle/round.js';
import { atOnce } from '../src/lifecycle/select.js';
import { summarizeRounds } from '../src/lifecycle/summary.js';
import { lifecycleTables } from '../src/lifecycle/tables.js';
import { judgeLifecycle } from '../src/lifecycle/targets.js';
import { lifecycleWarnings } from '../src/lifecycle/warnings.js';
import { expectComparable } from './helpers/compared.js';
import { isWellNested } from './helpers/markup.js';
import { fakeReport } from './helpers/report.js';

const NAMES: Record<string, string[]> = {
  snapshot: ['snapshot', 'create', 'answer'],
  create: ['create', 'answer'],
  rollback: ['rollback', 'first answer'],
  clone: ['clone', 'first answer'],
  pause: ['pause', 'resume', 'answer'],
  spawn: ['spawn', 'eval', 'total', 'with disposal'],
  branch: ['branch', 'answer', 'pause of the parent'],
  durable: ['write', 'sidecar', 'create', 'answer'],
};

/** One takes `ms`; n at once take n/4 times that. */
function recorded(ms: number): LifecycleMeasurements {
  const rows = planRows(OPERATIONS, false).map((plan) => {
    const wallMs = ms * (1 + plan.megabytes / 100) * Math.max(1, plan.n / 4);
    const timings = Object.fromEntries((NAMES[plan.operation] ?? []).map((name) => [name, { wallMs, eachMs: [wallMs] }]));
    const round: Round = { timings, attempts: plan.n, failures: [], facts: { 'actual dirty MB': plan.megabytes } };
    return summarizeRounds(
      plan,
      Array.from({ length: plan.rounds }, () => round),
      [],
    );
  });
  const memory = { privateDirtyKib: 100, privateCleanKib: 0, pageTablesKib: 1, pssKib: 100 };
  const census = { memory, rssKib: 2_048, mappings: 50, descriptors: 9 };
  const left = { runtimes: 0, processes: 0, descriptors: 0, files: 0, mappings: 0 };
  const soak = { cycles: 1_000, right: 1_000, successRate: 1, failures: [], cycleMs: null, quarters: [1, 1, 1, 1] };
  return {
    floors: fakeReport().floors,
    rows,
    skipped: [],
    soak: { ...soak, before: census, after: census, left, grownKib: 12 },
  };
}

function reportOf(run: LifecycleMeasurements): LifecycleReport {
  const { startedAt, durationMs, hardware, timer } = fakeReport();
  return {
    schema: SCHEMA,
    startedAt,
    durationMs,
    hardware,
    timer,
    options: { only: OPERATIONS, quick: false, soak: 1_000, budgetSeconds: 1, settleMs: 0 },
    store: { fileSystem: 'ext4' },
    packages: 'zod',
    targets: judgeLifecycle(run),
    warnings: lifecycleWarnings(run),
    ...run,
  };
}

const verdicts = (run: LifecycleMeasurements) =>
  Object.fromEntries(judgeLifecycle(run).map(({ id, verdict }) => [id ?? '', verdict]));

test('a quick run meets all targets; a slow one misses those of time and no other', () => {
  expect(new Set(Object.values(verdicts(recorded(0.01))))).toEqual(new Set(['met']));
  const missed = Object.entries(verdicts(recorded(300))).filter(([, verdict]) => verdict === 'missed');
  expect(missed.map(([id]) => id)).toEqual([...Array.from({ length: 13 }, (_, index) => `C${index + 1}`), 'C15']);
});

test('a row in which anything failed has no figure, and 100 % is missed', () => {
  const run = recorded(0.01);
  const row = run.rows.find(({ operation, n, megabytes }) => operation === 'clone' && n === 100 && megabytes === 10);
  if (row) row.runs = { total: 300, right: 299, successRate: 299 / 300, failures: { 'output "x"': 1 } };
  const seen = verdicts(run);
  expect(seen).toMatchObject({ C9: 'met', C10: 'unmeasured', C16: 'missed' });
  expect(lifecycleWarnings(run)).toEqual(['clone, 10 MB dirty, 100: 1 of 300 failed: output "x"']);
});

test('what a soak leaves behind is added up, and what became less does not hide it', () => {
  const run = recorded(0.01);
  if (run.soak && 'left' in run.soak) run.soak.left = { runtimes: 0, processes: 0, descriptors: 1, files: -1, mappings: 40 };
  expect(judgeLifecycle(run).find(({ id }) => id === 'C17')).toMatchObject({ measured: 1, verdict: 'missed' });
});

test('ten at once are compared with one of the same size', () => {
  const ratios = atOnce(recorded(1).rows);
  expect(ratios.map(({ name }) => name)).toContain('rollback, 100 MB dirty');
  for (const { ratio } of ratios) expect(ratio).toBeCloseTo(2.5, 6);
});

test('the tables: measures, facts, what others have published with their class of isolation', () => {
  const report = reportOf(recorded(1));
  const tables = Object.fromEntries(lifecycleTables(report).map((table) => [table.title.split(/[ :,]/)[0] ?? '', table]));
  expect(Object.keys(tables)).toEqual(['Operations', 'What', 'Ten', 'Soak', 'Published', 'Floors', 'Targets']);
  const peers = tables.Published?.rows ?? [];
  expect(peers.length).toBeGreaterThan(60);
  const clone = peers.find(
    ([operation, , , n, , , , , system]) => operation === 'clone' && n === '100' && system?.includes('bare metal'),
  );
  expect(clone).toEqual([
    'clone',
    '10 MB dirty',
    'clone',
    '100',
    '541',
    'mean',
    '27.5',
    '19.7 ×',
    'CubeSandbox (bare metal)',
    'micro-VM',
    'Xeon 8255C, 96 threads',
    '50 at a time',
  ]);
  for (const table of Object.values(tables)) for (const row of table.rows) expect(row).toHaveLength(table.head.length);
});

test('two runs can be compared', () => {
  const names = expectComparable(reportOf(recorded(1)));
  expect(names).toEqual(expect.arrayContaining(['rollback 100 MB dirty 1, first answer', 'clone fresh 100, clone, wall']));
  const { comparisons } = compareReports(reportOf(recorded(1)), reportOf(recorded(2)));
  expect(slowerThan(comparisons, 1.9)).toEqual(comparisons.filter(({ isFloor }) => !isFloor));
});

test('the page stands alone, also of a run in which nothing worked', () => {
  const page = renderLifecycle(reportOf(recorded(1)));
  expect(page).not.toMatch(/(src|href)=|@import|url\(|<script|NaN|Infinity|undefined/);
  expect(page.match(/<svg /g)).toHaveLength(3);
  expect(isWellNested(page)).toBe(true);
  const empty = renderLifecycle(reportOf({ floors: {}, rows: [], skipped: [] }));
  expect(empty).toContain('unmeasured');
  expect(empty).not.toMatch(/NaN|Infinity/);
});

test('failures of one kind are one entry, whatever their names and numbers', () => {
  const [plan] = planRows(['create'], true);
  if (!plan) throw new Error('no plan');
  const failures = ['no snapshot snap-abc', 'no snapshot snap-def', 'output "0123456789ab 5"', 'output "ba9876543210 5"'];
  const row = summarizeRounds(plan, [{ timings: {}, attempts: 9, failures, facts: {} }], []);
  expect(row.runs).toEqual({ total: 9, right: 5, successRate: 5 / 9, failures: { 'no snapshot snap-…': 2, 'output "… 5"': 2 } });
});
