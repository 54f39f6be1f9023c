// The desk answers every call once, whatever its service does and whoever gives up first.

import { beforeEach, expect, test } from 'vitest';
import { HostDesk, type HostRequest } from '../../src/host/desk.js';
import { HostError } from '../../src/host/host-error.js';

let answers: unknown[][];
let desk: HostDesk;
const input = new Uint8Array([1, 2]);
const incoming = { runtime: 1, pid: 2, service: 'echo', name: 'x', input };

beforeEach(() => {
  answers = [];
  desk = new HostDesk({
    ok: (runtime, number, bytes) => {
      if (bytes.length > 3) throw new Error('too large');
      answers.push([runtime, number, [...bytes]]);
    },
    failure: (...failure) => answers.push(failure),
  });
});

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a service answers at once or later', async () => {
  desk.serve(1, 'echo', (request) => request.input);
  desk.call(7, incoming);
  expect(answers).toEqual([[1, 7, [1, 2]]]);
  desk.serve(1, 'echo', async ({ name, pid }) => new Uint8Array([name.length, pid]));
  desk.call(7, incoming);
  await settled();
  expect(answers).toEqual([
    [1, 7, [1, 2]],
    [1, 7, [1, 2]],
  ]);
});

test('nobody serves another runtime or another name', () => {
  desk.serve(1, 'echo', (request) => request.input);
  desk.call(1, { ...incoming, runtime: 2 });
  desk.call(2, { ...incoming, service: '__proto__' });
  expect(answers).toEqual([
    [2, 1, 'ENOSYS', "nobody serves 'echo' here"],
    [1, 2, 'ENOSYS', "nobody serves '__proto__' here"],
  ]);
});

test('of an error only what a service says on purpose leaves', async () => {
  desk.serve(1, 'echo', () => {
    throw new HostError('ENOENT', 'no such file');
  });
  desk.call(1, incoming);
  desk.serve(1, 'echo', () => {
    throw new Error('/srv/secret');
  });
  desk.call(2, incoming);
  desk.serve(1, 'echo', () => Promise.reject(undefined));
  desk.call(3, incoming);
  await settled();
  expect(answers).toEqual([
    [1, 1, 'ENOENT', 'no such file'],
    [1, 2, 'EIO', 'the host failed'],
    [1, 3, 'EIO', 'the host failed'],
  ]);
});

test('an answer that cannot be sent is a failure', () => {
  desk.serve(1, 'echo', () => new Uint8Array(4));
  desk.call(1, incoming);
  expect(answers).toEqual([[1, 1, 'EMSGSIZE', 'the answer is larger than a message may be']]);
});

test('a call that is given up is aborted and answered at once, and once', async () => {
  let resolve: (bytes: Uint8Array) => void = () => {};
  const requests: HostRequest[] = [];
  desk.serve(1, 'echo', (request) => {
    requests.push(request);
    return new Promise((done) => {
      resolve = done;
    });
  });
  desk.call(1, incoming);
  expect(requests[0]?.signal.aborted).toBe(false);
  desk.cancel(1, 1);
  desk.cancel(1, 1);
  desk.cancel(2, 1);
  expect(requests[0]?.signal.aborted).toBe(true);
  resolve(input);
  await settled();
  expect(answers).toEqual([[1, 1, 'ECANCELED', 'nobody waits for it any more']]);
});

test('when a runtime goes, its calls are aborted and not answered; the signal tells also who looks late', async () => {
  const requests: HostRequest[] = [];
  const serve = (runtime: number) =>
    desk.serve(runtime, 'echo', async (request) => {
      requests.push(request);
      await settled();
      return request.input;
    });
  serve(1);
  serve(2);
  desk.call(1, incoming);
  desk.call(1, { ...incoming, runtime: 2 });
  desk.leave(1);
  expect(requests.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  await settled();
  await settled();
  expect(answers).toEqual([[2, 1, [1, 2]]]);
  desk.call(2, { ...incoming, runtime: 2 });
  desk.close();
  expect(requests[2]?.signal.aborted).toBe(true);
});
