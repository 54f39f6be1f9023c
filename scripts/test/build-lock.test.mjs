// Tests that only one build at a time runs in a checkout, and that the next build takes the lock of
// a killed build.

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

test('waits for the first build, and names its process', async () => {
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

test('takes the lock of a process that has ended', async () => {
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

test('releases the lock of a build that fails', async () => {
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
