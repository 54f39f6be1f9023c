// Tests the gate without a sandbox: comparisons, rounds, further attempts, and the baseline.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Baseline, machineDifferences, readBaseline, writeBaseline } from '../src/gate/baseline.js';
import { baselineOf, type GateOptions, type GateSetup, gateBenchmark, measureGate } from '../src/gate/benchmark.js';
import { measureRounds, type OpenRow } from '../src/gate/rounds.js';
import { type GateRow, gateRows } from '../src/gate/rows.js';
import { bestAttempt, FEWEST_ROUNDS, judgeRow, passes } from '../src/gate/verdict.js';
import { describeHardware } from '../src/machine/hardware.js';
import { operations } from '../src/matrix/operations/index.js';
import { type Statistics, scale, summarize } from '../src/statistics/statistics.js';
import { measureBenchmark } from '../src/suite/measure.js';
import { isComplete, outcomesOf } from '../src/suite/outcomes.js';
import { tablesOf } from '../src/suite/report.js';
import { expectComparable } from './helpers/comparable.js';
import { silent } from './helpers/conditions.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coldframe-gate-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const summary = (samples: readonly number[]): Statistics => {
  const statistics = summarize(samples);
  if (!statistics) throw new Error('expected samples');
  return statistics;
};

/** The figures of enough rounds without noise. */
const exactly = (value: number): Statistics => summary(Array.from({ length: FEWEST_ROUNDS }, () => value));

/** Rounds whose values differ by at most 12 % from a value. */
const roundsAround = (value: number) =>
  fc
    .array(fc.double({ min: 0.88, max: 1.12, noNaN: true }), { minLength: 21, maxLength: 60 })
    .map((factors) => factors.map((factor) => factor * value));

const positive = fc.double({ min: 1e-3, max: 1e3, noNaN: true });
const threshold = fc.double({ min: 1.05, max: 3, noNaN: true });

test('a run never regresses against itself', () => {
  fc.assert(
    fc.property(fc.array(positive, { minLength: 1, maxLength: 40 }), threshold, (samples, limit) => {
      expect(judgeRow(summary(samples), summary(samples), limit)).toMatchObject({ verdict: 'same', ratio: 1 });
    }),
  );
});

test('rounds within 12 % of one value never regress at a threshold of 1.3', () => {
  fc.assert(
    fc.property(roundsAround(1), roundsAround(1), (current, baseline) => {
      expect(judgeRow(summary(current), summary(baseline), 1.3).verdict).toBe('same');
    }),
  );
});

test('a row that takes twice the time always regresses at a threshold of 1.3', () => {
  fc.assert(
    fc.property(roundsAround(2), roundsAround(1), (current, baseline) => {
      expect(judgeRow(summary(current), summary(baseline), 1.3).verdict).toBe('regressed');
    }),
  );
});

test('a comparison does not depend on the unit of the values', () => {
  fc.assert(
    fc.property(roundsAround(1), roundsAround(1.4), fc.integer({ min: -20, max: 20 }), threshold, (a, b, power, limit) => {
      const [baseline, current] = [summary(a), summary(b)];
      // A power of two changes no digit of a number.
      const scaled = judgeRow(scale(current, 2 ** power), scale(baseline, 2 ** power), limit);
      expect(scaled).toEqual(judgeRow(current, baseline, limit));
    }),
  );
});

test('a slower row has no better result', () => {
  const rank = ['faster', 'same', 'unsure', 'regressed'];
  fc.assert(
    fc.property(
      roundsAround(1),
      roundsAround(1),
      fc.double({ min: 1, max: 4, noNaN: true }),
      threshold,
      (a, b, factor, limit) => {
        const [baseline, current] = [summary(a), summary(b)];
        const [before, after] = [current, scale(current, factor)].map((each) =>
          rank.indexOf(judgeRow(each, baseline, limit).verdict),
        );
        expect(after).toBeGreaterThanOrEqual(before ?? 0);
      },
    ),
  );
});

test('without noise, a row regresses exactly above its threshold', () => {
  fc.assert(
    fc.property(positive, threshold, (ratio, limit) => {
      expect(judgeRow(exactly(ratio), exactly(1), limit).verdict === 'regressed').toBe(ratio > limit);
    }),
  );
});

test('a ratio whose noise reaches the threshold is unsure', () => {
  expect(judgeRow(summary([1, 1, 1.5, 4, 4]), exactly(1), 1.3)).toMatchObject({ verdict: 'unsure', ratio: 1.5 });
});

