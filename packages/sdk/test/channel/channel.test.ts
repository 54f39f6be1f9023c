// The channel, with this test at its other end.

import { expect, test, vi } from 'vitest';
import { type Channel, createChannel } from '../../src/channel/channel.js';
import { done, outcome, runtimeCreated } from '../../src/channel/checks.js';
import { type Frame, FrameReader, FrameWriter } from '../../src/channel/frames.js';
import { Kind } from '../../src/channel/messages.js';
import { sidecarDisposed } from '../../src/errors/make.js';

const TIMINGS = { memoryMapNs: 1, instantiateNs: 2, guestStartNs: 3, guestRunNs: 4 };
const OUTCOME = { exitCode: 0, stdout: Buffer.from('1\n'), stderr: Buffer.alloc(0), timings: TIMINGS };
const HELLO = { version: '1.2.3', pid: 7, image: 'ab', loadNs: 5 };

/** A channel whose other end is this test. */
function open() {
  const sent: Frame[] = [];
  const writes: number[] = [];
  const events: string[] = [];
  const toTest = new FrameReader((frame) => sent.push(frame));
  const writer = new FrameWriter();
  const closed = vi.fn();
  const channel: Channel = createChannel({
    version: '1.2.3',
    write: (bytes) => {
      writes.push(bytes.length);
      toTest.push(bytes);
    },
    onHello: () => events.push('hello'),
    onClose: closed,
    onBusy: () => events.push('busy'),
    onIdle: () => events.push('idle'),
  });
  const answer = (kind: number, id: number, body: object | null): void => {
    writer.add(kind, id, body);
    channel.receive(writer.take());
  };
  return { channel, sent, writes, events, closed, answer, greet: () => answer(Kind.hello, 0, HELLO) };
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const ping = (channel: Channel): Promise<void> => channel.request(Kind.ping, channel.nextId(), {}, done);

test('hello and the first requests leave in one write, before the other side has said anything', async () => {
  const { channel, sent, writes } = open();
  void ping(channel);
  void channel.request(Kind.runtimeCreate, channel.nextId(), { cwd: '/' }, runtimeCreated);
  await tick();
  expect(sent.map(({ kind, id }) => [kind, id])).toEqual([
    [Kind.hello, 0],
    [Kind.ping, 1],
    [Kind.runtimeCreate, 2],
  ]);
  expect(sent[0]?.body).toEqual({ version: '1.2.3' });
  expect(writes).toHaveLength(1);
});

test('replies reach their requests in whatever order they come', async () => {
  const { channel, answer, greet } = open();
  greet();
  const first = channel.request(Kind.runtimeCreate, channel.nextId(), {}, runtimeCreated);
  const second = channel.request(Kind.processStart, channel.nextId(), {}, outcome);
  answer(Kind.reply, 2, OUTCOME);
  answer(Kind.reply, 1, { runtime: 4, configureNs: 9 });
  expect(await first).toEqual({ runtime: 4, configureNs: 9 });
  expect(await second).toEqual(OUTCOME);
});

test('an error rejects its request with code, message and facts, and nothing else', async () => {
  const { channel, answer, greet, closed } = open();
  greet();
  const failing = ping(channel);
  const other = ping(channel);
  answer(Kind.error, 1, {
    code: 'ERR_RUNTIME_NOT_FOUND',
    message: 'no such runtime',
    details: { runtime: 9, message: 'x', stack: 'y' },
  });
  answer(Kind.reply, 2, {});
  await expect(failing).rejects.toMatchObject({ code: 'ERR_RUNTIME_NOT_FOUND', message: 'no such runtime', runtime: 9 });
  await expect(other).resolves.toBeUndefined();
  expect(closed).not.toHaveBeenCalled();
});

test('closing fails everything that waits, and everything later, with one error', async () => {
  const { channel, answer, greet, closed } = open();
  greet();
  const waiting = [ping(channel), ping(channel)];
  const error = sidecarDisposed();
  channel.close(error);
  channel.close(new Error('a second reason'));
  const results = await Promise.allSettled([...waiting, ping(channel)]);
  expect(results.map((result) => result.status === 'rejected' && result.reason)).toEqual([error, error, error]);
  expect(closed.mock.calls).toEqual([[error]]);
  answer(Kind.reply, 1, {}); // too late, and without consequence
});

test('nothing is written after closing', async () => {
  const { channel, writes } = open();
  await tick();
  void ping(channel).catch(() => {});
  channel.close(sidecarDisposed());
  channel.notify(Kind.cancel, 1, {});
  await tick();
  expect(writes).toHaveLength(1);
});

test('it is busy from the first request that waits to the last answer', async () => {
  const { channel, events, answer, greet } = open();
  greet();
  expect(channel.idle()).toBeUndefined();
  void ping(channel);
  const failing = ping(channel);
  const idle = channel.idle();
  answer(Kind.reply, 1, {});
  expect(events).toEqual(['hello', 'busy']);
  answer(Kind.error, 2, { code: 'ERR_CANCELED', message: '', details: {} });
  await expect(failing).rejects.toMatchObject({ code: 'ERR_CANCELED' });
  await idle;
  expect(events).toEqual(['hello', 'busy', 'idle']);
});

test('output reaches its request before the reply, and is the listener’s to keep', async () => {
  const { channel, greet } = open();
  greet();
  const chunks: [number, Uint8Array][] = [];
  const id = channel.nextId();
  const running = channel.request(Kind.processStart, id, {}, outcome, (fd, data) => chunks.push([fd, data]));
  const writer = new FrameWriter();
  writer.add(Kind.output, id, { fd: 1, data: Buffer.from('a') });
  writer.add(Kind.output, id, { fd: 2, data: Buffer.from('b') });
  writer.add(Kind.reply, id, OUTCOME);
  const bytes = writer.take();
  channel.receive(bytes);
  bytes.fill(0); // the socket may use it again
  await running;
  expect(chunks.map(([fd, data]) => [fd, Buffer.from(data).toString()])).toEqual([
    [1, 'a'],
    [2, 'b'],
  ]);
});

test('another version ends the conversation', async () => {
  const { channel, answer, closed } = open();
  const waiting = ping(channel);
  answer(Kind.hello, 0, { ...HELLO, version: '1.2.4' });
  await expect(waiting).rejects.toMatchObject({ code: 'ERR_VERSION_MISMATCH', sdk: '1.2.3', sidecar: '1.2.4' });
  expect(closed).toHaveBeenCalledOnce();
});

test('an error with id 0 ends the conversation', async () => {
  const { channel, answer, greet } = open();
  greet();
  const waiting = ping(channel);
  answer(Kind.error, 0, { code: 'ERR_INVALID_REQUEST', message: 'no', details: { what: 'x', expected: 'y', received: 'z' } });
  await expect(waiting).rejects.toMatchObject({ code: 'ERR_INVALID_REQUEST', what: 'x' });
});

test.each<[string, (answer: (kind: number, id: number, body: object | null) => void) => void, RegExp]>([
  ['a reply to nothing', (answer) => answer(Kind.reply, 99, {}), /request 99/],
  ['an error for nothing', (answer) => answer(Kind.error, 99, { code: 'X', message: '', details: {} }), /request 99/],
  ['output for a request that asked for none', (answer) => answer(Kind.output, 1, { fd: 1, data: Buffer.alloc(1) }), /request 1/],
  ['a request', (answer) => answer(Kind.ping, 3, {}), /kind 10/],
  ['a second hello', (answer) => answer(Kind.hello, 0, HELLO), /kind 1/],
  ['a reply that is no map', (answer) => answer(Kind.reply, 1, []), /not a map/],
  ['a reply without its fields', (answer) => answer(Kind.reply, 1, { exitCode: 0 }), /stdout is not binary/],
  [
    'an outcome with a wrong time',
    (answer) => answer(Kind.reply, 1, { ...OUTCOME, timings: { ...TIMINGS, guestRunNs: -1 } }),
    /guestRunNs/,
  ],
  ['an error without a code', (answer) => answer(Kind.error, 1, { message: '', details: {} }), /error.code/],
  ['output of descriptor 3', (answer) => answer(Kind.output, 1, { fd: 3, data: Buffer.alloc(1) }), /fd/],
])('%s is a protocol error that fails what waits', async (_name, misbehave, message) => {
  const { channel, answer, greet, closed } = open();
  greet();
  const waiting = channel.request(Kind.processStart, channel.nextId(), {}, outcome);
  misbehave(answer);
  await expect(waiting).rejects.toMatchObject({ code: 'ERR_PROTOCOL', reason: expect.stringMatching(message) });
  expect(closed).toHaveBeenCalledOnce();
});

test.each([
  ['a reply', Kind.reply, {}],
  ['a hello without a version', Kind.hello, { pid: 1 }],
])('%s instead of a hello is a protocol error', async (_name, kind, body) => {
  const { channel, answer } = open();
  const waiting = ping(channel);
  answer(kind, 0, body);
  await expect(waiting).rejects.toMatchObject({ code: 'ERR_PROTOCOL' });
});

test('a request that cannot be sent fails alone', async () => {
  const { channel, answer, greet } = open();
  greet();
  const tooLarge = channel.request(Kind.processStart, channel.nextId(), { code: 'x'.repeat(34_000_000) }, outcome);
  await expect(tooLarge).rejects.toMatchObject({ code: 'ERR_FRAME_TOO_LARGE', maxBytes: 33_554_432 });
  const fine = ping(channel);
  answer(Kind.reply, 2, {});
  await fine;
  expect(channel.idle()).toBeUndefined();
});

test('what the sidecar asks reaches who listens, with bytes to keep; an answer has the call’s number', async () => {
  const { channel, answer, greet, sent } = open();
  const asked: unknown[] = [];
  channel.listen({
    call: (number, call) => asked.push([number, call]),
    cancel: (...given) => asked.push(given),
    close: () => asked.push('closed'),
  });
  greet();
  const call = { runtime: 1, pid: 2, service: 'binding', name: 'a', input: Buffer.from([1, 2]) };
  answer(Kind.hostCall, 7, call);
  answer(Kind.hostCancel, 7, { runtime: 1 });
  expect(asked).toEqual([
    [7, { ...call, input: new Uint8Array([1, 2]) }],
    [1, 7],
  ]);
  channel.notify(Kind.hostResult, 7, { runtime: 1, ok: new Uint8Array(1) });
  await tick();
  expect(sent.at(-1)).toEqual({ kind: Kind.hostResult, id: 7, body: { runtime: 1, ok: Buffer.alloc(1) } });
  channel.close(sidecarDisposed());
  expect(asked.at(-1)).toBe('closed');
});

test.each([
  [Kind.hostCall, { runtime: 1, pid: 2, service: 'binding', name: 'a', input: 'text' }],
  [Kind.hostCall, { runtime: -1, pid: 2, service: 'binding', name: 'a', input: Buffer.alloc(0) }],
  [Kind.hostCancel, {}],
])('a question that is none ends the conversation (%i %o)', async (kind, body) => {
  const { channel, answer, greet, closed } = open();
  channel.listen({ call: () => {}, cancel: () => {}, close: () => {} });
  greet();
  answer(kind, 1, body);
  expect(closed.mock.calls[0]?.[0]).toMatchObject({ code: 'ERR_PROTOCOL' });
});

test('a question to nobody ends the conversation', () => {
  const { answer, greet, closed } = open();
  greet();
  answer(Kind.hostCancel, 1, { runtime: 1 });
  expect(closed.mock.calls[0]?.[0]).toMatchObject({ code: 'ERR_PROTOCOL' });
});
