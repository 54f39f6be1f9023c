// Tests the calls of a pool: admission, waiting, fairness among tenants, and the end of the pool.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { advanceTime, fakePool, replaceTimers, settle } from './fakes.js';

beforeEach(replaceTimers);
afterEach(() => {
  vi.useRealTimers();
});

const fullOf = (facts: object) => ({ code: 'ERR_POOL_EXHAUSTED', ...facts });

test('lets calls wait for busy slots in order, up to maxWaiting', async () => {
  const { pool } = await fakePool({ size: 2, maxWaiting: 3 });
  const busy = await Promise.all([pool.acquire(), pool.acquire()]);
  const order: number[] = [];
  const waiting = [0, 1, 2].map(async (number) => {
    const lease = await pool.acquire();
    order.push(number);
    lease.release();
  });
  const facts = { tenant: 'default', size: 2, busy: 2, waiting: 3, maxWaiting: 3 };
  await expect(pool.acquire()).rejects.toMatchObject(fullOf(facts));
  expect(pool.stats()).toMatchObject({ waiting: 3, refused: 1, busy: 2 });
  busy[0]?.release();
  await Promise.all(waiting);
  expect(order).toEqual([0, 1, 2]);
});

test('admits a call with a free slot when maxWaiting is 0', async () => {
  const { pool } = await fakePool({ size: 1, maxWaiting: 0 });
  const lease = await pool.acquire();
  await expect(pool.acquire()).rejects.toMatchObject(fullOf({ maxWaiting: 0 }));
  lease.release();
  await pool.acquire();
});

test('reports the state of the pool to a call that waits for too long', async () => {
  const { pool } = await fakePool({ size: 1, acquireTimeoutMs: 500 });
  const lease = await pool.acquire();
  const late = expect(pool.acquire({ tenant: 'a' })).rejects.toMatchObject({
    code: 'ERR_POOL_TIMEOUT',
    timeoutMs: 500,
    tenant: 'a',
    size: 1,
    busy: 1,
  });
  await advanceTime(500);
  await late;
  expect(pool.stats()).toMatchObject({ waiting: 0, timeouts: 1, misses: 2 });
  lease.release();
  await settle();
  expect(pool.stats()).toMatchObject({ idle: 1, busy: 0 });
});

test('ends the wait of a call whose signal aborts before or during the wait', async () => {
  const { pool } = await fakePool({ size: 1 });
  await expect(pool.acquire({ signal: AbortSignal.abort('early') })).rejects.toBe('early');
  const lease = await pool.acquire();
  const controller = new AbortController();
  const waiting = pool.acquire({ signal: controller.signal });
  controller.abort('late');
  await expect(waiting).rejects.toBe('late');
  expect(pool.stats()).toMatchObject({ aborted: 1, waiting: 0 });
  lease.release();
  await settle();
  expect(pool.stats().idle).toBe(1);
});

test('ends a used slot for another tenant, but not an unused slot', async () => {
  const { pool, source } = await fakePool({ size: 1, min: 1 });
  const order: string[] = [];
  for (const tenant of ['a', 'a', 'b', 'a']) {
    const lease = await pool.acquire({ tenant });
    const runtime = source.made[lease.runtime.number];
    runtime?.users.push(tenant);
    order.push(`${tenant}${lease.runtime.number}`);
    lease.release();
    await settle();
  }
  expect(order).toEqual(['a0', 'a0', 'b1', 'a2']);
  expect(source.made.map(({ users }) => new Set(users).size)).toEqual([1, 1, 1]);
  expect(pool.stats()).toMatchObject({ evicted: 2, hits: 2, misses: 2 });
});

test("does not resume another tenant's paused slots", async () => {
  const { pool } = await fakePool({ size: 2, idleTimeoutMs: 1_000 });
  (await pool.acquire({ tenant: 'a' })).release();
  await advanceTime(1_000);
  expect(pool.stats()).toMatchObject({ paused: 1, tenants: { a: { paused: 1, idle: 0 } } });
  const other = await pool.acquire({ tenant: 'b' });
  expect([other.runtime.number, pool.stats().resumed]).toEqual([1, 0]);
  const own = await pool.acquire({ tenant: 'a' });
  expect([own.runtime.number, pool.stats().resumed]).toEqual([0, 1]);
});

test('serves tenants in turn, regardless of the number of waiting calls of a tenant', async () => {
  const { pool } = await fakePool({ size: 1 });
  const lease = await pool.acquire({ tenant: 'a' });
  const order: string[] = [];
  const call = async (tenant: string) => {
    const granted = await pool.acquire({ tenant });
    order.push(tenant);
    granted.release();
  };
  const calls = ['a', 'a', 'a', 'a', 'b', 'c', 'b'].map(call);
  lease.release();
  await Promise.all(calls);
  expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'a', 'a']);
});

