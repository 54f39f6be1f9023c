// Tests the pending work of a released slot. The work never affects the next use of the slot.

import { once } from 'node:events';
import { Duplex, Readable, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { deferred } from '../../src/deferred.js';
import { type FakeRuntime, fakePool, settle } from './fakes.js';

/** Returns whether the pool recycles or replaces a slot that is released after `use`. */
async function afterUse(use: (runtime: FakeRuntime) => unknown): Promise<'recycled' | 'replaced'> {
  const { pool } = await fakePool({ size: 1 });
  const lease = await pool.acquire();
  await use(lease.runtime);
  lease.release();
  await settle();
  const { recycled, replaced } = pool.stats();
  expect(recycled + replaced).toBe(1);
  return recycled === 1 ? 'recycled' : 'replaced';
}

test('replaces a slot with a pending call, but not after the call has settled', async () => {
  const { promise, resolve, reject } = deferred<void>();
  expect(await afterUse((runtime) => void runtime.open(promise))).toBe('replaced');
  resolve();
  expect(await afterUse((runtime) => runtime.open(promise))).toBe('recycled');
  expect(await afterUse((runtime) => runtime.open(Promise.reject(new Error('no'))).catch(() => {}))).toBe('recycled');
  reject(undefined);
});

test('recycles a slot with a running program, which ends with the rollback', async () => {
  expect(await afterUse((runtime) => void runtime.wait(new Promise(() => {})))).toBe('recycled');
});

test('replaces a slot with a start that waits for a check of its options', async () => {
  const start = (options: object) => afterUse((runtime) => void runtime.wait(new Promise(() => {}), options));
  expect(await start({ cwd: '/tmp' })).toBe('replaced');
  expect(await start({})).toBe('recycled');
});

test('rejects a call of a released slot for its caller alone', async () => {
  const { pool } = await fakePool({ size: 1 });
  const lease = await pool.acquire();
  const { promise, reject } = deferred<void>();
  const call = lease.runtime.open(promise);
  lease.release();
  reject(new Error('mine'));
  await expect(call).rejects.toThrow('mine');
});

test.each([
  ['reads', () => new Readable({ read() {} }), (stream: Readable) => stream.push(null), (stream: Readable) => stream.resume()],
  ['writes', () => new Writable({ write: (_chunk, _encoding, done) => done() }), (stream: Writable) => stream.end('x'), () => {}],
  [
    'does both',
    () => new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() }),
    (stream: Duplex) => stream.end().push(null),
    (stream: Duplex) => stream.resume(),
  ],
])('replaces a slot with an open stream that %s', async (_, make, finish, drain) => {
  expect(await afterUse((runtime) => void runtime.open(make()))).toBe('replaced');
  expect(
    await afterUse(async (runtime) => {
      const stream = runtime.open(make()) as Duplex;
      finish(stream);
      drain(stream);
      await once(stream, 'close');
    }),
  ).toBe('recycled');
  expect(await afterUse((runtime) => void runtime.open(make()).destroy())).toBe('recycled');
});

test('replaces a slot with a stream that has ended but not written everything', async () => {
  const slow = new Writable({ write: () => {} });
  expect(await afterUse((runtime) => void runtime.open(slow).end('x'))).toBe('replaced');
});

test('replaces a slot with a watch until the watch ends or fails', async () => {
  const endless = async function* () {
    for (;;) yield 1;
  };
  const failing = async function* () {
    yield* [];
    throw new Error('no');
  };
  expect(await afterUse((runtime) => runtime.open(endless()).next())).toBe('replaced');
  const seen: number[] = [];
  const looped = await afterUse(async (runtime) => {
    for await (const item of runtime.open(endless())) if (seen.push(item) === 3) break;
  });
  expect([looped, seen]).toEqual(['recycled', [1, 1, 1]]);
  expect(
    await afterUse((runtime) =>
      runtime
        .open(failing())
        .next()
        .catch(() => {}),
    ),
  ).toBe('recycled');
});

test('refuses calls of handles after the release, but keeps their properties readable', async () => {
  const { pool } = await fakePool({ size: 1 });
  const lease = await pool.acquire();
  const program = await lease.runtime.spawn();
  await program.kill();
  lease.release();
  await expect(program.kill()).rejects.toMatchObject({ code: 'ERR_POOL_RELEASED' });
  await program.dispose();
  expect(program.killed).toBe(1);
  expect(JSON.stringify(program)).toBe('{"killed":1}');
  await settle();
  expect(pool.stats()).toMatchObject({ recycled: 1, replaced: 0 });
});

test('replaces a slot whose user attached to a program of the template', async () => {
  expect(await afterUse(async (runtime) => (await runtime.spawn()).attach())).toBe('replaced');
});
