// Tests streamed output: order, credit, pending handlers and failing handlers.

import { expect, test, vi } from 'vitest';
import { deferred } from '../../src/deferred.js';
import { OutputReader } from '../../src/programs/output-reader.js';

const text = (data: Uint8Array): string => Buffer.from(data).toString();

function open(handlers: { onStdout?: (chunk: Uint8Array) => unknown; onStderr?: (chunk: Uint8Array) => unknown }) {
  const credit = vi.fn();
  const fail = vi.fn();
  const reader = new OutputReader({ onStdout: handlers.onStdout, onStderr: handlers.onStderr, credit, fail });
  return { reader, credit, fail };
}

test('delivers chunks to the handler of their descriptor at once and in order', () => {
  const seen: string[] = [];
  const { reader } = open({ onStdout: (c) => seen.push(`out ${text(c)}`), onStderr: (c) => seen.push(`err ${text(c)}`) });
  reader.push(1, Buffer.from('a'));
  reader.push(2, Buffer.from('b'));
  reader.push(1, Buffer.from('c'));
  expect(seen).toEqual(['out a', 'err b', 'out c']);
});

test('returns credit for handled chunks in quarters of the window', async () => {
  const gate = deferred<void>();
  const { reader, credit } = open({ onStdout: () => gate.promise, onStderr: () => {} });
  reader.push(2, Buffer.alloc(65_535));
  expect(credit.mock.calls).toEqual([]);
  reader.push(2, Buffer.alloc(1));
  expect(credit.mock.calls).toEqual([[65_536]]);
  reader.push(1, Buffer.alloc(65_536));
  reader.push(2, Buffer.alloc(65_536));
  expect(credit).toHaveBeenCalledTimes(1);
  gate.resolve();
  await reader.drained();
  expect(credit.mock.calls).toEqual([[65_536], [65_536], [65_536]]);
});

test('delivers no chunk while the promise of a handler is pending', async () => {
  const seen: string[] = [];
  const gates = [deferred<void>(), deferred<void>()];
  const { reader } = open({
    onStdout: (c) => gates[seen.push(text(c)) - 1]?.promise,
    onStderr: (c) => seen.push(text(c)),
  });
  for (const chunk of ['a', 'b']) reader.push(1, Buffer.from(chunk));
  reader.push(2, Buffer.from('c'));
  expect(seen).toEqual(['a']);
  gates[0]?.resolve();
  await Promise.resolve();
  await Promise.resolve();
  expect(seen).toEqual(['a', 'b']);
  gates[1]?.resolve();
  await reader.drained();
  expect(seen).toEqual(['a', 'b', 'c']);
  reader.push(2, Buffer.from('d'));
  expect(seen).toEqual(['a', 'b', 'c', 'd']);
});

test.each([
  [
    'throws',
    () => {
      throw new Error('no');
    },
  ],
  [
    'rejects',
    async () => {
      throw new Error('no');
    },
  ],
])('reports a handler that %s once and does not call the handler again', async (_name, onStdout) => {
  const handler = vi.fn(onStdout);
  const { reader, fail, credit } = open({ onStdout: handler });
  for (let i = 0; i < 3; i++) reader.push(1, Buffer.alloc(100_000));
  await reader.drained();
  reader.push(1, Buffer.alloc(100_000));
  expect(handler).toHaveBeenCalledTimes(1);
  expect(fail).toHaveBeenCalledTimes(1);
  expect(fail.mock.calls[0]?.[0]).toMatchObject({ message: 'no' });
  expect(credit).not.toHaveBeenCalled();
});

test('fails the call when the sidecar sends more output than its credit allows', async () => {
  const gate = deferred<void>();
  const { reader, fail } = open({ onStdout: () => gate.promise });
  for (let i = 0; i < 5; i++) reader.push(1, Buffer.alloc(65_536));
  expect(fail).not.toHaveBeenCalled(); // the window is full: the handler has one chunk, and four chunks wait
  reader.push(1, Buffer.alloc(1));
  expect(fail.mock.calls).toMatchObject([[{ code: 'ERR_PROTOCOL' }]]);
  gate.resolve();
  await reader.drained();
});

test('ignores chunks and a late rejection of a handler after stop()', async () => {
  const gate = deferred<void>();
  const handler = vi.fn(() => gate.promise);
  const { reader, fail } = open({ onStdout: handler });
  reader.push(1, Buffer.from('a'));
  reader.push(1, Buffer.from('b'));
  reader.stop();
  gate.reject(new Error('late'));
  await reader.drained();
  expect(handler).toHaveBeenCalledTimes(1);
  expect(fail).not.toHaveBeenCalled();
});
