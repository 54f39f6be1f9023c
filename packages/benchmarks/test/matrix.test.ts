// The matrix on adapters that behave, lie, throw and hang: what it counts, what it refuses to count, and that it always ends.

import { expect, test } from 'vitest';
import { readKnobs, SCENARIOS } from '../src/config/knobs.js';
import { anotherFits, Budget } from '../src/matrix/budget.js';
import { runMatrix } from '../src/matrix/matrix.js';
import { planRows, type RowPlan } from '../src/matrix/plan.js';
import { runRow } from '../src/matrix/row.js';
import { makeSnippets, takeSample } from '../src/matrix/sample.js';
import type { ScenarioAdapter } from '../src/scenarios/adapter.js';
import { makeSnippet, whatIsWrong } from '../src/scenarios/snippet.js';
import { type FakeOptions, fakeAdapter } from './helpers/fake-adapter.js';

const plan = (change: Partial<RowPlan> = {}): RowPlan => ({
  scenario: 'shared-sidecar',
  batchSize: 5,
  mode: 'sequential',
  iterations: 2,
  warmup: 1,
  concurrency: 1,
  ...change,
});

const row = async (options: FakeOptions, change: Partial<RowPlan> = {}, budgetMs = 60_000) => {
  const { adapter, counters } = fakeAdapter(options);
  return { result: await runRow(adapter, plan(change), budgetMs, 2), counters };
};

test('a right row: all samples, phases of both snippets, everything closed', async () => {
  const { result, counters } = await row({});
  expect(result.runs).toEqual({ total: 20, right: 20, successRate: 1, failures: {} });
  expect(result.iterations).toBe(2);
  expect(result.samples.coldMs).toHaveLength(10);
  expect(result.coldStart?.count).toBe(10);
  expect(result.samples.batchWallMs).toHaveLength(2);
  expect(result.amortised?.mean).toBeGreaterThanOrEqual(result.coldStart?.min ?? Number.NaN);
  expect(Object.keys(result.phases).sort()).toEqual(['first_exec', 'vm_create']);
  expect(Object.keys(result.warmPhases)).toEqual(['warm_exec']);
  expect(result.sidecarSetupMs).toBeGreaterThanOrEqual(0);
  expect(result.firstColdMs).toBeGreaterThan(0);
  expect(counters).toMatchObject({ live: 0, mostLive: 1, opened: 1, closed: 1 });
});

test('cold holds the provisioning, and no sample is below what was really waited', async () => {
  const { result } = await row({ startMs: 20 });
  expect(result.coldStart?.min).toBeGreaterThan(19);
  expect(result.warmStart?.p50).toBeLessThan(10);
});

test('a wrong output is no success and its latency is not counted', async () => {
  // Every fifth run answers with another run's output, as a mixed-up channel would.
  const { result } = await row({ answer: (right, run) => (run % 5 === 0 ? { ...right, stdout: '0123456789ab 42\n' } : right) });
  expect(result.runs).toMatchObject({ total: 20, right: 16, successRate: 0.8 });
  expect(result.samples.coldMs.length + result.samples.warmMs.length).toBe(16);
  expect(Object.keys(result.runs.failures)[0]).toContain('output "…" instead of "…"');
});

test.each([
  ['a missing newline', (stdout: string) => stdout.trimEnd()],
  ['an empty output', () => ''],
  ['a doubled output', (stdout: string) => stdout + stdout],
])('%s is caught', async (_name, change) => {
  const { result } = await row({ answer: (right) => ({ ...right, stdout: change(right.stdout) }) });
  expect(result.runs.successRate).toBe(0);
  expect(result.coldStart).toBeNull();
  expect(result.warmStart).toBeNull();
});

test('a right output with a wrong exit code is caught', async () => {
  const { result } = await row({ answer: (right) => ({ ...right, exitCode: 1 }) });
  expect(result.runs).toMatchObject({ right: 0, failures: { 'first snippet: exit code 1 instead of 0': 10 } });
});

test('snippets differ from run to run, and an answer to another one is wrong', () => {
  const [one, other] = [makeSnippet(), makeSnippet()];
  expect(one.code).not.toBe(other.code);
  expect(whatIsWrong(one, { stdout: one.stdout, exitCode: 0 })).toBeUndefined();
  expect(whatIsWrong(one, { stdout: other.stdout, exitCode: 0 })).toMatch(/^output /);
});

test('a start that throws fails both runs of its runtime and none of the others', async () => {
  const { result, counters } = await row({
    start: async (runtime) => {
      if (runtime === 7) throw new Error('no memory');
    },
  });
  expect(result.runs).toMatchObject({ total: 20, right: 18, failures: { 'Error: no memory': 1 } });
  expect(counters.closed).toBe(1);
});

