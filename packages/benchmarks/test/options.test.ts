// Tests options: the defaults, the accepted values, and the errors for other values.

import { expect, test } from 'vitest';
import { benchmarks } from '../src/benchmarks.js';
import { coldstartOptions } from '../src/coldstart/options.js';
import { density } from '../src/density/benchmark.js';
import {
  describeOptions,
  flagNames,
  positiveNumber,
  readFlags,
  readOptions,
  switchNames,
  switchOption,
} from '../src/suite/options.js';

const readKnobs = (env: Record<string, string>) => readOptions(coldstartOptions, { flags: {}, env });

test('uses the defaults of variables that are not set', () => {
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

test('reads the values of variables', () => {
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
])('refuses %s=%s', (name, value, message) => {
  expect(() => readKnobs({ [name]: value })).toThrow(message);
});

test('refuses a misspelt variable and lists the known ones', () => {
  expect(() => readKnobs({ BENCH_ITERATION: '3' })).toThrow(/unknown knob BENCH_ITERATION; known are BENCH_BATCH_SIZES, /);
});

test('reads flags with values, positionals and a leading --, and refuses unknown flags', () => {
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

test('accepts a ratio above 0 only', () => {
  expect(positiveNumber('--fail-above', '1.25')).toBe(1.25);
  for (const text of ['0', '-1', 'x', '', 'Infinity']) {
    expect(() => positiveNumber('--fail-above', text)).toThrow(`--fail-above: expected a number above 0, got "${text}"`);
  }
});

test('uses the quick values of options in the quick form, and given values in both forms', () => {
  const read = (isQuick: boolean, flags = {}) => readOptions(density.options, { flags, env: { BENCH_X: '1' }, isQuick });
  expect(read(false)).toMatchObject({ counts: [1, 5, 10, 20, 100, 1_000, 10_000], hold: 1_000, budgetSeconds: 300 });
  expect(read(true)).toMatchObject({ counts: [1, 5, 20], hold: 20, budgetSeconds: 300 });
  expect(read(true, { counts: '7', kinds: 'clone' })).toMatchObject({ counts: [7], kinds: ['clone'], hold: 20 });
});

test('reads a flag without a value', () => {
  const options = { update: switchOption({ name: '--update', help: 'updates' }) };
  expect([flagNames(options), switchNames(options)]).toEqual([[], ['update']]);
  const read = (args: string[]) => {
    const { values, switches } = readFlags(args, flagNames(options), { min: 0, max: 0 }, switchNames(options));
    return readOptions(options, { flags: values, switches, env: {} });
  };
  expect([read([]), read(['--update'])]).toEqual([{ update: false }, { update: true }]);
  expect(() => read(['--update=yes'])).toThrow();
  expect(describeOptions(options, false)).toEqual(['--update  updates']);
});

test.each(benchmarks.map(({ name, options }) => [name, options] as const))('describes every option of %s', (_name, options) => {
  const lines = describeOptions(options, false);
  expect(lines.map((line) => line.split(/ +/)[0])).toEqual(Object.values(options).map((option) => option.name));
});