test('fewer than five rounds, of the run or of the baseline, never regress', () => {
  fc.assert(
    fc.property(fc.array(positive, { minLength: 1, maxLength: FEWEST_ROUNDS - 1 }), positive, threshold, (few, value, limit) => {
      for (const { verdict } of [judgeRow(summary(few), exactly(value), limit), judgeRow(exactly(value), summary(few), limit)]) {
        expect(['same', 'unsure']).toContain(verdict);
      }
    }),
  );
});

test('a row without a baseline is new, and a row without a figure has failed', () => {
  expect(judgeRow(exactly(1), undefined, 1.3).verdict).toBe('new');
  expect(judgeRow(null, exactly(1), 1.3).verdict).toBe('failed');
  expect((['same', 'faster', 'unsure', 'new', 'regressed', 'failed', 'missing'] as const).filter(passes)).toEqual([
    'same',
    'faster',
    'unsure',
    'new',
  ]);
});

test('the attempt with the lowest ratio counts', () => {
  const attempts = fc.array(fc.option(positive), { minLength: 1 });
  fc.assert(
    fc.property(attempts, (ratios) => {
      const [first, ...others] = ratios.map((ratio) => ({ verdict: 'same' as const, ratio, noise: 0 }));
      if (!first) throw new Error('expected an attempt');
      const measured = ratios.filter((ratio) => ratio !== null);
      expect(bestAttempt([first, ...others]).ratio).toBe(measured.length === 0 ? null : Math.min(...measured));
    }),
  );
});

test('each row names an operation of the matrix, once', () => {
  expect(new Set(gateRows.map(({ name }) => name)).size).toBe(gateRows.length);
  const names = operations.map(({ name }) => name);
  expect(gateRows.filter(({ operation }) => !names.includes(operation))).toEqual([]);
  expect(gateRows.filter((row) => row.threshold <= 1)).toEqual([]);
});

const openRow = (name: string, times: () => number, floor: () => number = () => 1): OpenRow => ({
  name,
  sample: async () => ({ samples: [times()], failures: [] }),
  floor: async () => floor(),
});

const ROUNDS = { rounds: 6, warmup: 1, sliceMs: 1, floorSamples: 2, deadline: Number.POSITIVE_INFINITY };

test('divides each round by the floor of the round, so a slower machine changes no value', async () => {
  let round = 0;
  const speed = () => (round > 8 ? 10 : 1);
  const row = openRow(
    'a',
    () => {
      round++;
      return 6 * speed();
    },
    () => 3 * speed(),
  );
  const [figures] = await measureRounds([row], { ...ROUNDS, rounds: 20 });
  expect(figures?.value).toMatchObject({ count: 20, p50: 2 });
  expect(figures?.operationMs?.max).toBe(60);
});

test('interleaves the rows and begins each round with another row', async () => {
  const order: string[] = [];
  const logged = (name: string) => openRow(name, () => order.push(name) && 1);
  await measureRounds([logged('a'), logged('b'), logged('c')], { ...ROUNDS, warmup: 0, rounds: 3 });
  expect(order.join('')).toBe('abcbcacab');
});

test('a row with a wrong call has no value', async () => {
  const wrong: OpenRow = { ...openRow('a', () => 1), sample: async () => ({ samples: [1], failures: ['wrong'] }) };
  const broken: OpenRow = { ...openRow('b', () => 1), sample: () => Promise.reject(new Error('gone')) };
  const [a, b] = await measureRounds([wrong, broken], ROUNDS);
  expect(a).toMatchObject({ value: null, runs: { total: 12, right: 6, failures: { wrong: 6 } } });
  expect(b).toMatchObject({ value: null, runs: { right: 0 } });
});

const OPTIONS: GateOptions = {
  baseline: 'unused',
  update: false,
  only: '',
  rounds: FEWEST_ROUNDS,
  attempts: 3,
  budgetSeconds: 60,
  quick: true,
};

const ALLOWANCE = { budgetMs: 60_000, progress: () => {} };

const baselineWith = (values: Record<string, number>): Baseline => ({
  schema: 'coldframe-gate-baseline/1',
  measuredAt: '2026-01-01',
  hardware: { cpu: 'a', cores: 2, kernel: 'b', node: 'c' },
  rows: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { threshold: 1.3, value: exactly(value) }])),
});

const setupWith = (rows: readonly OpenRow[], values: Record<string, number>, options: Partial<GateOptions> = {}): GateSetup => ({
  rows: rows.map((open): GateRow & { open: OpenRow } => ({
    name: open.name,
    operation: 'exec',
    side: 'shared',
    floor: 'computation',
    threshold: 1.3,
    open,
  })),
  baseline: baselineWith(values),
  differences: [],
  options: { ...OPTIONS, ...options },
});

