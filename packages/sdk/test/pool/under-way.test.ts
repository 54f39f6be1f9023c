// What is still under way when a slot is given back: nothing of it reaches the next use.

import { once } from 'node:events';
import { Duplex, Readable, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { deferred } from '../../src/deferred.js';
import { type FakeRuntime, fakePool, settle } from './fakes.js';

// What becomes of the slot of somebody who does that and gives it back.
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

test('a call that has no answer yet costs the slot; one that has come to an end does not', async () => {
  const { promise, resolve, reject } = deferred<void>();
  expect(await afterUse((runtime) => void runtime.open(promise))).toBe('replaced');
  resolve();
  expect(await afterUse((runtime) => runtime.open(promise))).toBe('recycled');
  expect(await afterUse((runtime) => runtime.open(Promise.reject(new Error('no'))).catch(() => {}))).toBe('recycled');
  reject(undefined);
});

test('a program that runs does not: it ends with the rollback', async () => {
  expect(await afterUse((runtime) => void runtime.wait(new Promise(() => {})))).toBe('recycled');
});

test('what a call rejects with reaches its caller, and nobody else', async () => {
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
])('a stream that %s costs the slot until it is over', async (_, make, finish, drain) => {
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

test('a stream that is ended and has not yet written all costs the slot', async () => {
  const slow = new Writable({ write: () => {} });
  expect(await afterUse((runtime) => void runtime.open(slow).end('x'))).toBe('replaced');
});

test('a watch costs the slot until its loop is left, it is over or it fails', async () => {
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
    for await (const one of runtime.open(endless())) if (seen.push(one) === 3) break;
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

test('what a runtime hands out refuses too when it is given back, and says what it knows', async () => {
  const { pool } = await fakePool({ size: 1 });
  const lease = await pool.acquire();
  const program = await lease.runtime.spawn();
  await program.kill();
  lease.release();
  await expect(program.kill()).rejects.toMatchObject({ code: 'ERR_POOL_RELEASED' });
  await program.dispose();
  expect(program.killed).toBe(1);
  await settle();
  expect(pool.stats()).toMatchObject({ recycled: 1, replaced: 0 });
});

test('who attaches to a program of the template costs the slot: it goes on after the rollback', async () => {
  expect(await afterUse(async (runtime) => (await runtime.spawn()).attach())).toBe('replaced');
});
