// Compares the statistics with separately calculated values.

import { expect, test } from 'vitest';
import { ratioOfMedians, relativeError } from '../src/statistics/noise.js';
import { percentile, quarterMedians, ratioOf, scale, summarize } from '../src/statistics/statistics.js';
import { timerDoubt, timerResolution } from '../src/statistics/timer.js';

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

test('returns the sample of the nearest rank as a percentile', () => {
  expect(percentile(upTo(100), 50)).toBe(50);
  expect(percentile(upTo(100), 95)).toBe(95);
  expect(percentile(upTo(100), 99)).toBe(99);
  expect(percentile(upTo(5), 95)).toBe(5);
  expect(percentile(upTo(4), 50)).toBe(2);
  expect(percentile([7], 1)).toBe(7);
  expect(() => percentile([], 50)).toThrow(RangeError);
});

test('summarizes samples in any order, and keeps its input', () => {
  const samples = [5, 1, 4, 2, 3, 100, 2];
  const copy = [...samples];
  expect(summarize(samples)).toEqual({ count: 7, mean: 117 / 7, p50: 3, p95: 100, p99: 100, min: 1, max: 100, mad: 1 });
  expect(samples).toEqual(copy);
});

test('sorts samples as numbers', () => {
  expect(summarize([10, 9, 100])).toMatchObject({ min: 9, p50: 10, max: 100 });
});

test('returns no summary for no samples', () => {
  expect(summarize([])).toBeNull();
});

test('estimates less noise for more samples, and more noise for a larger spread', () => {
  const error = relativeError({ mad: 1, p50: 10, count: 100 });
  expect(error).toBeCloseTo(0.1 * 1.2533 * 1.4826 * 0.1, 6);
  expect(relativeError({ mad: 1, p50: 10, count: 400 })).toBeCloseTo(error / 2, 6);
  expect(relativeError({ mad: 2, p50: 10, count: 100 })).toBeCloseTo(error * 2, 6);
});

test('divides the median of b by the median of a', () => {
  const statistics = (p50: number) => ({ count: 100, mean: p50, p50, p95: p50, p99: p50, min: p50, max: p50, mad: p50 / 10 });
  const { ratio, noise } = ratioOfMedians(statistics(2), statistics(3));
  expect(ratio).toBe(1.5);
  expect(noise).toBeCloseTo(2 * 1.5 * Math.SQRT2 * 0.1 * 0.1 * 1.2533 * 1.4826, 6);
});

test('returns the smallest step of a clock as its resolution', () => {
  let calls = 0;
  expect(timerResolution(() => Math.floor(calls++ / 3) * 0.25)).toBe(0.25);
  expect(timerResolution()).toBeLessThan(0.01);
});

test.each([
  ['zero-dominated', [...new Array(30).fill(0), ...upTo(10)]],
  ['low-distinct', upTo(40).map((value) => value % 2)],
  ['zero-mad', [...new Array(30).fill(5), ...upTo(20).map((value) => 5 + value)]],
  ['few-ticks', upTo(40).map((value) => value / 1000)],
  [undefined, upTo(40)],
  [undefined, [0, 0, 0]],
])('doubts the clock: %s', (doubt, samples) => {
  expect(timerDoubt(samples, 0.01)).toBe(doubt);
});

test('scales all statistics but the count', () => {
  const statistics = summarize([1, 2, 3, 4]);
  expect(statistics && scale(statistics, 1_000)).toEqual(summarize([1_000, 2_000, 3_000, 4_000]));
});

test('returns no ratio without both values', () => {
  expect([ratioOf(6, 3), ratioOf(undefined, 3), ratioOf(6, undefined), ratioOf(6, 0)]).toEqual([
    2,
    undefined,
    undefined,
    undefined,
  ]);
});

test('returns the medians of quarters, and ignores calls without a time', () => {
  expect(quarterMedians([1, 2, 3, 4, 5, 6, 7, 8])).toEqual([1, 3, 5, 7]);
  expect(quarterMedians([1, undefined, undefined, undefined, 9])).toEqual([1, 9]);
});
