// Tests the transitions of slots: slots are made in the background, granted clean, replaced, paused
// and ended.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withLease } from '../../src/pool/lease.js';
import { advanceTime, type FakeRuntime, fakePool, replaceTimers, settle } from './fakes.js';

beforeEach(replaceTimers);
afterEach(() => {
  vi.useRealTimers();
});

test('fills the reserve in the background, a bounded number of slots at a time', async () => {
  const { pool, source } = await fakePool({ size: 40, min: 20 });
  expect(pool.stats()).toMatchObject({ size: 40, idle: 20, busy: 0, created: 20 });
  source.hold('make');
  const leases = await Promise.all(Array.from({ length: 20 }, () => pool.acquire()));
  expect(pool.stats()).toMatchObject({ hits: 20, misses: 0, busy: 20, idle: 0 });
  await settle();
  expect(source.held.length).toBe(8);
  source.release('make');
  await settle();
  expect(pool.stats()).toMatchObject({ idle: 20, busy: 20, created: 40 });
  for (const lease of leases) lease.release();
  await settle();
  expect(pool.stats()).toMatchObject({ idle: 40, busy: 0, created: 40, recycled: 20 });
});

test('grants a slot before the next slot of the reserve is made', async () => {
  const { pool, source } = await fakePool({ min: 1 });
  source.hold('make');
  const lease = await pool.acquire();
  expect([source.held.length, pool.stats().preparing]).toEqual([0, 0]);
  await settle();
  expect(source.held.length).toBe(1);
  lease.release();
});

test('rolls back a used slot before the next grant, without delaying the release', async () => {
  const { pool, source } = await fakePool({ size: 1 });
  const first = await pool.acquire();
  expect(await first.runtime.exec('secret')).toBe('secret');
  source.hold('restore');
  first.release();
  expect(pool.stats()).toMatchObject({ busy: 0, preparing: 1, idle: 0 });
  const next = pool.acquire();
  await settle();
  expect(pool.stats()).toMatchObject({ waiting: 1, misses: 2 });
  source.release('restore');
  expect(await (await next).runtime.exec('mine')).toBe('mine');
  expect(source.made.length).toBe(1);
});

test('ends a slot that cannot be rolled back', async () => {
  const { pool, source } = await fakePool({ size: 1 });
  const first = await pool.acquire();
  await first.runtime.exec('secret');
  source.fail('restore', new Error('no'));
  first.release();
  await settle();
  const second = await pool.acquire();
  expect(await second.runtime.exec('mine')).toBe('mine');
  expect(source.made.length).toBe(2);
  expect(source.live.size).toBe(1);
  expect(pool.stats()).toMatchObject({ errors: 1, created: 2, recycled: 0 });
});

test('replaces a slot after its last permitted use', async () => {
  const { pool, source } = await fakePool({ size: 1, reuse: 3 });
  const numbers: number[] = [];
  for (let i = 0; i < 7; i++) {
    const lease = await pool.acquire();
    expect(await lease.runtime.exec('x')).toBe('x');
    numbers.push(lease.runtime.number);
    lease.release();
    await settle();
  }
  expect(numbers).toEqual([0, 0, 0, 1, 1, 1, 2]);
  expect(pool.stats()).toMatchObject({ created: 3, replaced: 2, recycled: 5 });
  expect(source.live.size).toBe(1);
});

test("keeps the state of a slot until its last use with recycle 'last-use'", async () => {
  const { pool, source } = await fakePool({ size: 2, reuse: 3, recycle: 'last-use' });
  const seen: string[] = [];
  for (let i = 0; i < 5; i++) {
    const lease = await pool.acquire();
    seen.push(await lease.runtime.exec(`${i}`));
    lease.release();
    await settle();
  }
  expect(seen).toEqual(['0', '0 1', '0 1 2', '3', '3 4']);
  expect(pool.stats()).toMatchObject({ created: 1, recycled: 1, replaced: 0 });
  const other = await pool.acquire({ tenant: 'other' });
  expect(await other.runtime.exec('mine')).toBe('mine');
  expect(source.made.length).toBe(2);
});

test('replaces a slot after effects that a rollback does not undo', async () => {
  const { pool, source } = await fakePool({ size: 1 });
  const bound = await pool.acquire();
  await bound.runtime.registerBindings();
  bound.release();
  await settle();
  const disposed = await pool.acquire();
  await disposed.runtime.dispose();
  disposed.release();
  await settle();
  const discarded = await pool.acquire();
  discarded.discard();
  await settle();
  expect(pool.stats()).toMatchObject({ created: 3, replaced: 3, recycled: 0 });
  expect(source.live.size).toBe(0);
});

test('refuses every call of a released runtime', async () => {
  const { pool } = await fakePool({ size: 1 });
  const lease = await pool.acquire();
  const { runtime } = lease;
  const kept = runtime.exec;
  expect(await kept('a')).toBe('a');
  lease.release();
  lease.release();
  const code = { code: 'ERR_POOL_RELEASED' };
  await expect(runtime.exec('late')).rejects.toMatchObject(code);
  await expect(kept('late')).rejects.toMatchObject(code);
  expect(() => runtime.look()).toThrow(expect.objectContaining(code));
  expect(() => runtime.marks).toThrow(expect.objectContaining(code));
  await runtime.dispose();
  await settle();
  expect(pool.stats()).toMatchObject({ idle: 1, replaced: 0 });
});