test('refuses the newest call of the tenant with most waiting calls when the queue is full', async () => {
  const { pool } = await fakePool({ size: 1, maxWaiting: 4 });
  const lease = await pool.acquire({ tenant: 'a' });
  const greedy = [0, 1, 2, 3].map(() => pool.acquire({ tenant: 'a' }));
  const refused = expect(greedy[3]).rejects.toMatchObject(fullOf({ tenant: 'a' }));
  const modest = pool.acquire({ tenant: 'b' });
  await refused;
  await expect(pool.acquire({ tenant: 'a' })).rejects.toMatchObject(fullOf({ tenant: 'a', waiting: 4 }));
  expect(pool.stats()).toMatchObject({ refused: 2, waiting: 4, tenants: { a: { waiting: 3 }, b: { waiting: 1 } } });
  lease.release();
  for (const waiting of [greedy[0], modest, greedy[1], greedy[2]]) (await waiting)?.release();
});

test('fails calls with the error of a slot that cannot be made, and delays further attempts', async () => {
  const { pool, source } = await fakePool({ size: 2, min: 1 });
  const make = vi.spyOn(source, 'make');
  const first = await pool.acquire();
  const failure = Object.assign(new Error('no more'), { code: 'ERR_RESOURCE_EXHAUSTED' });
  source.fail('make', failure);
  await settle();
  expect(make).toHaveBeenCalledTimes(1);
  // The call waits, because a slot is in use and will be released.
  const waiting = pool.acquire();
  await advanceTime(100 + 200);
  expect(make).toHaveBeenCalledTimes(3);
  first.discard();
  await settle();
  const failed = expect(waiting).rejects.toBe(failure);
  await advanceTime(400);
  await failed;
  expect(make).toHaveBeenCalledTimes(4);
  const calls = Array.from({ length: 50 }, () => pool.acquire());
  const settled = Promise.allSettled(calls);
  await advanceTime(799);
  expect(make).toHaveBeenCalledTimes(4);
  await advanceTime(1);
  expect((await settled).map((result) => result.status === 'rejected' && result.reason)).toEqual(calls.map(() => failure));
  expect(make).toHaveBeenCalledTimes(6);
  await advanceTime(60_000);
  expect(make.mock.calls.length).toBeLessThan(6 + 16);
  source.fail('make', undefined);
  await advanceTime(5_000);
  expect(pool.stats()).toMatchObject({ idle: 1, failed: 51 });
});

test("keeps another tenant's slot while no slot can be made", async () => {
  const { pool, source } = await fakePool({ size: 2, min: 1 });
  const busy = await pool.acquire({ tenant: 'a' });
  source.fail('make', new Error('no more'));
  await settle();
  const other = pool.acquire({ tenant: 'b' });
  const another = pool.acquire({ tenant: 'b' });
  busy.release();
  await settle();
  expect(pool.stats()).toMatchObject({ idle: 1, waiting: 2, evicted: 0 });
  // Tenant `a` can use its own slot, although the call of `a` is newer.
  (await pool.acquire({ tenant: 'a' })).release();
  source.fail('make', undefined);
  await advanceTime(5_000);
  expect((await other).runtime.number).toBe(1);
  expect((await another).runtime.number).toBe(2);
});

test('ends one idle slot of another tenant for each waiting call when the sidecar is full', async () => {
  const { pool, source } = await fakePool({ size: 10 });
  source.capacity = 3;
  const leases = await Promise.all(['a', 'a', 'a'].map((tenant) => pool.acquire({ tenant })));
  const first = pool.acquire({ tenant: 'b' });
  await advanceTime(5_000);
  // No slot is idle, so the call waits.
  expect(pool.stats()).toMatchObject({ busy: 3, waiting: 1, evicted: 0 });
  for (const lease of leases) lease.release();
  await advanceTime(5_000);
  expect((await first).runtime.number).toBe(3);
  expect(pool.stats()).toMatchObject({ idle: 2, busy: 1, evicted: 1 });
  const more = [pool.acquire({ tenant: 'b' }), pool.acquire({ tenant: 'c' })];
  await advanceTime(5_000);
  expect((await Promise.all(more)).length).toBe(2);
  expect(pool.stats()).toMatchObject({ idle: 0, busy: 3, evicted: 3, failed: 0 });
});

test('keeps at most as many slots on disk as in memory', async () => {
  const { pool, source } = await fakePool({ size: 2, idleTimeoutMs: 1_000 });
  for (const tenant of ['a', 'b', 'c']) {
    (await pool.acquire({ tenant })).release();
    await advanceTime(500);
    await advanceTime(500 - 1);
  }
  await advanceTime(3);
  expect(pool.stats().paused).toBeLessThanOrEqual(2);
  expect(source.onDisk.size).toBeLessThanOrEqual(2);
});

