// The channel. The test is the sidecar's end.

import { expect, test, vi } from 'vitest';
import { type Channel, createChannel } from '../../src/channel/channel.js';
import { done, outcome, runtimeCreated } from '../../src/channel/checks.js';
import { type Frame, FrameReader, FrameWriter } from '../../src/channel/frames.js';
import { Kind } from '../../src/channel/messages.js';
import { sidecarDisposed } from '../../src/errors/make.js';

const TIMINGS = { memoryMapNs: 1, instantiateNs: 2, guestStartNs: 3, guestRunNs: 4 };
const OUTCOME = { exitCode: 0, stdout: Buffer.from('1\n'), stderr: Buffer.alloc(0), timings: TIMINGS };
const HELLO = { version: '1.2.3', pid: 7, image: 'ab', loadNs: 5 };

/** Opens a channel whose other end is the test. */
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
  const reply = (kind: number, id: number, body: object | null): void => {
    writer.add(kind, id, body);
    channel.receive(writer.take());
  };
  return { channel, sent, writes, events, closed, reply, greet: () => reply(Kind.hello, 0, HELLO) };
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const ping = (channel: Channel): Promise<void> => channel.request(Kind.ping, channel.nextId(), {}, done);

test('sends hello and the first requests in one write, before the sidecar sends anything', async () => {
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

test('matches replies to requests in any order', async () => {
  const { channel, reply, greet } = open();
  greet();
  const first = channel.request(Kind.runtimeCreate, channel.nextId(), {}, runtimeCreated);
  const second = channel.request(Kind.processStart, channel.nextId(), {}, outcome);
  reply(Kind.reply, 2, OUTCOME);
  reply(Kind.reply, 1, { runtime: 4, configureNs: 9 });
  expect(await first).toEqual({ runtime: 4, configureNs: 9 });
  expect(await second).toEqual(OUTCOME);
});

test('an error rejects only its own request, with code, message and facts', async () => {
  const { channel, reply, greet, closed } = open();
  greet();
  const failing = ping(channel);
  const other = ping(channel);
  reply(Kind.error, 1, {
    code: 'ERR_RUNTIME_NOT_FOUND',
    message: 'no such runtime',
    details: { runtime: 9, message: 'x', stack: 'y' },
  });
  reply(Kind.reply, 2, {});
  await expect(failing).rejects.toMatchObject({ code: 'ERR_RUNTIME_NOT_FOUND', message: 'no such runtime', runtime: 9 });
  await expect(other).resolves.toBeUndefined();
  expect(closed).not.toHaveBeenCalled();
});

test('close() fails pending and later requests with one error', async () => {
  const { channel, reply, greet, closed } = open();
  greet();
  const waiting = [ping(channel), ping(channel)];
  const error = sidecarDisposed();
  channel.close(error);
  channel.close(new Error('a second reason'));
  const results = await Promise.allSettled([...waiting, ping(channel)]);
  expect(results.map((result) => result.status === 'rejected' && result.reason)).toEqual([error, error, error]);
  expect(closed.mock.calls).toEqual([[error]]);
  reply(Kind.reply, 1, {}); // a late reply is ignored
});

test('writes nothing after close()', async () => {
  const { channel, writes } = open();
  await tick();
  void ping(channel).catch(() => {});
  channel.close(sidecarDisposed());
  channel.notify(Kind.cancel, 1, {});
  await tick();
  expect(writes).toHaveLength(1);
});

test('is busy from the first pending request to the last reply', async () => {
  const { channel, events, reply, greet } = open();
  greet();
  expect(channel.idle()).toBeUndefined();
  void ping(channel);
  const failing = ping(channel);
  const idle = channel.idle();
  reply(Kind.reply, 1, {});
  expect(events).toEqual(['hello', 'busy']);
  reply(Kind.error, 2, { code: 'ERR_CANCELED', message: '', details: {} });
  await expect(failing).rejects.toMatchObject({ code: 'ERR_CANCELED' });
  await idle;
  expect(events).toEqual(['hello', 'busy', 'idle']);
});

test('passes output to its request before the reply, in bytes that the listener may keep', async () => {
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
  bytes.fill(0); // a socket reuses its buffer
  await running;
  expect(chunks.map(([fd, data]) => [fd, Buffer.from(data).toString()])).toEqual([
    [1, 'a'],
    [2, 'b'],
  ]);
});

test('another version of the sidecar closes the channel', async () => {
  const { channel, reply, closed } = open();
  const waiting = ping(channel);
  reply(Kind.hello, 0, { ...HELLO, version: '1.2.4' });
  await expect(waiting).rejects.toMatchObject({ code: 'ERR_VERSION_MISMATCH', sdk: '1.2.3', sidecar: '1.2.4' });
  expect(closed).toHaveBeenCalledOnce();
});

test('an error with id 0 closes the channel', async () => {
  const { channel, reply, greet } = open();
  greet();
  const waiting = ping(channel);
  reply(Kind.error, 0, { code: 'ERR_INVALID_REQUEST', message: 'no', details: { what: 'x', expected: 'y', received: 'z' } });
  await expect(waiting).rejects.toMatchObject({ code: 'ERR_INVALID_REQUEST', what: 'x' });
});

test.each<[string, (reply: (kind: number, id: number, body: object | null) => void) => void, RegExp]>([
  ['a reply to no request', (reply) => reply(Kind.reply, 99, {}), /request 99/],
  ['an error for no request', (reply) => reply(Kind.error, 99, { code: 'X', message: '', details: {} }), /request 99/],
  ['output for a request without a listener', (reply) => reply(Kind.output, 1, { fd: 1, data: Buffer.alloc(1) }), /request 1/],
  ['a request', (reply) => reply(Kind.ping, 3, {}), /kind 10/],
  ['a second hello', (reply) => reply(Kind.hello, 0, HELLO), /kind 1/],
  ['a reply that is not a map', (reply) => reply(Kind.reply, 1, []), /not a map/],
  ['a reply without its fields', (reply) => reply(Kind.reply, 1, { exitCode: 0 }), /stdout is not binary/],
  [
    'an outcome with a wrong time',
    (reply) => reply(Kind.reply, 1, { ...OUTCOME, timings: { ...TIMINGS, guestRunNs: -1 } }),
    /guestRunNs/,
  ],
  ['an error without a code', (reply) => reply(Kind.error, 1, { message: '', details: {} }), /error.code/],
  ['output of descriptor 3', (reply) => reply(Kind.output, 1, { fd: 3, data: Buffer.alloc(1) }), /fd/],
])('%s is a protocol error that fails pending requests', async (_name, misbehave, message) => {
  const { channel, reply, greet, closed } = open();
  greet();
  const waiting = channel.request(Kind.processStart, channel.nextId(), {}, outcome);
  misbehave(reply);
  await expect(waiting).rejects.toMatchObject({ code: 'ERR_PROTOCOL', reason: expect.stringMatching(message) });
  expect(closed).toHaveBeenCalledOnce();
});

test.each([
  ['a reply', Kind.reply, {}],
  ['a hello without a version', Kind.hello, { pid: 1 }],
])('%s instead of a hello is a protocol error', async (_name, kind, body) => {
  const { channel, reply } = open();
  const waiting = ping(channel);
  reply(kind, 0, body);
  await expect(waiting).rejects.toMatchObject({ code: 'ERR_PROTOCOL' });
});

test('a request that is too large fails alone', async () => {
  const { channel, reply, greet } = open();
  greet();
  const tooLarge = channel.request(Kind.processStart, channel.nextId(), { code: 'x'.repeat(34_000_000) }, outcome);
  await expect(tooLarge).rejects.toMatchObject({ code: 'ERR_FRAME_TOO_LARGE', maxBytes: 33_554_432 });
  const fine = ping(channel);
  reply(Kind.reply, 2, {});
  await fine;
  expect(channel.idle()).toBeUndefined();
});

test('passes host calls to their listener, in bytes that it may keep, and replies with the id of the call', async () => {
  const { channel, reply, greet, sent } = open();
  const received: unknown[] = [];
  channel.listen({
    call: (number, call) => received.push([number, call]),
    cancel: (...given) => received.push(given),
    close: () => received.push('closed'),
  });
  greet();
  const call = { runtime: 1, pid: 2, service: 'binding', name: 'a', input: Buffer.from([1, 2]) };
  reply(Kind.hostCall, 7, call);
  reply(Kind.hostCancel, 7, { runtime: 1 });
  expect(received).toEqual([
    [7, { ...call, input: new Uint8Array([1, 2]) }],
    [1, 7],
  ]);
  channel.notify(Kind.hostResult, 7, { runtime: 1, ok: new Uint8Array(1) });
  await tick();
  expect(sent.at(-1)).toEqual({ kind: Kind.hostResult, id: 7, body: { runtime: 1, ok: Buffer.alloc(1) } });
  channel.close(sidecarDisposed());
  expect(received.at(-1)).toBe('closed');
});

test.each([
  [Kind.hostCall, { runtime: 1, pid: 2, service: 'binding', name: 'a', input: 'text' }],
  [Kind.hostCall, { runtime: -1, pid: 2, service: 'binding', name: 'a', input: Buffer.alloc(0) }],
  [Kind.hostCancel, {}],
])('a malformed host call closes the channel (%i %o)', async (kind, body) => {
  const { channel, reply, greet, closed } = open();
  channel.listen({ call: () => {}, cancel: () => {}, close: () => {} });
  greet();
  reply(kind, 1, body);
  expect(closed.mock.calls[0]?.[0]).toMatchObject({ code: 'ERR_PROTOCOL' });
});

test('a host call without a listener closes the channel', () => {
  const { reply, greet, closed } = open();
  greet();
  reply(Kind.hostCancel, 1, { runtime: 1 });
  expect(closed.mock.calls[0]?.[0]).toMatchObject({ code: 'ERR_PROTOCOL' });
});
