// Tests the cold-start matrix with scenarios that work, reply wrongly, throw and hang. The tests
// check the counts, and that the matrix always ends.

import { expect, test } from 'vitest';
import { type ColdstartRun, coldstart } from '../src/coldstart/benchmark.js';
import { guessMs, matrix } from '../src/coldstart/matrix.js';
import { type ColdstartOptions, coldstartOptions } from '../src/coldstart/options.js';
import { planRows, type RowPlan } from '../src/coldstart/plan.js';
import { runRow } from '../src/coldstart/row.js';
import { makeSnippets, takeSample } from '../src/coldstart/sample.js';
import type { Scenario } from '../src/coldstart/scenario.js';
import { SCENARIO_NAMES, type ScenarioName } from '../src/coldstart/scenarios.js';
import { makeSnippet, problemOf } from '../src/sandbox/snippet.js';
import type { Benchmark } from '../src/suite/benchmark.js';
import { Budget } from '../src/suite/budget.js';
import { measureBenchmark } from '../src/suite/measure.js';
import { readOptions } from '../src/suite/options.js';
import { anotherFits } from '../src/suite/rounds.js';
import { type FakeOptions, fakeScenario } from './helpers/fake-scenario.js';

const readKnobs = (env: Record<string, string>): ColdstartOptions => readOptions(coldstartOptions, { flags: {}, env });

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
  const { scenario, counters } = fakeScenario(options);
  return { result: await runRow(scenario, plan(change), budgetMs, 2), counters };
};

