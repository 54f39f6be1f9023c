// What becomes of a runtime that nobody uses, with a runtime and a connection that are made up and a clock in the test's hand.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { SidecarConnection } from '../../src/channel/sidecar-connection.js';
import type { IdleOptions } from '../../src/options/idle.js';
import { IdlePolicy } from '../../src/runtime/idle.js';
import { wakeful } from '../../src/runtime/wakeful.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A runtime whose steps wait for `go()`, if the test says so. */
class Fake {
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
    this.policy.begin({
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

async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await settle();
}

test('it sleeps after its time, once, and the next use wakes it', async () => {
  const { policy, log } = new Fake();
  await pass(999);
  expect(log).toEqual([]);
  await pass(1);
  await pass(60_000);
  expect([log, policy.isAsleep, vi.getTimerCount()]).toEqual([['pause'], true, 0]);
  const done = policy.use();
  await policy.ready();
  expect([log, policy.isAsleep]).toEqual([['pause', 'resume', 'delete'], false]);
  await pass(60_000);
  expect(log.length).toBe(3);
  done();
  done();
  await pass(1_000);
  expect(log.slice(3)).toEqual(['pause']);
});

test('what is under way keeps it awake, and its end begins the time anew', async () => {
  const { policy, log } = new Fake();
  const uses = [policy.use(), policy.use()];
  await pass(5_000);
  uses[0]?.();
  await pass(5_000);
  expect(log).toEqual([]);
  uses[1]?.();
  await pass(999);
  policy.use()();
  await pass(999);
  expect(log).toEqual([]);
  await pass(1);
  expect(log).toEqual(['pause']);
});

test('calls while it wakes share one waking, and a call while it goes to sleep waits for both', async () => {
  const fake = new Fake();
  fake.hold = true;
  await pass(1_000);
  const calls = [fake.policy.ready(), fake.policy.ready()];
  await settle();
  expect(fake.log).toEqual(['pause']);
  await fake.go();
  calls.push(fake.policy.ready());
  await Promise.all(calls);
  expect(fake.log).toEqual(['pause', 'resume', 'delete']);
});

test('when it cannot be put to sleep it is awake, that is told, and the next attempts wait longer', async () => {
  const fake = new Fake();
  const full = new Error('ENOSPC');
  fake.failing.set('pause', full);
  await pass(1_000);
  expect([fake.log, fake.errors, fake.policy.ready()]).toEqual([['pause'], [full], undefined]);
  await pass(1_999);
  expect(fake.log.length).toBe(1);
  await pass(1 + 4_000);
  expect(fake.log.length).toBe(3);
  fake.failing.clear();
  await pass(8_000);
  expect([fake.log.length, fake.policy.isAsleep, fake.errors.length]).toEqual([4, true, 3]);
});

test('a call that comes while it cannot be put to sleep goes on as if nothing had been', async () => {
  const fake = new Fake();
  fake.hold = true;
  fake.failing.set('pause', new Error('ENOSPC'));
  await pass(1_000);
  const done = fake.policy.use();
  const ready = fake.policy.ready();
  await fake.go();
  await ready;
  expect([fake.log, fake.policy.isAsleep]).toEqual([['pause'], false]);
  await pass(60_000);
  expect(fake.log.length).toBe(1);
  done();
});

test('when it cannot be woken the call fails, it sleeps on, and the next call tries again', async () => {
  const fake = new Fake();
  await pass(1_000);
  const torn = new Error('torn');
  fake.failing.set('resume', torn);
  const done = fake.policy.use();
  await expect(fake.policy.ready()).rejects.toBe(torn);
  done();
  // It does not try to put to sleep what sleeps.
  await pass(60_000);
  expect([fake.policy.isAsleep, fake.errors, vi.getTimerCount()]).toEqual([true, [], 0]);
  fake.failing.clear();
  await fake.policy.ready();
  expect(fake.log).toEqual(['pause', 'resume', 'resume', 'delete']);
});

test('without a listener what fails is a warning of the process', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const fake = new Fake({ onError: undefined as never });
  const full = new Error('ENOSPC');
  fake.failing.set('pause', full);
  await pass(1_000);
  expect(warn).toHaveBeenCalledWith(full);
  warn.mockRestore();
});

test('what the listener throws is an uncaught exception, and stops neither the policy, nor a call, nor its end', async () => {
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  const heard: unknown[] = [];
  process.on('uncaughtException', (error) => heard.push(error));
  try {
    const mine = new Error('mine');
    const onError = () => {
      throw mine;
    };
    const fake = new Fake({ onError });
    fake.hold = true;
    fake.failing.set('pause', new Error('ENOSPC'));
    await pass(1_000);
    const done = fake.policy.use();
    const ready = fake.policy.ready();
    await fake.go();
    await ready;
    done();
    fake.hold = true;
    await pass(2_000);
    const end = fake.policy.end();
    await fake.go();
    await end;
    expect([fake.log, heard]).toEqual([
      ['pause', 'pause'],
      [mine, mine],
    ]);
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const other of others) process.on('uncaughtException', other);
  }
});

