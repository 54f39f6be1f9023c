// One build at a time in a checkout, also when an earlier one was killed.

import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withLock } from '../build/lock.mjs';
import { stateDir } from '../build/paths.mjs';

const path = join(stateDir, `lock-test-${process.pid}`);

beforeEach(() => mkdirSync(stateDir, { recursive: true }));
afterEach(() => rmSync(path, { force: true }));

test('a second build waits for the first, and says for whom', async () => {
  const events = [];
  const waitedFor = [];
  const build = (name) =>
    withLock(
      async () => {
        events.push(`+${name}`);
        await sleep(30);
        events.push(`-${name}`);
      },
      (pid) => waitedFor.push(pid),
      path,
    );
  await Promise.all([build('a'), build('b')]);
  expect(events).toEqual(['+a', '-a', '+b', '-b']);
  expect(waitedFor).toEqual([process.pid]);
});

test('the lock of a process that is gone is taken over', async () => {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  writeFileSync(path, String(pid));
  expect(
    await withLock(
      async () => 'built',
      () => {},
      path,
    ),
  ).toBe('built');
});

test('a build that fails gives the lock back', async () => {
  const fail = async () => {
    throw new Error('no');
  };
  await expect(withLock(fail, () => {}, path)).rejects.toThrow('no');
  expect(
    await withLock(
      async () => 'built',
      () => {},
      path,
    ),
  ).toBe('built');
});
