// Tests targets, tables and the page of the lifecycle benchmark with computed rows.

import { expect, test } from 'vitest';
import { compareReports, slowerThan } from '../src/compare/compare.js';
import { type LifecycleRun, lifecycle } from '../src/lifecycle/benchmark.js';
import { tenAgainstOne } from '../src/lifecycle/figures.js';
import { OPERATION_NAMES } from '../src/lifecycle/operations/index.js';
import { planRows } from '../src/lifecycle/plan.js';
import type { Round } from '../src/lifecycle/round.js';
import { summarizeRounds } from '../src/lifecycle/row.js';
import { type Report, renderPage, tablesOf } from '../src/suite/report.js';
import type { Measured } from '../src/suite/run.js';
import { judgeTargets } from '../src/suite/targets.js';
import { measurementWarnings } from '../src/suite/warnings.js';
import { expectComparable } from './helpers/comparable.js';
import { isWellNested } from './helpers/markup.js';
import { fakeReport } from './helpers/report.js';

type Run = Measured<LifecycleRun>;

const judge = (run: Run) => judgeTargets(lifecycle, run);
const warningsOf = (run: Run) => measurementWarnings(lifecycle, run, 0.00006);

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

/** Makes rows in which one runtime takes `ms`, and n at once take n / 4 times `ms`. */
function recorded(ms: number): Run {
  const rows = planRows(OPERATION_NAMES, false).map((plan) => {
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
  const footprint = { memory, rssKib: 2_048, mappings: 50, descriptors: 9 };
  const left = { runtimes: 0, processes: 0, descriptors: 0, files: 0, mappings: 0 };
  const soak = { cycles: 1_000, right: 1_000, successRate: 1, failures: [], cycleMs: null, quarters: [1, 1, 1, 1] };
  return {
    floors: fakeReport().floors,
    rows,
    skipped: [],
    soak: { ...soak, before: footprint, after: footprint, left, grownKib: 12 },
  };
}

function reportOf(run: Run): Report<LifecycleRun> {
  const { startedAt, durationMs, hardware, timer } = fakeReport();
  const head = { schema: lifecycle.schema, startedAt, durationMs, hardware, timer, options: {} };
  return { ...head, targets: judge(run), warnings: warningsOf(run), ...run };
}

const verdicts = (run: Run) => Object.fromEntries(judge(run).map(({ id, verdict }) => [id, verdict]));

test('meets all targets in a fast run, and misses the targets of time in a slow run', () => {
  expect(new Set(Object.values(verdicts(recorded(0.01))))).toEqual(new Set(['met']));
  const missed = Object.entries(verdicts(recorded(300))).filter(([, verdict]) => verdict === 'missed');
  expect(missed.map(([id]) => id)).toEqual([...Array.from({ length: 13 }, (_, index) => `C${index + 1}`), 'C15']);
});

test('has no figure for a row with a failure, and misses 100 %', () => {
  const run = recorded(0.01);
  const row = run.rows.find(({ operation, n, megabytes }) => operation === 'clone' && n === 100 && megabytes === 10);
  if (row) row.runs = { total: 300, right: 299, successRate: 299 / 300, failures: { 'output "x"': 1 } };
  const seen = verdicts(run);
  expect(seen).toMatchObject({ C9: 'met', C10: 'unmeasured', C16: 'missed' });
  expect(warningsOf(run)).toEqual(['clone, 10 MB dirty, 100: 1 of 300 failed: output "x"']);
});

test('adds up the resources that a soak leaves behind, and ignores decreases', () => {
  const run = recorded(0.01);
  if (run.soak && 'left' in run.soak) run.soak.left = { runtimes: 0, processes: 0, descriptors: 1, files: -1, mappings: 40 };
  expect(judge(run).find(({ id }) => id === 'C17')).toMatchObject({ measured: 1, verdict: 'missed' });
});

test('compares ten at once with one of equal size', () => {
  const ratios = tenAgainstOne(recorded(1).rows);
  expect(ratios.map(({ name }) => name)).toContain('rollback, 100 MB dirty');
  for (const { ratio } of ratios) expect(ratio).toBeCloseTo(2.5, 6);
});

test('shows measures, facts, and published figures with their class of isolation', () => {
  const report = reportOf(recorded(1));
  const tables = Object.fromEntries(tablesOf(lifecycle, report).map((table) => [table.title.split(/[ :,]/)[0] ?? '', table]));
  expect(Object.keys(tables)).toEqual(['Operations', 'Facts', 'Ten', 'Soak', 'Published', 'Floors', 'Targets']);
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

test('compares two runs', () => {
  const names = expectComparable(reportOf(recorded(1)));
  expect(names).toEqual(expect.arrayContaining(['rollback 100 MB dirty 1, first answer', 'clone fresh 100, clone, wall']));
  const { comparisons } = compareReports(reportOf(recorded(1)), reportOf(recorded(2)));
  expect(slowerThan(comparisons, 1.9)).toEqual(comparisons.filter(({ isFloor }) => !isFloor));
});

test('renders a page without outside assets, even for a run without results', () => {
  const page = renderPage(lifecycle, reportOf(recorded(1)));
  expect(page).not.toMatch(/(src|href)=|@import|url\(|<script|NaN|Infinity|undefined/);
  expect(page.match(/<svg /g)).toHaveLength(3);
  expect(isWellNested(page)).toBe(true);
  const empty = renderPage(lifecycle, reportOf({ floors: {}, rows: [], skipped: [] }));
  expect(empty).toContain('unmeasured');
  expect(empty).not.toMatch(/NaN|Infinity/);
});

test('counts failures of one kind together, regardless of their names and numbers', () => {
  const [plan] = planRows(['create'], true);
  if (!plan) throw new Error('no plan');
  const failures = ['no snapshot snap-abc', 'no snapshot snap-def', 'output "0123456789ab 5"', 'output "ba9876543210 5"'];
  const row = summarizeRounds(plan, [{ timings: {}, attempts: 9, failures, facts: {} }], []);
  expect(row.runs).toEqual({ total: 9, right: 5, successRate: 5 / 9, failures: { 'no snapshot snap-…': 2, 'output "… 5"': 2 } });
});
