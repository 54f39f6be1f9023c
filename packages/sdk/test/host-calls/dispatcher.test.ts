// Tests that the dispatcher sends one reply for each host call, regardless of the service and the
// guest. Calls of a removed runtime get no reply.

import { beforeEach, expect, test } from 'vitest';
import { HostCallDispatcher, type HostRequest } from '../../src/host-calls/dispatcher.js';
import { HostError } from '../../src/host-calls/host-error.js';
import type { Pid, RuntimeId } from '../../src/protocol/generated/messages.js';

const RUNTIME = 1 as RuntimeId;
const OTHER = 2 as RuntimeId;

let replies: unknown[][];
let dispatcher: HostCallDispatcher;
const input = new Uint8Array([1, 2]);
const incoming = { runtime: RUNTIME, pid: 2 as Pid, service: 'echo', name: 'x', input };

beforeEach(() => {
  replies = [];
  dispatcher = new HostCallDispatcher({
    ok: (runtime, number, bytes) => {
      if (bytes.length > 3) throw new Error('too large');
      replies.push([runtime, number, [...bytes]]);
    },
    failure: (...failure) => replies.push(failure),
  });
});

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('sends the result of a service that returns bytes or a promise', async () => {
  dispatcher.serve(RUNTIME, 'echo', (request) => request.input);
  dispatcher.call(7, incoming);
  expect(replies).toEqual([[1, 7, [1, 2]]]);
  dispatcher.serve(RUNTIME, 'echo', async ({ name, pid }) => new Uint8Array([name.length, pid]));
  dispatcher.call(7, incoming);
  await settled();
  expect(replies).toEqual([
    [1, 7, [1, 2]],
    [1, 7, [1, 2]],
  ]);
});

test('fails a call of an unknown runtime or service with ENOSYS', () => {
  dispatcher.serve(RUNTIME, 'echo', (request) => request.input);
  dispatcher.call(1, { ...incoming, runtime: OTHER });
  dispatcher.call(2, { ...incoming, service: '__proto__' });
  expect(replies).toEqual([
    [2, 1, 'ENOSYS', "no service is named 'echo'"],
    [1, 2, 'ENOSYS', "no service is named '__proto__'"],
  ]);
});

test('sends the code and message of a HostError, and no fact of another error', async () => {
  dispatcher.serve(RUNTIME, 'echo', () => {
    throw new HostError('ENOENT', 'no such file');
  });
  dispatcher.call(1, incoming);
  dispatcher.serve(RUNTIME, 'echo', () => {
    throw new Error('/srv/secret');
  });
  dispatcher.call(2, incoming);
  dispatcher.serve(RUNTIME, 'echo', () => Promise.reject(undefined));
  dispatcher.call(3, incoming);
  await settled();
  expect(replies).toEqual([
    [1, 1, 'ENOENT', 'no such file'],
    [1, 2, 'EIO', 'the service failed'],
    [1, 3, 'EIO', 'the service failed'],
  ]);
});

test('replies with EMSGSIZE when a result cannot be sent', () => {
  dispatcher.serve(RUNTIME, 'echo', () => new Uint8Array(4));
  dispatcher.call(1, incoming);
  expect(replies).toEqual([[1, 1, 'EMSGSIZE', 'the reply is larger than a message may be']]);
});

test('aborts a cancelled call and replies to it exactly once', async () => {
  let resolve: (bytes: Uint8Array) => void = () => {};
  const requests: HostRequest[] = [];
  dispatcher.serve(RUNTIME, 'echo', (request) => {
    requests.push(request);
    return new Promise((done) => {
      resolve = done;
    });
  });
  dispatcher.call(1, incoming);
  expect(requests[0]?.signal.aborted).toBe(false);
  dispatcher.cancel(RUNTIME, 1);
  dispatcher.cancel(RUNTIME, 1);
  dispatcher.cancel(OTHER, 1);
  expect(requests[0]?.signal.aborted).toBe(true);
  resolve(input);
  await settled();
  expect(replies).toEqual([[1, 1, 'ECANCELED', 'the call was abandoned']]);
});

test('aborts the calls of a removed runtime without a reply, also for a signal that is read later', async () => {
  const requests: HostRequest[] = [];
  const serve = (runtime: RuntimeId) =>
    dispatcher.serve(runtime, 'echo', async (request) => {
      requests.push(request);
      await settled();
      return request.input;
    });
  serve(RUNTIME);
  serve(OTHER);
  dispatcher.call(1, incoming);
  dispatcher.call(1, { ...incoming, runtime: OTHER });
  dispatcher.removeRuntime(RUNTIME);
  expect(requests.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  await settled();
  await settled();
  expect(replies).toEqual([[2, 1, [1, 2]]]);
  dispatcher.call(2, { ...incoming, runtime: OTHER });
  dispatcher.close();
  expect(requests[2]?.signal.aborted).toBe(true);
});
