// Tests the order of host calls with a clock that only calls advance, and an event loop that the
// tests turn.

import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeEach, describe, expect, test } from 'vitest';
import { CallScheduler, SLICE_MS } from '../../src/host-calls/call-scheduler.js';
import type { RuntimeId } from '../../src/protocol/generated/messages.js';

const A = 1 as RuntimeId;
const B = 2 as RuntimeId;

let time: number;
let deferred: (() => void)[];
let order: string;
let scheduler: CallScheduler;

beforeEach(() => {
  time = 0;
  deferred = [];
  order = '';
  scheduler = new CallScheduler(
    () => time,
    (drain) => deferred.push(drain),
  );
});

/** Passes a call that takes `ms`. */
const call = (runtime: RuntimeId, ms: number) =>
  scheduler.run(runtime, () => {
    time += ms;
    order += runtime === A ? 'a' : 'b';
  });

/** Lets the event loop turn once. Returns the time that calls have used. */
function turn(): number {
  const begin = time;
  for (const drain of deferred.splice(0)) drain();
  return time - begin;
}

function turns(): number {
  let count = 0;
  for (; deferred.length > 0; count++) turn();
  return count;
}

test('runs calls at once until they have used a slice', () => {
  for (let n = 0; n < 10; n++) call(A, SLICE_MS / 4);
  expect(order).toBe('aaaa');
  expect(turn()).toBe(SLICE_MS);
  expect(order).toBe('aaaaaaaa');
  turns();
  expect(order).toBe('a'.repeat(10));
});

test('uses at most one slice and one call in a turn of the event loop', () => {
  const longest = 3 * SLICE_MS;
  for (let n = 0; n < 1_024; n++) call(A, n % 2 === 0 ? 0.5 : longest);
  while (deferred.length > 0) expect(turn()).toBeLessThan(SLICE_MS + longest);
  expect(order).toBe('a'.repeat(1_024));
});

test('a runtime with 1,024 calls delays the call of another runtime by one turn', () => {
  for (let n = 0; n < 1_024; n++) call(A, SLICE_MS);
  turn();
  call(B, 1);
  const before = order.length;
  turn();
  expect(order.slice(before)).toBe('b'.padEnd(2, 'a'));
});

test('runs the calls of one runtime in their order', () => {
  const seen: number[] = [];
  for (let n = 0; n < 50; n++)
    scheduler.run(A, () => {
      time += 1;
      seen.push(n);
    });
  turns();
  expect(seen).toEqual(seen.map((_, n) => n));
  expect(seen).toHaveLength(50);
});

describe.each([
  [100, 100],
  [300, 100],
  [100, 1_000],
  [1, 10_000],
])('weights %i and %i', (ofA, ofB) => {
  test('share the time of the event loop', () => {
    scheduler.setWeight(A, ofA);
    scheduler.setWeight(B, ofB);
    for (let n = 0; n < 400; n++) {
      call(A, SLICE_MS);
      call(B, SLICE_MS);
    }
    // Both runtimes wait from here on, until the end of this window.
    const begin = order.length;
    for (let n = 0; n < 200; n++) turn();
    const window = order.slice(begin);
    const a = [...window].filter((runtime) => runtime === 'a').length;
    expect(Math.abs(a * ofB - (window.length - a) * ofA)).toBeLessThanOrEqual(ofA + ofB);
  });
});

test('a runtime without calls does not save time up', () => {
  call(B, 0);
  for (let n = 0; n < 100; n++) call(A, SLICE_MS);
  for (let n = 0; n < 50; n++) turn();
  for (let n = 0; n < 20; n++) call(B, SLICE_MS);
  const begin = order.length;
  for (let n = 0; n < 20; n++) turn();
  expect([...order.slice(begin)].filter((runtime) => runtime === 'b').length).toBeLessThanOrEqual(11);
});

test('a removed runtime leaves no weight', () => {
  scheduler.setWeight(A, 500);
  expect(scheduler.weight(A)).toBe(500);
  scheduler.remove(A);
  expect(scheduler.weight(A)).toBe(100);
});

test('a line that never becomes empty keeps no call that has run', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const kept = ((): WeakRef<object> => {
    const input = { bytes: new Uint8Array(1_000) };
    call(A, SLICE_MS);
    scheduler.run(A, () => {
      time += SLICE_MS + input.bytes.length;
    });
    return new WeakRef(input);
  })();
  for (let round = 0; round < 3; round++) {
    call(A, SLICE_MS);
    turn();
    await setImmediate();
  }
  collect();
  expect(deferred.length).toBe(1);
  expect(kept.deref()).toBeUndefined();
});
