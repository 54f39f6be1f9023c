// Tests the parts of the agent that only compute: signatures, users, paths, the queue, and the
// targets of requests.

import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { refusalOf, signatureOf } from '../src/envd/access.ts';
import { BACKLOG_BYTES, Backlog } from '../src/envd/backlog.ts';
import { resolvePath } from '../src/envd/paths.ts';
import { Program } from '../src/envd/programs.ts';
import { Queue } from '../src/envd/queue.ts';
import { DEFAULT_USER, userOf, userOfHeader } from '../src/envd/user.ts';
import { targetOf } from '../src/front/target.ts';

test('a signature opens one path for one operation until its expiration', () => {
  const parts = { path: '/a', operation: 'read' as const, username: 'user', expiration: '100' };
  const signature = signatureOf(parts, 'secret');
  expect(signature).toMatch(/^v1_[A-Za-z0-9+/]{43}$/);
  expect(refusalOf({ ...parts, signature }, 'secret', 99_999)).toBeUndefined();
  expect(refusalOf({ ...parts, signature }, 'secret', 100_001)).toBe('signature is already expired');
  expect(refusalOf({ ...parts, signature: undefined }, 'secret', 0)).toBe('missing signature query parameter');
  for (const change of [{ path: '/b' }, { operation: 'write' as const }, { username: '' }, { expiration: '101' }]) {
    expect(refusalOf({ ...parts, ...change, signature }, 'secret', 0)).toBe('invalid signature');
  }
  expect(refusalOf({ ...parts, signature }, 'other', 0)).toBe('invalid signature');
});

test('the user of a call is in the header, and only known users exist', () => {
  const header = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  expect(userOfHeader(undefined).user).toBe(DEFAULT_USER);
  expect(userOfHeader(header('root:')).user?.home).toBe('/root');
  expect(userOfHeader(header('constructor:'))).toEqual({ name: 'constructor', user: undefined });
  expect(userOf('__proto__')).toBeUndefined();
});

test('paths are relative to the home directory', () => {
  const paths = ['a/../b', '~', '~/x', '/x/', '', '/..', '~other'];
  expect(paths.map((path) => resolvePath(path, DEFAULT_USER))).toEqual([
    '/home/user/b',
    '/home/user',
    '/home/user/x',
    '/x',
    '/home/user',
    '/',
    '/home/user/~other',
  ]);
});

test('a full queue makes its producer wait, and its end releases the producer', async () => {
  const queue = new Queue<string>(2, ({ length }) => length);
  expect(queue.push('a')).toBeUndefined();
  const full = queue.push('b');
  expect(full).toBeInstanceOf(Promise);
  const values = queue[Symbol.asyncIterator]();
  expect(await values.next()).toEqual({ done: false, value: 'a' });
  await full;
  const again = queue.push('cc');
  queue.end();
  await again;
  expect([(await values.next()).value, (await values.next()).value, (await values.next()).done]).toEqual(['b', 'cc', true]);
  expect(queue.push('d')).toBeUndefined();
});

test('the host name or two headers name the port of a sandbox', () => {
  const of = (host: string, id?: string, port?: string) =>
    targetOf({ headers: { host, 'e2b-sandbox-id': id, 'e2b-sandbox-port': port } } as unknown as IncomingMessage);
  expect(of('localhost:3000')).toBeUndefined();
  expect(of('api.example.com')).toBeUndefined();
  expect(of('8080-iabc.sbx.test:8443')).toEqual({ id: 'iabc', port: 8080 });
  expect(of('localhost', 'iabc', '49983')).toEqual({ id: 'iabc', port: 49_983 });
  expect(of('[::1]:3000', 'iabc', '80')).toEqual({ id: 'iabc', port: 80 });
  expect(of('sandbox.example.com', 'iabc', '80')).toEqual({ id: 'iabc', port: 80 });
  // The host name wins over the headers.
  expect(of('8080-iabc.sbx.test', 'other', '80')).toEqual({ id: 'iabc', port: 8080 });
  for (const [id, port] of [['iabc'], ['i/c', '80'], ['iabc', '0'], ['iabc', '65536'], ['iabc', 'x']]) {
    expect(of('localhost', id, port)).toBe('malformed');
  }
});