test('has all samples and the phases of both snippets in a right row, and closes everything', async () => {
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

test('includes the provisioning in the cold time', async () => {
  const { result } = await row({ startMs: 20 });
  expect(result.coldStart?.min).toBeGreaterThan(19);
  expect(result.warmStart?.p50).toBeLessThan(10);
});

test('counts a wrong output as wrong, without its latency', async () => {
  // Every fifth run has the output of another run, as if a channel had confused two replies.
  const { result } = await row({ answer: (right, run) => (run % 5 === 0 ? { ...right, stdout: '0123456789ab 42\n' } : right) });
  expect(result.runs).toMatchObject({ total: 20, right: 16, successRate: 0.8 });
  expect(result.samples.coldMs.length + result.samples.warmMs.length).toBe(16);
  expect(Object.keys(result.runs.failures)[0]).toContain('output "…" instead of "…"');
});

test.each([
  ['a missing newline', (stdout: string) => stdout.trimEnd()],
  ['an empty output', () => ''],
  ['a doubled output', (stdout: string) => stdout + stdout],
])('detects %s', async (_name, change) => {
  const { result } = await row({ answer: (right) => ({ ...right, stdout: change(right.stdout) }) });
  expect(result.runs.successRate).toBe(0);
  expect(result.coldStart).toBeNull();
  expect(result.warmStart).toBeNull();
});

test('detects a right output with a wrong exit code', async () => {
  const { result } = await row({ answer: (right) => ({ ...right, exitCode: 1 }) });
  expect(result.runs).toMatchObject({ right: 0, failures: { 'first snippet: exit code 1 instead of 0': 10 } });
});

test('makes different snippets, and detects the output of another snippet', () => {
  const [one, other] = [makeSnippet(), makeSnippet()];
  expect(one.code).not.toBe(other.code);
  expect(problemOf(one, { stdout: one.stdout, exitCode: 0 })).toBeUndefined();
  expect(problemOf(one, { stdout: other.stdout, exitCode: 0 })).toMatch(/^output /);
});

test('fails both runs of a runtime whose start throws, and no other run', async () => {
  const { result, counters } = await row({
    start: async (runtime) => {
      if (runtime === 7) throw new Error('no memory');
    },
  });
  expect(result.runs).toMatchObject({ total: 20, right: 18, failures: { 'Error: no memory': 1 } });
  expect(counters.closed).toBe(1);
});

test('ends a runtime that never replies at the deadline, and disposes of the runtime', async () => {
  const { scenario, counters } = fakeScenario({ answer: () => new Promise(() => {}) });
  const sample = await takeSample(scenario, await scenario.open(), makeSnippets(), 50);
  expect(sample.failures).toEqual(['DeadlineError: a runtime took longer than 50 ms']);
  expect(sample.coldMs).toBeUndefined();
  expect(counters.live).toBe(0);
});

test('fills the width of a concurrent row, and never exceeds it', async () => {
  const { counters } = await row({ startMs: 5 }, { batchSize: 20, mode: 'concurrent', concurrency: 4 });
  expect(counters).toMatchObject({ mostLive: 4, live: 0 });
});

test('stops a row early when its time is short, with a note and at least one sample', async () => {
  const { result } = await row({ startMs: 30 }, { batchSize: 10, iterations: 50, warmup: 0 }, 100);
  expect(result.iterations).toBeLessThan(50);
  expect(result.samples.coldMs.length).toBeGreaterThan(0);
  expect(result.notes.join()).toMatch(/time/);
});

test('plans all rows with 100 samples or ten batches, and the lower limit of live runtimes', () => {
  const rows = planRows(readKnobs({}));
  expect(rows).toHaveLength(SCENARIO_NAMES.length * 5 * 2);
  const of = (batchSize: number, mode: string) => rows.find((each) => each.batchSize === batchSize && each.mode === mode);
  expect(of(1, 'sequential')).toMatchObject({ iterations: 100, concurrency: 1 });
  expect(of(1, 'concurrent')?.concurrency).toBe(1);
  expect(of(200, 'concurrent')).toMatchObject({ iterations: 10, concurrency: 8 });
  const wide = planRows(readKnobs({ BENCH_MAX_LIVE: '100', BENCH_ITERATIONS: '2' }));
  expect(wide.at(-1)).toMatchObject({ iterations: 2, concurrency: 16 });
});

test('shares the budget by weight, and leaves unused time to later rows', () => {
  let time = 0;
  const rows = [plan({ batchSize: 90 }), plan({ batchSize: 10 }), plan({ batchSize: 10 })].map((row) => ({
    guessMs: guessMs(row, 100),
  }));
  const budget = new Budget(1000, 0, () => time);
  const share = budget.shareOfFirst(rows);
  expect(share).toBeGreaterThan(700);
  expect(share).toBeLessThan(850);
  time = 100;
  expect(budget.shareOfFirst(rows.slice(1))).toBeCloseTo(450, 5);
  time = 2000;
  expect(budget.leftMs).toBe(0);
});

test('allots a short row its least share, but no more than a quarter of the time that is left', () => {
  const rows = [{ guessMs: 1 }, { guessMs: 999 }];
  const shareIn = (totalMs: number) => new Budget(totalMs, 50, () => 0).shareOfFirst(rows);
  expect([shareIn(1_000), shareIn(100), shareIn(100_000)]).toEqual([50, 25, 100]);
});

test('decides by the median batch whether another batch fits', () => {
  const batches = (...walls: number[]) => walls.map((wallMs) => ({ wallMs }));
  expect(anotherFits(batches(10, 10, 500), 100)).toBe(true);
  expect(anotherFits(batches(200, 200, 10), 100)).toBe(false);
  expect(anotherFits(batches(0), 0)).toBe(false);
});

/** Measures the matrix alone. Returns the run, and the expected time to the end before each row. */
async function runMatrix(options: ColdstartOptions, scenarios: Record<ScenarioName, Scenario>, budgetMs: number) {
  const etas: number[] = [];
  const alone: Benchmark<ColdstartOptions, Parameters<typeof matrix.open>[0], ColdstartRun> = {
    ...coldstart,
    sections: [matrix],
    floorSamples: () => 0,
    budgetMs: () => budgetMs,
  };
  const progress = { write: () => {}, row: ({ etaMs = 0 }) => void etas.push(etaMs) };
  const run = await measureBenchmark(alone, options, { options, scenarios, cores: 2 }, { floors: [], progress });
  return { ...run, etas };
}

test('skips a scenario that cannot be opened, and measures the others', async () => {
  const good = fakeScenario().scenario;
  const broken: Scenario = { ...good, open: () => Promise.reject(new Error('no binary')) };
  const scenarios = {
    'owned-sidecar': good,
    'shared-sidecar': good,
    'resident-runner': good,
    embedded: broken,
    'embedded-inline': broken,
  };
  const options = readKnobs({ BENCH_BATCH_SIZES: '2', BENCH_ITERATIONS: '1' });
  const { results, skipped, etas } = await runMatrix(options, scenarios, 10_000);
  expect(results).toHaveLength(6);
  expect(skipped).toHaveLength(4);
  expect(skipped[0]).toMatchObject({ scenario: 'embedded', batchSize: 2, reason: 'Error: no binary' });
  expect(etas).toHaveLength(10);
  expect(etas).toEqual([...etas].sort((a, b) => b - a));
});

test('skips every row when no time is left', async () => {
  const { scenario } = fakeScenario();
  const scenarios = Object.fromEntries(SCENARIO_NAMES.map((name) => [name, scenario])) as Record<ScenarioName, Scenario>;
  const { results, skipped } = await runMatrix(readKnobs({ BENCH_BATCH_SIZES: '5' }), scenarios, 0);
  expect(results).toEqual([]);
  expect(skipped[0]?.reason).toContain('BENCH_BUDGET_SECONDS');
});