test('refuses calls of a tenant that would expose data to other tenants', async () => {
  const { pool } = await fakePool({ size: 2 });
  const other = await pool.acquire({ tenant: 'a' });
  await expect(other.runtime.exec('public')).rejects.toThrow('not yours');
  expect(await (await pool.acquire()).runtime.exec('public')).toBe('public');
  const [copy] = (await other.runtime.clone(1)) as FakeRuntime[];
  const [settled, failed] = (await other.runtime.clone(1, { settle: true })) as PromiseSettledResult<FakeRuntime>[];
  other.release();
  for (const one of [copy, settled?.status === 'fulfilled' ? settled.value : undefined]) {
    await expect(one?.exec('public')).rejects.toThrow('not yours');
    expect(await one?.exec('mine')).toBe('mine');
  }
  expect(failed).toEqual({ status: 'rejected', reason: 'no' });
});

test.each([
  ['returns', async () => 'value', 'value'],
  [
    'throws',
    () => {
      throw new Error('mine');
    },
    new Error('mine'),
  ],
  ['rejects', () => Promise.reject(new Error('mine')), new Error('mine')],
])('releases the slot when the function %s', async (_, work, outcome) => {
  const { pool } = await fakePool({ size: 1 });
  const done = withLease(await pool.acquire(), work, undefined);
  if (outcome instanceof Error) await expect(done).rejects.toEqual(outcome);
  else expect(await done).toBe(outcome);
  await settle();
  expect(pool.stats()).toMatchObject({ busy: 0, idle: 1, recycled: 1 });
});

test('ends the slot of a pending function when its signal aborts', async () => {
  const { pool, source } = await fakePool({ size: 1 });
  const controller = new AbortController();
  let kept: { exec(mark: string): Promise<string> } | undefined;
  const endless = (runtime: { exec(mark: string): Promise<string> }) => {
    kept = runtime;
    return new Promise<never>(() => {});
  };
  const done = withLease(await pool.acquire(), endless, controller.signal);
  controller.abort('enough');
  await expect(done).rejects.toBe('enough');
  await settle();
  expect(pool.stats()).toMatchObject({ busy: 0, replaced: 1, recycled: 0 });
  expect(source.live.size).toBe(0);
  await expect(kept?.exec('late')).rejects.toMatchObject({ code: 'ERR_POOL_RELEASED' });
});

test('pauses idle slots above the reserve, resumes a slot for a call, and ends the rest after equal time', async () => {
  const { pool, source } = await fakePool({ size: 4, min: 1, idleTimeoutMs: 1_000 });
  const leases = await Promise.all(Array.from({ length: 4 }, () => pool.acquire()));
  for (const lease of leases) lease.release();
  await settle();
  expect(pool.stats()).toMatchObject({ idle: 4, paused: 0 });
  await advanceTime(1_000);
  expect(pool.stats()).toMatchObject({ idle: 1, paused: 3, pauses: 3 });
  expect(source.onDisk.size).toBe(3);
  const two = await Promise.all([pool.acquire(), pool.acquire()]);
  expect(pool.stats()).toMatchObject({ busy: 2, paused: 2, resumed: 1, hits: 2, misses: 4, created: 4 });
  await settle();
  expect(source.onDisk.size).toBe(2);
  for (const lease of two) lease.release();
  await advanceTime(1_000);
  expect(pool.stats().evicted).toBe(2);
  await advanceTime(60_000);
  expect(pool.stats()).toMatchObject({ idle: 1, paused: 0 });
  expect([source.live.size, source.onDisk.size]).toEqual([1, 0]);
});

test('restores a used slot before the pause', async () => {
  const { pool, source } = await fakePool({ size: 1, reuse: 3, recycle: 'last-use', idleTimeoutMs: 1_000 });
  const lease = await pool.acquire();
  await lease.runtime.exec('secret');
  lease.release();
  source.hold('pause');
  await advanceTime(1_000);
  expect(source.held[0]?.runtime?.marks).toEqual([]);
  source.release('pause');
  await settle();
  expect(await (await pool.acquire()).runtime.exec('mine')).toBe('mine');
});

test.each(['pause', 'resume', 'dispose', 'delete'] as const)('serves calls after a failing %s()', async (step) => {
  const { pool, source } = await fakePool({ size: 1, idleTimeoutMs: 1_000 });
  source.fail(step, new Error('no'));
  (await pool.acquire()).release();
  await advanceTime(1_000);
  expect(await (await pool.acquire()).runtime.exec('a')).toBe('a');
  source.fail(step, undefined);
  await settle();
  await advanceTime(60_000);
  expect(pool.stats().errors).toBe(step === 'dispose' ? 0 : 1);
});

test('ends a slot whose step hangs', async () => {
  const { pool, source } = await fakePool({ size: 1, acquireTimeoutMs: 100_000 });
  const lease = await pool.acquire();
  source.hold('restore');
  lease.release();
  const next = pool.acquire();
  await advanceTime(30_000);
  expect((await next).runtime.number).toBe(1);
  expect(pool.stats()).toMatchObject({ errors: 1, busy: 1 });
  source.release('restore');
  await settle();
  expect(pool.stats()).toMatchObject({ errors: 1, busy: 1, idle: 0 });
});

test('disposes a runtime that is made after its deadline', async () => {
  const { pool, source } = await fakePool({ size: 1, acquireTimeoutMs: 100_000 });
  source.hold('make');
  const first = expect(pool.acquire()).rejects.toMatchObject({ code: 'ERR_POOL_TIMEOUT', timeoutMs: 30_000 });
  await advanceTime(30_000);
  await first;
  source.release('make');
  await settle();
  expect([source.made.length, source.live.size]).toEqual([1, 0]);
});
