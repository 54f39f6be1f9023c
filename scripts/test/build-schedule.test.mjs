// Tests the order of build steps. A step starts after the steps that it needs. At most two steps
// run at once, and at most one step of a lane. After a failure no step starts.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { schedule } from '../build/schedule.mjs';

const step = (name, needs = [], lane = undefined) => ({ name, needs, lane });

/** Runs `steps`. Records each start and end, and the highest number of steps at once. */
async function trace(steps, work = () => sleep(5)) {
  const events = [];
  let running = 0;
  let most = 0;
  const run = schedule(steps, async (one) => {
    most = Math.max(most, ++running);
    events.push(`+${one.name}`);
    try {
      await work(one);
    } finally {
      running -= 1;
      events.push(`-${one.name}`);
    }
  });
  const failure = await run.then(
    () => undefined,
    (error) => error,
  );
  return { events, most, failure };
}

test('starts a step after the steps that it needs', async () => {
  const { events } = await trace([step('image', ['guest', 'imager']), step('guest'), step('imager')]);
  expect(events.at(-2)).toBe('+image');
  expect(events.slice(0, 4).sort()).toEqual(['+guest', '+imager', '-guest', '-imager']);
});

test('starts a step whose needs are not to be built', async () => {
  expect((await trace([step('image', ['guest'])])).events).toEqual(['+image', '-image']);
});

test('runs at most two steps at once', async () => {
  expect((await trace(['a', 'b', 'c', 'd'].map((name) => step(name)))).most).toBe(2);
});

test('runs the steps of one lane one after the other', async () => {
  expect((await trace([step('imager', [], 'cargo'), step('native', [], 'cargo')])).most).toBe(1);
});

test('starts no step after a failure, waits for running steps and throws the failure', async () => {
  const broken = new Error('no');
  const work = async ({ name }) => {
    await sleep(name === 'slow' ? 20 : 1);
    if (name === 'bad') throw broken;
  };
  const { events, failure } = await trace([step('bad'), step('slow'), step('later')], work);
  expect(failure).toBe(broken);
  expect(events).toEqual(['+bad', '+slow', '-bad', '-slow']);
});
