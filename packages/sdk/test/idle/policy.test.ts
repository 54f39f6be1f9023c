// Tests the idle policy with a fake runtime, a fake connection and fake timers.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { SidecarConnection } from '../../src/channel/sidecar-connection.js';
import { IdlePolicy } from '../../src/idle/policy.js';
import { resumingConnection } from '../../src/idle/resuming-connection.js';
import type { IdleOptions } from '../../src/options/idle.js';
import type { RequestId, RuntimeId } from '../../src/protocol/generated/messages.js';

const RUNTIME = 1 as RuntimeId;
const ID = 5 as RequestId;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A runtime whose steps wait for `go()` while `hold` is set. */
class FakeRuntime {
  readonly log: string[] = [];
  readonly errors: unknown[] = [];
  readonly failing = new Map<string, Error>();
  hold = false;
  over = false;
  readonly policy: IdlePolicy;
  #held: (() => void)[] = [];

  constructor(options: Partial<IdleOptions> = {}) {
    const onError = (error: unknown) => this.errors.push(error);
    this.policy = new IdlePolicy({ afterMs: 1_000, action: 'pause', onError, ...options });
    this.policy.start({
      pause: async () => {
        await this.step('pause');
        return { delete: () => this.step('delete') };
      },
      resume: () => this.step('resume'),
      dispose: async () => {
        await this.step('dispose');
        await this.policy.end();
      },
      isOver: () => this.over,
    });
  }