test('a runtime that never answers ends at the deadline and is disposed of', async () => {
  const { adapter, counters } = fakeAdapter({ answer: () => new Promise(() => {}) });
  const sample = await takeSample(adapter, await adapter.open(), makeSnippets(), 50);
  expect(sample.failures).toEqual(['DeadlineError: a runtime took longer than 50 ms']);
  expect(sample.coldMs).toBeUndefined();
  expect(counters.live).toBe(0);
});

test('a concurrent row fills its width and never exceeds it', async () => {
  const { counters } = await row({ startMs: 5 }, { batchSize: 20, mode: 'concurrent', concurrency: 4 });
  expect(counters).toMatchObject({ mostLive: 4, live: 0 });
});

test('a row out of time stops early, says so, and still has a sample', async () => {
  const { result } = await row({ startMs: 30 }, { batchSize: 10, iterations: 50, warmup: 0 }, 100);
  expect(result.iterations).toBeLessThan(50);
  expect(result.samples.coldMs.length).toBeGreaterThan(0);
  expect(result.notes.join()).toMatch(/time/);
});

test('the plan: all rows, 100 samples or ten batches, the lower of both caps', () => {
  const rows = planRows(readKnobs({}));
  expect(rows).toHaveLength(SCENARIOS.length * 5 * 2);
  const of = (batchSize: number, mode: string) => rows.find((each) => each.batchSize === batchSize && each.mode === mode);
  expect(of(1, 'sequential')).toMatchObject({ iterations: 100, concurrency: 1 });
  expect(of(1, 'concurrent')?.concurrency).toBe(1);
  expect(of(200, 'concurrent')).toMatchObject({ iterations: 10, concurrency: 8 });
  const wide = planRows(readKnobs({ BENCH_MAX_LIVE: '100', BENCH_ITERATIONS: '2' }));
  expect(wide.at(-1)).toMatchObject({ iterations: 2, concurrency: 16 });
});

test('the budget follows the weights, and what is not used goes to later rows', () => {
  let time = 0;
  const rows = [plan({ batchSize: 90 }), plan({ batchSize: 10 }), plan({ batchSize: 10 })];
  const budget = new Budget(
    1000,
    () => 100,
    () => time,
  );
  const share = budget.shareOfFirst(rows);
  expect(share).toBeGreaterThan(700);
  expect(share).toBeLessThan(850);
  time = 100;
  expect(budget.shareOfFirst(rows.slice(1))).toBeCloseTo(450, 5);
  time = 2000;
  expect(budget.leftMs).toBe(0);
});

test('another batch fits if the usual one does, whatever a single disturbed one took', () => {
  const batches = (...walls: number[]) => walls.map((wallMs) => ({ wallMs }));
  expect(anotherFits(batches(10, 10, 500), 100)).toBe(true);
  expect(anotherFits(batches(200, 200, 10), 100)).toBe(false);
  expect(anotherFits(batches(0), 0)).toBe(false);
});

test('a scenario that cannot be opened is skipped with its reason; the others are measured', async () => {
  const good = fakeAdapter().adapter;
  const broken: ScenarioAdapter = { ...good, open: () => Promise.reject(new Error('no binary')) };
  const adapters = {
    'owned-sidecar': good,
    'shared-sidecar': good,
    'resident-runner': good,
    embedded: broken,
    'embedded-inline': broken,
  };
  const rows = planRows(readKnobs({ BENCH_BATCH_SIZES: '2', BENCH_ITERATIONS: '1' }));
  const lines: number[] = [];
  const events = { rowStarts: (_row: RowPlan, _index: number, etaMs: number) => lines.push(etaMs), rowEnds: () => {} };
  const { results, skipped } = await runMatrix(rows, adapters, new Budget(10_000, () => 1), 2, events);
  expect(results).toHaveLength(6);
  expect(skipped).toHaveLength(4);
  expect(skipped[0]).toMatchObject({ scenario: 'embedded', batchSize: 2, reason: 'Error: no binary' });
  expect(lines).toEqual([...lines].sort((a, b) => b - a));
});

test('with no time left every row is skipped', async () => {
  const { adapter } = fakeAdapter();
  const adapters = Object.fromEntries(SCENARIOS.map((name) => [name, adapter])) as Record<
    (typeof SCENARIOS)[number],
    ScenarioAdapter
  >;
  const events = { rowStarts: () => {}, rowEnds: () => {} };
  const { results, skipped } = await runMatrix([plan()], adapters, new Budget(0, () => 1), 2, events);
  expect(results).toEqual([]);
  expect(skipped[0]?.reason).toContain('BENCH_BUDGET_SECONDS');
});
