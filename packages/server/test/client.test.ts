// Tests the parts of the client and of the command that only compute: envelopes, Dockerfiles, the
// tree of snapshots, tables and addresses.

import { expect, test } from 'vitest';
import { type Node, treeOf } from '../page/tree.ts';
import { envelopeOf, messagesOf } from '../src/client/envelopes.ts';
import type { SandboxEntry, SnapshotEntry } from '../src/client/shapes.ts';
import { parseDockerfile } from '../src/command/dockerfile.ts';
import { isLoopback } from '../src/command/loopback.ts';
import { distance, plain, table } from '../src/command/text.ts';

function streamOf(bytes: Uint8Array, size: number): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.subarray(at, at + size));
      controller.close();
    },
  });
}

const joined = (...parts: Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]));

const lastOf = (message: unknown): Uint8Array => {
  const envelope = envelopeOf(message);
  envelope[0] = 2;
  return envelope;
};

async function all(stream: ReadableStream<Uint8Array>): Promise<unknown[]> {
  const messages: unknown[] = [];
  for await (const message of messagesOf(stream)) messages.push(message);
  return messages;
}

test.each([1, 3, 7, 1_000])('reads the messages of a stream in pieces of %i bytes', async (size) => {
  const bytes = joined(envelopeOf({ a: 1 }), envelopeOf({ text: 'ü'.repeat(20) }), lastOf({}));
  expect(await all(streamOf(bytes, size))).toEqual([{ a: 1 }, { text: 'ü'.repeat(20) }]);
});

test('a stream with a failure, without an end, or with a huge message fails', async () => {
  const failure = lastOf({ error: { code: 'not_found', message: 'no such program' } });
  await expect(all(streamOf(joined(envelopeOf(1), failure), 5))).rejects.toMatchObject({
    message: 'no such program',
    status: 'not_found',
  });
  await expect(all(streamOf(envelopeOf({ a: 1 }), 5))).rejects.toMatchObject({ code: 'ERR_SERVER_UNREACHABLE' });
  await expect(all(streamOf(Uint8Array.of(0, 255, 255, 255, 255), 5))).rejects.toThrow('a message of 4294967295 bytes');
});

test('converts the instructions of a Dockerfile to steps', () => {
  const text = `# a comment
FROM node:24-slim
ENV A=1 B="two words" C='x'
ENV OLD form of a value
WORKDIR /app
COPY --chown=user package.json src ./
RUN npm install \\
  && echo done
RUN ["node", "-e", "it's"]
EXPOSE 3000
USER user
CMD ["node", "server.js"]
`;
  expect(parseDockerfile(text)).toEqual({
    from: 'node:24-slim',
    steps: [
      { type: 'ENV', args: ['A', '1', 'B', 'two words', 'C', 'x'] },
      { type: 'ENV', args: ['OLD', 'form of a value'] },
      { type: 'WORKDIR', args: ['/app'] },
      { type: 'COPY', args: ['package.json', './', 'user', ''] },
      { type: 'COPY', args: ['src', './', 'user', ''] },
      { type: 'RUN', args: ['npm install && echo done'] },
      { type: 'RUN', args: [`'node' '-e' 'it'\\''s'`] },
      { type: 'USER', args: ['user'] },
    ],
    startCmd: `'node' 'server.js'`,
  });
});

test.each([
  ['RUN x', 'line 1: the first instruction must be FROM'],
  ['FROM a AS b', 'line 1: FROM has only the name of an image'],
  ['FROM a\nFROM b', 'line 2: a build has one stage'],
  ['FROM a\nADD x y', 'line 2: this instruction is not available'],
  ['FROM a\nCOPY --from=b x y', 'line 2: this option of COPY is not available'],
  ['FROM a\nCOPY x', 'line 2: expected SOURCE... TARGET'],
  ['FROM a\nRUN [1]', 'line 2: expected a list of texts'],
  ['', 'the Dockerfile has no FROM'],
])('refuses the Dockerfile %j', (text, message) => {
  expect(() => parseDockerfile(text)).toThrow(message);
});

const sandbox = (sandboxID: string, templateID: string) => ({ sandboxID, templateID }) as SandboxEntry;
const snapshot = (id: string, sandboxID: string, parentID?: string): SnapshotEntry => ({
  snapshotID: `${id}:default`,
  names: [],
  sandboxID,
  ...(parentID === undefined ? {} : { parentID }),
});
const shapeOf = (node: Node): unknown => {
  const name =
    node.kind === 'origin' ? node.id : node.kind === 'sandbox' ? node.entry.sandboxID : node.entry.snapshotID.slice(0, 2);
  return node.children.length === 0 ? name : [name, ...node.children.map(shapeOf)];
};

test('the tree has the ancestors and the branches of a sandbox', () => {
  const sandboxes = [sandbox('one', 'base'), sandbox('two', 's1'), sandbox('other', 'base')];
  const snapshots = [snapshot('s1', 'one'), snapshot('s2', 'one', 's1:default'), snapshot('s3', 'two'), snapshot('s4', 'other')];
  const tree = ['base', ['one', ['s1', 's2', ['two', 's3']]]];
  expect(shapeOf(treeOf('one', sandboxes, snapshots))).toEqual(tree);
  expect(shapeOf(treeOf('two', sandboxes, snapshots))).toEqual(tree);
  expect(shapeOf(treeOf('missing', sandboxes, snapshots))).toBe('base');
});

test('a tree of records that name each other ends', () => {
  const snapshots = [snapshot('s1', 'two', 's2'), snapshot('s2', 'one', 's1')];
  expect(shapeOf(treeOf('one', [sandbox('one', 's1'), sandbox('two', 's2')], snapshots))).toBeDefined();
});

test('tables contain no control characters of a sandbox', () => {
  expect(plain('a\x1b[2Jb\nc\u009bd')).toBe('a\u{fffd}[2Jb\u{fffd}c\u{fffd}d');
  expect(table(['A', 'B'], [['long cell', 'x\x07']])).toBe('A          B\nlong cell  x\u{fffd}');
  expect([distance('1970-01-01T00:01:00Z', 0), distance('1970-01-01T00:00:00Z', 7_200_000)]).toEqual(['60 s', '-2 h']);
});

test('an address of the loopback is reachable from this machine only', () => {
  expect(['127.0.0.1', '127.9.9.9', '::1', 'localhost'].map(isLoopback)).toEqual([true, true, true, true]);
  expect(['0.0.0.0', '::', '10.0.0.1', '128.0.0.1', 'example.com', ''].map(isLoopback)).toEqual(Array(6).fill(false));
});