  async step(name: string): Promise<void> {
    this.log.push(name);
    if (this.hold) await new Promise<void>((go) => this.#held.push(go));
    const error = this.failing.get(name);
    if (error !== undefined) throw error;
  }

  async go(): Promise<void> {
    this.hold = false;
    for (const go of this.#held.splice(0)) go();
    await settle();
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

async function advanceTime(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await settle();
}

test('pauses a runtime once after its idle time and resumes it for the next use', async () => {
  const { policy, log } = new FakeRuntime();
  await advanceTime(999);
  expect(log).toEqual([]);
  await advanceTime(1);
  await advanceTime(60_000);
  expect([log, policy.isPaused, vi.getTimerCount()]).toEqual([['pause'], true, 0]);
  const done = policy.use();
  await policy.ready();
  expect([log, policy.isPaused]).toEqual([['pause', 'resume', 'delete'], false]);
  await advanceTime(60_000);
  expect(log.length).toBe(3);
  done();
  done();
  await advanceTime(1_000);
  expect(log.slice(3)).toEqual(['pause']);
});

test('restarts the idle time when the last use ends', async () => {
  const { policy, log } = new FakeRuntime();
  const uses = [policy.use(), policy.use()];
  await advanceTime(5_000);
  uses[0]?.();
  await advanceTime(5_000);
  expect(log).toEqual([]);
  uses[1]?.();
  await advanceTime(999);
  policy.use()();
  await advanceTime(999);
  expect(log).toEqual([]);
  await advanceTime(1);
  expect(log).toEqual(['pause']);
});

test('shares one resumption among calls that arrive during a pause or a resumption', async () => {
  const fake = new FakeRuntime();
  fake.hold = true;
  await advanceTime(1_000);
  const calls = [fake.policy.ready(), fake.policy.ready()];
  await settle();
  expect(fake.log).toEqual(['pause']);
  await fake.go();
  calls.push(fake.policy.ready());
  await Promise.all(calls);
  expect(fake.log).toEqual(['pause', 'resume', 'delete']);
});

test('reports a failed pause, keeps running, and delays the next attempts', async () => {
  const fake = new FakeRuntime();
  const full = new Error('ENOSPC');
  fake.failing.set('pause', full);
  await advanceTime(1_000);
  expect([fake.log, fake.errors, fake.policy.ready()]).toEqual([['pause'], [full], undefined]);
  await advanceTime(1_999);
  expect(fake.log.length).toBe(1);
  await advanceTime(1 + 4_000);
  expect(fake.log.length).toBe(3);
  fake.failing.clear();
  await advanceTime(8_000);
  expect([fake.log.length, fake.policy.isPaused, fake.errors.length]).toEqual([4, true, 3]);
});

test('continues a call that arrives during a failing pause', async () => {
  const fake = new FakeRuntime();
  fake.hold = true;
  fake.failing.set('pause', new Error('ENOSPC'));
  await advanceTime(1_000);
  const done = fake.policy.use();
  const ready = fake.policy.ready();
  await fake.go();
  await ready;
  expect([fake.log, fake.policy.isPaused]).toEqual([['pause'], false]);
  await advanceTime(60_000);
  expect(fake.log.length).toBe(1);
  done();
});

test('fails a call whose resumption fails, stays paused, and retries for the next call', async () => {
  const fake = new FakeRuntime();
  await advanceTime(1_000);
  const torn = new Error('torn');
  fake.failing.set('resume', torn);
  const done = fake.policy.use();
  await expect(fake.policy.ready()).rejects.toBe(torn);
  done();
  // A paused runtime is not paused again.
  await advanceTime(60_000);
  expect([fake.policy.isPaused, fake.errors, vi.getTimerCount()]).toEqual([true, [], 0]);
  fake.failing.clear();
  await fake.policy.ready();
  expect(fake.log).toEqual(['pause', 'resume', 'resume', 'delete']);
});

test('emits a process warning for a failed pause without a listener', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const fake = new FakeRuntime({ onError: undefined as never });
  const full = new Error('ENOSPC');
  fake.failing.set('pause', full);
  await advanceTime(1_000);
  expect(warn).toHaveBeenCalledWith(full);
  warn.mockRestore();
});

test('continues after a listener throws, which is an uncaught exception', async () => {
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  const uncaught: unknown[] = [];
  process.on('uncaughtException', (error) => uncaught.push(error));
  try {
    const mine = new Error('mine');
    const onError = () => {
      throw mine;
    };
    const fake = new FakeRuntime({ onError });
    fake.hold = true;
    fake.failing.set('pause', new Error('ENOSPC'));
    await advanceTime(1_000);
    const done = fake.policy.use();
    const ready = fake.policy.ready();
    await fake.go();
    await ready;
    done();
    fake.hold = true;
    await advanceTime(2_000);
    const end = fake.policy.end();
    await fake.go();
    await end;
    expect([fake.log, uncaught]).toEqual([
      ['pause', 'pause'],
      [mine, mine],
    ]);
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const other of others) process.on('uncaughtException', other);
  }
});

test("disposes the runtime after its idle time with the action 'dispose'", async () => {
  const { policy, log } = new FakeRuntime({ action: 'dispose' });
  await advanceTime(1_000);
  await advanceTime(60_000);
  expect([log, policy.ready(), vi.getTimerCount()]).toEqual([['dispose'], undefined, 0]);
});

test('stops the timer and deletes the snapshot when the policy ends', async () => {
  const running = new FakeRuntime();
  await running.policy.end();
  await advanceTime(60_000);
  const paused = new FakeRuntime();
  await advanceTime(1_000);
  await paused.policy.end();
  expect([running.log, paused.log, vi.getTimerCount()]).toEqual([[], ['pause', 'delete'], 0]);
});

test('waits for the deletion of an earlier snapshot when the policy ends', async () => {
  const fake = new FakeRuntime();
  await advanceTime(1_000);
  const done = fake.policy.use();
  let go = () => {};
  vi.spyOn(fake, 'step').mockImplementation(async (name) => {
    fake.log.push(name);
    if (name === 'delete') await new Promise<void>((resolve) => (go = resolve));
  });
  await fake.policy.ready();
  let ended = false;
  const end = fake.policy.end().then(() => {
    ended = true;
  });
  done();
  await settle();
  expect([fake.log, ended]).toEqual([['pause', 'resume', 'delete'], false]);
  go();
  await end;
});

test('stops without a report when the runtime or its sidecar has ended', async () => {
  const before = new FakeRuntime();
  before.over = true;
  await advanceTime(60_000);
  const during = new FakeRuntime();
  during.hold = true;
  during.failing.set('pause', new Error('ended'));
  await advanceTime(1_000);
  during.over = true;
  await during.go();
  during.policy.start();
  await advanceTime(60_000);
  expect([before.log, during.log, during.errors, vi.getTimerCount()]).toEqual([[], ['pause'], [], 0]);
});

test('leaves a runtime paused that the app has paused itself', async () => {
  const fake = new FakeRuntime();
  await advanceTime(1_000);
  const stopped = fake.policy.stop();
  // After the app's own pause a call does not resume the runtime.
  expect(fake.policy.ready()).toBeUndefined();
  expect(await stopped).toBeDefined();
  expect([fake.log, fake.policy.ready()]).toEqual([['pause'], undefined]);
  fake.policy.start();
  await advanceTime(1_000);
  expect(fake.log).toEqual(['pause', 'pause']);
});

/** Makes a connection that records requests in their order. */
function connected(fake: FakeRuntime) {
  const requests: string[] = [];
  const streams: { closed(error?: Error): void }[] = [];
  const later = async (name: string) => {
    requests.push(name);
    return { handle: 7 };
  };
  const real = {
    pid: 1,
    nextId: () => 5,
    cancel: (id: number) => requests.push(`cancel ${id}`),
    start: (id: number) => later(`start ${id}`),
    request: (name: string) => later(name),
    network: {
      open: (_: unknown, listener: { closed(error?: Error): void }) => {
        requests.push('connect');
        streams.push(listener);
        const record = (name: string) => () => requests.push(name);
        return {
          opened: Promise.resolve(),
          write: record('write'),
          end: record('end'),
          credit: record('credit'),
          close: record('left'),
        };
      },
    },
  };
  return { requests, streams, connection: resumingConnection(real as unknown as SidecarConnection, fake.policy) };
}

test('resumes a paused runtime for every request that uses it', async () => {
  const fake = new FakeRuntime();
  const { requests, connection } = connected(fake);
  await advanceTime(1_000);
  await connection.request('ping', {});
  expect([connection.nextId(), fake.policy.isPaused]).toEqual([5, true]);
  await connection.request('file.stat', { runtime: RUNTIME, path: '/' });
  expect([requests, fake.log, fake.policy.isPaused]).toEqual([['ping', 'file.stat'], ['pause', 'resume', 'delete'], false]);
});

test('cancels a program at its start that was cancelled before the resumption', async () => {
  const fake = new FakeRuntime();
  const { requests, connection } = connected(fake);
  await advanceTime(1_000);
  const outcome = connection.start(ID, { runtime: RUNTIME, mode: 'exec', code: '' });
  connection.cancel(ID);
  await outcome;
  connection.cancel(ID);
  expect(requests).toEqual(['start 5', 'cancel 5', 'cancel 5']);
});

test('keeps a runtime running while a file is open', async () => {
  const fake = new FakeRuntime();
  const { connection } = connected(fake);
  const { handle } = await connection.request('file.open', { runtime: RUNTIME, path: '/', for: 'read' });
  await advanceTime(60_000);
  expect(fake.log).toEqual([]);
  await connection.request('file.close', { runtime: RUNTIME, handle });
  await advanceTime(1_000);
  expect(fake.log).toEqual(['pause']);
});

test('keeps a runtime running for a connection and sends earlier writes in their order', async () => {
  const fake = new FakeRuntime();
  const { requests, streams, connection } = connected(fake);
  await advanceTime(1_000);
  const listener = { data() {}, credit() {}, ended() {}, closed() {} };
  const stream = connection.network.open({ runtime: RUNTIME, port: 80 }, listener);
  stream.write(new Uint8Array(1));
  stream.end();
  expect(requests).toEqual([]);
  await stream.opened;
  expect(requests).toEqual(['connect', 'write', 'end']);
  await advanceTime(60_000);
  expect(fake.policy.isPaused).toBe(false);
  streams[0]?.closed();
  await advanceTime(1_000);
  expect(fake.policy.isPaused).toBe(true);
});
