// Tests the channel. The test acts as the sidecar at the other end.

import { expect, test, vi } from 'vitest';
import { type Channel, createChannel } from '../../src/channel/channel.js';
import type { EventSubscriber } from '../../src/channel/events.js';
import { sidecarDisposed } from '../../src/errors/make.js';
import { type Frame, FrameReader, FrameWriter } from '../../src/protocol/frames.js';
import type { ProcessStart, RuntimeId } from '../../src/protocol/generated/messages.js';
import { EVENTS, NOTICES, REQUESTS } from '../../src/protocol/generated/tables.js';

const TIMINGS = { memoryMapNs: 1, instantiateNs: 2, guestStartNs: 3, guestRunNs: 4 };
const OUTCOME = { exitCode: 0, stdout: Buffer.from('1\n'), stderr: Buffer.alloc(0), timings: TIMINGS };
const PROGRAM: ProcessStart = { runtime: 1 as RuntimeId, mode: 'exec', code: '1' };
const HELLO = { version: '1.2.3', pid: 7, image: 'ab', loadNs: 5, walls: [] };

/** Opens a channel. The test reads and writes the other end. */
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
      return undefined;
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
  return { channel, sent, writes, events, closed, reply, greet: () => reply(EVENTS.hello, 0, HELLO) };
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const ping = (channel: Channel): Promise<unknown> => channel.request('ping', {});

test('sends hello and the first requests in one write, before the sidecar sends anything', async () => {
  const { channel, sent, writes } = open();
  void ping(channel);
  void channel.request('runtime.create', { cwd: '/' });
  await tick();
  expect(sent.map(({ kind, id }) => [kind, id])).toEqual([
    [NOTICES.hello, 0],
    [REQUESTS.ping.kind, 1],
    [REQUESTS['runtime.create'].kind, 2],
  ]);
  expect(sent[0]?.body).toEqual({ version: '1.2.3' });
  expect(writes).toHaveLength(1);
});

test('matches replies to requests in any order', async () => {
  const { channel, reply, greet } = open();
  greet();
  const first = channel.request('runtime.create', {});
  const second = channel.request('process.start', PROGRAM);
  reply(EVENTS.reply, 2, OUTCOME);
  reply(EVENTS.reply, 1, { runtime: 4, configureNs: 9 });
  expect(await first).toEqual({ runtime: 4, configureNs: 9 });
  expect(await second).toEqual(OUTCOME);
});

test('an error rejects only its own request, with code, message and facts', async () => {
  const { channel, reply, greet, closed } = open();
  greet();
  const failing = ping(channel);
  const other = ping(channel);
  reply(EVENTS.error, 1, {
    code: 'ERR_RUNTIME_NOT_FOUND',
    message: 'no such runtime',
    details: { runtime: 9, message: 'x', stack: 'y' },
  });
  reply(EVENTS.reply, 2, {});
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
  reply(EVENTS.reply, 1, {}); // a late reply is ignored
});

test('writes nothing after close()', async () => {
  const { channel, writes } = open();
  await tick();
  void ping(channel).catch(() => {});
  channel.close(sidecarDisposed());
  channel.notify('cancel', 1, {});
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
  reply(EVENTS.reply, 1, {});
  expect(events).toEqual(['hello', 'busy']);
  reply(EVENTS.error, 2, { code: 'ERR_CANCELED', message: '', details: {} });
  await expect(failing).rejects.toMatchObject({ code: 'ERR_CANCELED' });
  await idle;
  expect(events).toEqual(['hello', 'busy', 'idle']);
});

test('passes output to its request before the reply, in bytes that the listener may keep', async () => {
  const { channel, greet } = open();
  greet();
  const chunks: [number, Uint8Array][] = [];
  const id = channel.nextId();
  const running = channel.request('process.start', PROGRAM, { id, onOutput: (fd, data) => chunks.push([fd, data]) });
  const writer = new FrameWriter();
  writer.add(EVENTS.output, id, { fd: 1, data: Buffer.from('a') });
  writer.add(EVENTS.output, id, { fd: 2, data: Buffer.from('b') });
  writer.add(EVENTS.reply, id, OUTCOME);
  const bytes = writer.take();
  channel.receive(bytes);
  bytes.fill(0); // a transport may reuse its buffer
  await running;
  expect(chunks.map(([fd, data]) => [fd, Buffer.from(data).toString()])).toEqual([
    [1, 'a'],
    [2, 'b'],
  ]);
});

test('another version of the sidecar closes the channel', async () => {
  const { channel, reply, closed } = open();
  const waiting = ping(channel);
  reply(EVENTS.hello, 0, { ...HELLO, version: '1.2.4' });
  await expect(waiting).rejects.toMatchObject({ code: 'ERR_VERSION_MISMATCH', sdk: '1.2.3', sidecar: '1.2.4' });
  expect(closed).toHaveBeenCalledOnce();
});

test('an error with id 0 closes the channel', async () => {
  const { channel, reply, greet } = open();
  greet();
  const waiting = ping(channel);
  reply(EVENTS.error, 0, { code: 'ERR_INVALID_REQUEST', message: 'no', details: { what: 'x', expected: 'y', received: 'z' } });
  await expect(waiting).rejects.toMatchObject({ code: 'ERR_INVALID_REQUEST', what: 'x' });
});