test('a closed queue returns the values that no loop has read', async () => {
  const queue = new Queue<string>(100, ({ length }) => length);
  for (const value of ['a', 'b', 'c']) queue.push(value);
  const values = queue[Symbol.asyncIterator]();
  expect((await values.next()).value).toBe('a');
  expect(queue.close()).toEqual(['b', 'c']);
  expect([(await values.next()).done, queue.close()]).toEqual([true, []]);
});

const textsOf = (backlog: Backlog) => backlog.take().map(({ source, bytes }) => [source, Buffer.from(bytes).toString()]);
const bytesOf = (text: string): Uint8Array => Buffer.from(text);

test('a backlog keeps the order of sources, and joins small pieces of one source', () => {
  const backlog = new Backlog();
  for (const [source, text] of [
    ['stdout', 'a'],
    ['stdout', 'b'],
    ['stderr', 'c'],
    ['stdout', 'd'],
    ['stdout', ''],
  ] as const) {
    backlog.add({ source, bytes: bytesOf(text) });
  }
  expect(textsOf(backlog)).toEqual([
    ['stdout', 'ab'],
    ['stderr', 'c'],
    ['stdout', 'd'],
  ]);
  expect(backlog.take()).toEqual([]);
});

test('a backlog keeps the newest bytes, and a bounded number of pieces', () => {
  const backlog = new Backlog();
  const all = Array.from({ length: 20_000 }, (_, at) => `${String(at).padStart(7)}\n`).join('');
  for (let at = 0; at < all.length; at += 1_000) backlog.add({ source: 'pty', bytes: bytesOf(all.slice(at, at + 1_000)) });
  const kept = textsOf(backlog)
    .map(([, text]) => text)
    .join('');
  expect(kept).toBe(all.slice(-BACKLOG_BYTES));
  backlog.add({ source: 'pty', bytes: bytesOf(all) });
  expect(textsOf(backlog)).toEqual([['pty', all.slice(-BACKLOG_BYTES)]]);
  for (let at = 0; at < 10_000; at++) backlog.add({ source: at % 2 === 0 ? 'stdout' : 'stderr', bytes: bytesOf('x') });
  expect(backlog.take().length).toBe(1_024);
});

test('the kept output does not hold the buffer of its chunk', () => {
  const backlog = new Backlog();
  const chunk = Buffer.alloc(1 << 20, 'a');
  backlog.add({ source: 'stdout', bytes: chunk.subarray(0, 5_000) });
  chunk.fill('b');
  expect(textsOf(backlog)).toEqual([['stdout', 'a'.repeat(5_000)]]);
});

test('the output that the last reader has not taken precedes the output after it has left', () => {
  const program = new Program({ cmd: 'x', args: [], envs: {}, cwd: undefined, tag: undefined, hasStdin: true }, false);
  const { onStdout, onStderr } = program.handlers;
  const readerOf = (seen: string[]) => ({
    output: (source: string, bytes: Uint8Array) => void seen.push(`${source} ${Buffer.from(bytes)}`),
    end: () => void seen.push('end'),
  });
  const untaken = [{ source: 'stdout' as const, bytes: bytesOf('untaken') }];
  const first: string[] = [];
  const second: string[] = [];
  const third: string[] = [];
  const observed: string[] = [];
  program.observe(readerOf(observed));
  onStdout(bytesOf('before'));
  const [one, two] = [readerOf(first), readerOf(second)];
  program.read(one);
  program.read(two);
  onStderr(bytesOf('live'));
  program.leave(one, untaken);
  program.leave(two, [...untaken, { source: 'stderr', bytes: bytesOf('live') }]);
  onStderr(bytesOf('after'));
  program.read(readerOf(third));
  onStdout(bytesOf('live again'));
  expect(first).toEqual(['stdout before', 'stderr live']);
  expect(second).toEqual(['stderr live']);
  expect(third).toEqual(['stdout untaken', 'stderr liveafter', 'stdout live again']);
  expect(observed).toEqual(['stdout before', 'stderr live', 'stderr after', 'stdout live again']);
});
