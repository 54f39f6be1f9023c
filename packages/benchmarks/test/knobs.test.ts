// Every knob: its default, what it takes, and what is said about what it does not take.

import { expect, test } from 'vitest';
import { readFlags } from '../src/config/flags.js';
import { readKnobs } from '../src/config/knobs.js';
import { positiveNumber } from '../src/config/parse.js';

test('defaults', () => {
  expect(readKnobs({ PATH: '/bin', BENCH_WARMUP: '' })).toEqual({
    batchSizes: [1, 10, 50, 100, 200],
    iterations: undefined,
    warmup: 1,
    scenarios: ['owned-sidecar', 'shared-sidecar', 'resident-runner', 'embedded', 'embedded-inline'],
    maxConcurrency: 16,
    maxLive: 8,
    budgetSeconds: 270,
    density: 1000,
    floorSamples: 40,
  });
});

test('values', () => {
  const knobs = readKnobs({
    BENCH_BATCH_SIZES: '1, 20',
    BENCH_ITERATIONS: '3',
    BENCH_WARMUP: '0',
    BENCH_SCENARIOS: 'embedded,owned-sidecar',
    BENCH_MAX_CONCURRENCY: '4',
    BENCH_MAX_LIVE: '2',
    BENCH_BUDGET_SECONDS: '60',
    BENCH_DENSITY: '0',
    BENCH_FLOOR_SAMPLES: '10',
  });
  expect(knobs).toMatchObject({ batchSizes: [1, 20], iterations: 3, warmup: 0, scenarios: ['embedded', 'owned-sidecar'] });
  expect(knobs).toMatchObject({ maxConcurrency: 4, maxLive: 2, budgetSeconds: 60, density: 0, floorSamples: 10 });
});

test.each([
  ['BENCH_BATCH_SIZES', '1,x', 'BENCH_BATCH_SIZES: expected a whole number from 1 to 10000, got "x"'],
  ['BENCH_BATCH_SIZES', '1,,2', 'got ""'],
  ['BENCH_BATCH_SIZES', '5,5', 'BENCH_BATCH_SIZES: expected each value once, got "5,5"'],
  ['BENCH_BATCH_SIZES', '0', 'from 1 to 10000, got "0"'],
  ['BENCH_ITERATIONS', '1.5', 'BENCH_ITERATIONS: expected a whole number from 1 to 100000, got "1.5"'],
  ['BENCH_ITERATIONS', '1e3', 'got "1e3"'],
  ['BENCH_WARMUP', '-1', 'got "-1"'],
  ['BENCH_SCENARIOS', 'owned', 'BENCH_SCENARIOS: expected names out of owned-sidecar, shared-sidecar'],
  ['BENCH_MAX_CONCURRENCY', '0', 'BENCH_MAX_CONCURRENCY: expected a whole number from 1'],
  ['BENCH_BUDGET_SECONDS', '5', 'from 10 to 86400, got "5"'],
])('%s=%s is refused', (name, value, message) => {
  expect(() => readKnobs({ [name]: value })).toThrow(message);
});

test('a misspelt knob is refused and the known ones are listed', () => {
  expect(() => readKnobs({ BENCH_ITERATION: '3' })).toThrow(/unknown knob BENCH_ITERATION; known are BENCH_BATCH_SIZES, /);
});

test('flags: values, positionals, a passed-on --, unknown ones', () => {
  const none = { min: 0, max: 0 };
  expect(readFlags(['--', '--out=a.json', '--report', 'b.html'], ['out', 'report'], none).values).toMatchObject({
    out: 'a.json',
    report: 'b.html',
  });
  expect(readFlags(['a', 'b'], ['x'], { min: 2, max: 2 }).positionals).toEqual(['a', 'b']);
  expect(readFlags(['--help'], [], { min: 2, max: 2 }).help).toBe(true);
  expect(() => readFlags(['--outt', 'a'], ['out'], none)).toThrow("Unknown option '--outt'");
  expect(() => readFlags(['a'], [], { min: 2, max: 2 })).toThrow('expected 2 arguments besides flags, got 1: ["a"]');
});

test('a ratio is a number above 0', () => {
  expect(positiveNumber('--fail-above', '1.25')).toBe(1.25);
  for (const text of ['0', '-1', 'x', '', 'Infinity']) {
    expect(() => positiveNumber('--fail-above', text)).toThrow(`--fail-above: expected a number above 0, got "${text}"`);
  }
});