test.each<[string, (reply: (kind: number, id: number, body: object | null) => void) => void, RegExp]>([
  ['a reply to no request', (reply) => reply(EVENTS.reply, 99, {}), /request 99/],
  ['an error for no request', (reply) => reply(EVENTS.error, 99, { code: 'X', message: '', details: {} }), /request 99/],
  ['output for a request without a listener', (reply) => reply(EVENTS.output, 1, { fd: 1, data: Buffer.alloc(1) }), /request 1/],
  ['a request', (reply) => reply(REQUESTS.ping.kind, 3, {}), /kind 10/],
  ['a second hello', (reply) => reply(EVENTS.hello, 0, HELLO), /kind 1/],
  ['a reply that is not a map', (reply) => reply(EVENTS.reply, 1, []), /not a map/],
  ['a reply without its fields', (reply) => reply(EVENTS.reply, 1, { exitCode: 0 }), /stdout is not binary/],
  [
    'an outcome with a wrong time',
    (reply) => reply(EVENTS.reply, 1, { ...OUTCOME, timings: { ...TIMINGS, guestRunNs: -1 } }),
    /guestRunNs/,
  ],
  ['an error without a code', (reply) => reply(EVENTS.error, 1, { message: '', details: {} }), /error.code/],
  ['output of descriptor 3', (reply) => reply(EVENTS.output, 1, { fd: 3, data: Buffer.alloc(1) }), /fd/],
])('%s is a protocol error that fails pending requests', async (_name, misbehave, message) => {
  const { channel, reply, greet, closed } = open();
  greet();
  const waiting = channel.request('process.start', PROGRAM);
  misbehave(reply);
  await expect(waiting).rejects.toMatchObject({ code: 'ERR_PROTOCOL', reason: expect.stringMatching(message) });
  expect(closed).toHaveBeenCalledOnce();
});

test.each([
  ['a reply', EVENTS.reply, {}],
  ['a hello without a version', EVENTS.hello, { pid: 1 }],
])('%s instead of a hello is a protocol error', async (_name, kind, body) => {
  const { channel, reply } = open();
  const waiting = ping(channel);
  reply(kind, 0, body);
  await expect(waiting).rejects.toMatchObject({ code: 'ERR_PROTOCOL' });
});

test('a request that is too large fails alone', async () => {
  const { channel, reply, greet } = open();
  greet();
  const tooLarge = channel.request('process.start', { ...PROGRAM, code: 'x'.repeat(34_000_000) });
  await expect(tooLarge).rejects.toMatchObject({ code: 'ERR_FRAME_TOO_LARGE', maxBytes: 33_554_432 });
  const fine = ping(channel);
  reply(EVENTS.reply, 2, {});
  await fine;
  expect(channel.idle()).toBeUndefined();
});

/** A subscriber that ignores every event. */
const IGNORE: EventSubscriber = {
  hostCall: () => {},
  hostCancel: () => {},
  limitWarning: () => {},
  permissionsPending: () => {},
  outsidePending: () => {},
  networkPending: () => {},
  secretsWanted: () => {},
  streamData: () => {},
  streamCredit: () => {},
  streamEnd: () => {},
  streamClose: () => {},
  closed: () => {},
};

test('passes host calls in bytes that the subscriber may keep, and replies with the id of the call', async () => {
  const { channel, reply, greet, sent } = open();
  const received: unknown[] = [];
  channel.subscribe({
    ...IGNORE,
    hostCall: (number, call) => received.push([number, call]),
    hostCancel: (...given) => received.push(given),
    closed: () => received.push('closed'),
  });
  greet();
  const call = { runtime: 1, pid: 2, service: 'binding', name: 'a', input: Buffer.from([1, 2]) };
  reply(EVENTS['host.call'], 7, call);
  reply(EVENTS['host.cancel'], 7, { runtime: 1 });
  expect(received).toEqual([
    [7, { ...call, input: new Uint8Array([1, 2]) }],
    [7, 1],
  ]);
  channel.notify('host.result', 7, { runtime: 1 as RuntimeId, ok: new Uint8Array(1) });
  await tick();
  expect(sent.at(-1)).toEqual({ kind: NOTICES['host.result'], id: 7, body: { runtime: 1, ok: Buffer.alloc(1) } });
  channel.close(sidecarDisposed());
  expect(received.at(-1)).toBe('closed');
});

test.each([
  [EVENTS['host.call'], { runtime: 1, pid: 2, service: 'binding', name: 'a', input: 'text' }],
  [EVENTS['host.call'], { runtime: -1, pid: 2, service: 'binding', name: 'a', input: Buffer.alloc(0) }],
  [EVENTS['host.cancel'], {}],
  [EVENTS['stream.data'], { data: 'text' }],
  [EVENTS['stream.credit'], { bytes: -1 }],
  [EVENTS['stream.close'], { failure: { code: 1 } }],
  [EVENTS['limit.warning'], { runtime: 1 }],
  [EVENTS['permissions.pending'], { runtime: -1 }],
])('a malformed event closes the channel (%i %o)', async (kind, body) => {
  const { channel, reply, greet, closed } = open();
  channel.subscribe(IGNORE);
  greet();
  reply(kind, 1, body);
  expect(closed.mock.calls[0]?.[0]).toMatchObject({ code: 'ERR_PROTOCOL' });
});

test('a host call without a subscriber closes the channel', () => {
  const { reply, greet, closed } = open();
  greet();
  reply(EVENTS['host.cancel'], 1, { runtime: 1 });
  expect(closed.mock.calls[0]?.[0]).toMatchObject({ code: 'ERR_PROTOCOL' });
});