test('reports the failure of a slot as the cause of a timeout', async () => {
  const { pool, source } = await fakePool({ size: 2, acquireTimeoutMs: 1_000 });
  await pool.acquire();
  source.fail('make', new Error('no more'));
  const late = expect(pool.acquire()).rejects.toMatchObject({ code: 'ERR_POOL_TIMEOUT', cause: { message: 'no more' } });
  await advanceTime(1_000);
  await late;
});

test('replaces all runtimes after their loss', async () => {
  const { pool, source } = await fakePool({ size: 4, min: 2, idleTimeoutMs: 1_000 });
  const used = await Promise.all([pool.acquire(), pool.acquire(), pool.acquire()]);
  await settle();
  for (const lease of used.slice(1)) lease.release();
  await advanceTime(1_000);
  expect(pool.stats()).toMatchObject({ busy: 1, idle: 2, paused: 1 });
  const before = source.made.length;
  source.lose(new Error('killed'), false);
  const leases = await Promise.all([pool.acquire(), pool.acquire(), pool.acquire()]);
  expect(leases.map(({ runtime }) => runtime.number >= before)).toEqual([true, true, true]);
  used[0]?.release();
  await settle();
  expect(pool.stats()).toMatchObject({ paused: 0, busy: 3, replaced: 1 });
});

test('fails every call with the reason of a final loss', async () => {
  const { pool, source } = await fakePool({ size: 1, min: 1 });
  const lease = await pool.acquire();
  const waiting = pool.acquire();
  const killed = new Error('killed');
  source.lose(killed, true);
  await expect(pool.acquire()).rejects.toBe(killed);
  await expect(waiting).rejects.toBe(killed);
  await expect(pool.acquire()).rejects.toBe(killed);
  lease.release();
  await settle();
  expect([source.live.size, source.made.length]).toEqual([0, 1]);
  await pool.dispose(1_000);
});

test('serves waiting calls, refuses new calls and ends all slots after drain()', async () => {
  const { pool, source } = await fakePool({ size: 2, min: 1 });
  const busy = await Promise.all([pool.acquire(), pool.acquire()]);
  const waiting = pool.acquire();
  let drained = false;
  const draining = pool.drain().then(() => {
    drained = true;
  });
  await expect(pool.acquire()).rejects.toMatchObject({ code: 'ERR_POOL_DISPOSED', draining: true });
  busy[0]?.release();
  const last = await waiting;
  busy[1]?.release();
  await settle();
  expect([drained, source.live.size]).toEqual([false, 1]);
  last.release();
  await draining;
  expect([source.live.size, source.closed]).toEqual([0, false]);
  await pool.dispose(0);
  expect(source.closed).toBe(true);
});

test('refuses waiting calls and revokes slots in use after the timeout of dispose()', async () => {
  const { pool, source } = await fakePool({ size: 2, min: 2, idleTimeoutMs: 1_000 });
  const [quick, slow] = await Promise.all([pool.acquire(), pool.acquire()]);
  const refused = expect(pool.acquire()).rejects.toMatchObject({ code: 'ERR_POOL_DISPOSED', draining: false });
  const disposed = [pool.dispose(5_000), pool.dispose(1)];
  await refused;
  quick?.release();
  await advanceTime(4_999);
  expect([source.live.size, source.closed]).toEqual([1, false]);
  expect(await slow?.runtime.exec('still')).toBe('still');
  await advanceTime(1);
  await Promise.all(disposed);
  await expect(slow?.runtime.exec('late')).rejects.toMatchObject({ code: 'ERR_POOL_RELEASED' });
  expect([source.live.size, source.onDisk.size, source.closed]).toEqual([0, 0, true]);
  expect(pool.stats()).toMatchObject({ idle: 0, busy: 0, preparing: 0, paused: 0, waiting: 0 });
  expect(vi.getTimerCount()).toBe(0);
});

test('removes the counts of a tenant with its last slot, also for names of object properties', async () => {
  const { pool } = await fakePool({ size: 1 });
  for (const tenant of ['__proto__', 'constructor', 'a']) {
    const lease = await pool.acquire({ tenant });
    expect(Object.keys(pool.stats().tenants)).toEqual([tenant]);
    expect(pool.stats().tenants[tenant]).toEqual({ idle: 0, busy: 1, paused: 0, waiting: 0, hits: 0, misses: 1 });
    const controller = new AbortController();
    const waiting = pool.acquire({ tenant: `${tenant}?`, signal: controller.signal });
    controller.abort('enough');
    await expect(waiting).rejects.toBe('enough');
    expect(Object.keys(pool.stats().tenants)).toEqual([tenant]);
    lease.discard();
    await settle();
  }
  expect(pool.stats().tenants).toEqual({});
  expect(pool.countedTenants).toBe(0);
});