test("with 'dispose' it is disposed of", async () => {
  const { policy, log } = new Fake({ action: 'dispose' });
  await pass(1_000);
  await pass(60_000);
  expect([log, policy.ready(), vi.getTimerCount()]).toEqual([['dispose'], undefined, 0]);
});

test('its end stops the clock and takes away what it sleeps on', async () => {
  const awake = new Fake();
  await awake.policy.end();
  await pass(60_000);
  const asleep = new Fake();
  await pass(1_000);
  await asleep.policy.end();
  expect([awake.log, asleep.log, vi.getTimerCount()]).toEqual([[], ['pause', 'delete'], 0]);
});

test('its end waits until what it slept on before has been taken away', async () => {
  const fake = new Fake();
  await pass(1_000);
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

test('when the runtime or its sidecar is gone it tries no more, and tells nobody', async () => {
  const before = new Fake();
  before.over = true;
  await pass(60_000);
  const during = new Fake();
  during.hold = true;
  during.failing.set('pause', new Error('gone'));
  await pass(1_000);
  during.over = true;
  await during.go();
  during.policy.begin();
  await pass(60_000);
  expect([before.log, during.log, during.errors, vi.getTimerCount()]).toEqual([[], ['pause'], [], 0]);
});

test('what the app has put to sleep itself stays there', async () => {
  const fake = new Fake();
  await pass(1_000);
  const stopped = fake.policy.stop();
  // Who calls now does not wake it.
  expect(fake.policy.ready()).toBeUndefined();
  expect(await stopped).toBeDefined();
  expect([fake.log, fake.policy.ready()]).toEqual([['pause'], undefined]);
  fake.policy.begin();
  await pass(1_000);
  expect(fake.log).toEqual(['pause', 'pause']);
});

// The connection: what has been asked, in its order.
function connected(fake: Fake) {
  const asked: string[] = [];
  const streams: { closed(error?: Error): void }[] = [];
  const later = async (name: string) => {
    asked.push(name);
    return { handle: 7 };
  };
  const real = {
    pid: 1,
    nextId: () => 5,
    cancel: (id: number) => asked.push(`cancel ${id}`),
    start: (id: number) => later(`start ${id}`),
    statFile: () => later('stat'),
    ping: () => later('ping'),
    opened: { open: () => later('open'), close: () => later('close') },
    network: {
      open: (_: unknown, listener: { closed(error?: Error): void }) => {
        asked.push('connect');
        streams.push(listener);
        const note = (name: string) => () => asked.push(name);
        return { opened: Promise.resolve(), write: note('write'), end: note('end'), credit: note('credit'), close: note('left') };
      },
    },
  };
  return { asked, streams, connection: wakeful(real as unknown as SidecarConnection, fake.policy) };
}

test('every request wakes it first, except those that are no use of it', async () => {
  const fake = new Fake();
  const { asked, connection } = connected(fake);
  await pass(1_000);
  await connection.ping();
  expect([connection.nextId(), fake.policy.isAsleep]).toEqual([5, true]);
  await connection.statFile({ runtime: 1, path: '/' });
  expect([asked, fake.log, fake.policy.isAsleep]).toEqual([['ping', 'stat'], ['pause', 'resume', 'delete'], false]);
});

test('a program that is canceled before it could be begun is canceled when it is', async () => {
  const fake = new Fake();
  const { asked, connection } = connected(fake);
  await pass(1_000);
  const outcome = connection.start(5, { runtime: 1, mode: 'exec', code: '' });
  connection.cancel(5);
  await outcome;
  connection.cancel(5);
  expect(asked).toEqual(['start 5', 'cancel 5', 'cancel 5']);
});

test('an open file keeps it awake until it is closed', async () => {
  const fake = new Fake();
  const { connection } = connected(fake);
  const { handle } = await connection.opened.open({ runtime: 1, path: '/', for: 'read' });
  await pass(60_000);
  expect(fake.log).toEqual([]);
  await connection.opened.close({ runtime: 1, handle });
  await pass(1_000);
  expect(fake.log).toEqual(['pause']);
});

test('a connection wakes it and keeps it awake; what was written before it was awake comes in its order', async () => {
  const fake = new Fake();
  const { asked, streams, connection } = connected(fake);
  await pass(1_000);
  const listener = { data() {}, credit() {}, ended() {}, closed() {} };
  const stream = connection.network.open({ runtime: 1, port: 80 }, listener);
  stream.write(new Uint8Array(1));
  stream.end();
  expect(asked).toEqual([]);
  await stream.opened;
  expect(asked).toEqual(['connect', 'write', 'end']);
  await pass(60_000);
  expect(fake.policy.isAsleep).toBe(false);
  streams[0]?.closed();
  await pass(1_000);
  expect(fake.policy.isAsleep).toBe(true);
});
