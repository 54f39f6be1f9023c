// Statistics against values worked out by hand.

import { expect, test } from 'vitest';
import { ratioOfMedians, relativeError } from '../src/stats/noise.js';
import { percentile, summarize } from '../src/stats/statistics.js';
import { timerDoubt, timerResolution } from '../src/stats/timer.js';

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

test('percentiles are the nearest rank, a sample that was measured', () => {
  expect(percentile(upTo(100), 50)).toBe(50);
  expect(percentile(upTo(100), 95)).toBe(95);
  expect(percentile(upTo(100), 99)).toBe(99);
  expect(percentile(upTo(5), 95)).toBe(5);
  expect(percentile(upTo(4), 50)).toBe(2);
  expect(percentile([7], 1)).toBe(7);
  expect(() => percentile([], 50)).toThrow(RangeError);
});

test('a summary does not depend on the order and does not change its input', () => {
  const samples = [5, 1, 4, 2, 3, 100, 2];
  const copy = [...samples];
  expect(summarize(samples)).toEqual({ count: 7, mean: 117 / 7, p50: 3, p95: 100, p99: 100, min: 1, max: 100, mad: 1 });
  expect(samples).toEqual(copy);
});

test('numbers are sorted as numbers', () => {
  expect(summarize([10, 9, 100])).toMatchObject({ min: 9, p50: 10, max: 100 });
});

test('no samples have no summary', () => {
  expect(summarize([])).toBeNull();
});

test('noise shrinks with the number of samples and grows with their spread', () => {
  const error = relativeError({ mad: 1, p50: 10, count: 100 });
  expect(error).toBeCloseTo(0.1 * 1.2533 * 1.4826 * 0.1, 6);
  expect(relativeError({ mad: 1, p50: 10, count: 400 })).toBeCloseTo(error / 2, 6);
  expect(relativeError({ mad: 2, p50: 10, count: 100 })).toBeCloseTo(error * 2, 6);
});

test('the ratio of medians is b over a', () => {
  const statistics = (p50: number) => ({ count: 100, mean: p50, p50, p95: p50, p99: p50, min: p50, max: p50, mad: p50 / 10 });
  const { ratio, noise } = ratioOfMedians(statistics(2), statistics(3));
  expect(ratio).toBe(1.5);
  expect(noise).toBeCloseTo(2 * 1.5 * Math.SQRT2 * 0.1 * 0.1 * 1.2533 * 1.4826, 6);
});

test('the resolution of a clock is its smallest step', () => {
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
])('the clock is doubted: %s', (doubt, samples) => {
  expect(timerDoubt(samples, 0.01)).toBe(doubt);
});