test('measures a slower row again, and fails if the row stays slower', async () => {
  const { rows } = await measureGate(setupWith([openRow('a', () => 2), openRow('b', () => 1)], { a: 1, b: 1 }), ALLOWANCE);
  expect(rows).toMatchObject([
    { name: 'a', verdict: 'regressed', ratio: 2, attempts: [2, 2, 2] },
    { name: 'b', verdict: 'same', attempts: [1] },
  ]);
});

test('passes a row that was slower only once', async () => {
  let calls = 0;
  const { rows } = await measureGate(setupWith([openRow('a', () => (++calls <= FEWEST_ROUNDS ? 9 : 1))], { a: 1 }), ALLOWANCE);
  expect(rows).toMatchObject([{ verdict: 'same', ratio: 1, attempts: [9, 1] }]);
});

test('uses the threshold of the baseline', async () => {
  const setup = setupWith([openRow('a', () => 2)], { a: 1 });
  if (setup.baseline?.rows['a']) setup.baseline.rows['a'].threshold = 2.5;
  expect((await measureGate(setup, ALLOWANCE)).rows).toMatchObject([{ verdict: 'same', threshold: 2.5 }]);
});

test('fails for a missing row, unless rows were chosen or the baseline is updated', async () => {
  const row = openRow('a', () => 1);
  const missing = async (options: Partial<GateOptions>) =>
    (await measureGate(setupWith([row], { a: 1, b: 1 }, options), ALLOWANCE)).missing;
  expect(await missing({})).toEqual(['b']);
  expect(await missing({ only: 'a' })).toEqual([]);
  expect(await missing({ update: true })).toEqual([]);
});

test('is incomplete for a regression, and lists the regressed rows in a table', async () => {
  const measure = async (time: number) => {
    const setup = setupWith([openRow('a', () => time), openRow('b', () => 1)], { a: 1, b: 1 });
    return measureBenchmark(gateBenchmark, setup.options, setup, silent);
  };
  const [good, bad] = [await measure(1), await measure(2)];
  expect(isComplete(outcomesOf(gateBenchmark, good), good.skipped)).toBe(true);
  expect(isComplete(outcomesOf(gateBenchmark, bad), bad.skipped)).toBe(false);
  expect(outcomesOf(gateBenchmark, bad)[0]?.failure).toBe('regressed: 2.00 × its baseline, ± 0.00, above 1.3');
  const titles = (run: typeof good) => tablesOf(gateBenchmark, { ...run, targets: [] }).map(({ title }) => title);
  expect(titles(good)).not.toContain('Regressed');
  expect(titles(bad)).toContain('Regressed');
  expect(expectComparable({ ...good, schema: gateBenchmark.schema })).toEqual(['a', 'a, floor', 'b', 'b, floor']);
});

test('writes a baseline that reads as written, and keeps thresholds and other rows', () => {
  const path = join(folder, 'baseline.json');
  const before = baselineWith({ a: 1, other: 3 });
  if (before.rows['a']) before.rows['a'].threshold = 2;
  const head = { startedAt: '2026-02-02', hardware: describeHardware() };
  const after = baselineOf(
    [
      { name: 'a', threshold: 1.4, value: exactly(5) },
      { name: 'b', threshold: 1.5, value: exactly(7) },
    ],
    head,
    before,
  );
  writeBaseline(path, after);
  expect(readBaseline(path)).toEqual(after);
  expect(Object.entries(after.rows).map(([name, row]) => [name, row.threshold, row.value.p50])).toEqual([
    ['a', 2, 5],
    ['other', 1.3, 3],
    ['b', 1.5, 7],
  ]);
  expect(machineDifferences(after, head.hardware)).toEqual([]);
  expect(machineDifferences(before, { ...head.hardware, cpu: 'x', cores: 2, kernel: 'b', node: 'c' })).toEqual(['cpu a is x']);
});

test('refuses to update the baseline with a row that has no figure or too few rounds', () => {
  const head = { startedAt: '', hardware: describeHardware() };
  expect(() => baselineOf([{ name: 'a', threshold: 1.4, value: null }], head, undefined)).toThrow(
    'the baseline was not updated: a has no figure',
  );
  expect(() => baselineOf([{ name: 'a', threshold: 1.4, value: summary([1]) }], head, undefined)).toThrow(
    'a has 1 rounds, at least 5 are needed',
  );
});

test('names the file of a broken baseline', () => {
  const path = join(folder, 'broken.json');
  writeFileSync(path, '{"schema":"x"}');
  expect(() => readBaseline(path)).toThrow(/broken\.json: expected a baseline of bench:gate: .*coldframe-gate-baseline\/1/);
  writeFileSync(path, '{');
  expect(() => readBaseline(path)).toThrow('expected a baseline of bench:gate');
  expect(readBaseline(join(folder, 'missing.json'))).toBeUndefined();
});
