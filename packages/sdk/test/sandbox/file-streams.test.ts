// Tests streams, watches, links and modes of a runtime's files, in every mode of provisioning.

import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FileChange } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';

let hostFolder: string;

beforeAll(() => {
  hostFolder = mkdtempSync(join(tmpdir(), 'coldframe-streams-'));
});

afterAll(() => rmSync(hostFolder, { recursive: true, force: true }));

const MIB = 1024 * 1024;

function* pieces(count: number): Generator<Buffer> {
  for (let n = 0; n < count; n++) yield Buffer.alloc(MIB, n % 251);
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'no error',
    (error) => error.code ?? error.name,
  );

async function take(watch: AsyncIterator<FileChange>, count: number): Promise<string[]> {
  const taken: string[] = [];
  while (taken.length < count) {
    const { value, done } = await watch.next();
    if (done) break;
    taken.push(`${value.type} ${value.path}`);
  }
  return taken;
}

describe.each(MODES)('$name', (mode) => {
  test('streams a large file in pieces with little memory', () =>
    withRuntime(mode, { limits: { filesystemBytes: 512 * MIB } }, async (runtime) => {
      const size = 300;
      const before = process.memoryUsage().arrayBuffers;
      let most = 0;
      const into = createHash('sha1');
      const source = function* () {
        for (const piece of pieces(size)) {
          into.update(piece);
          most = Math.max(most, process.memoryUsage().arrayBuffers);
          yield piece;
        }
      };
      await pipeline(Readable.from(source()), runtime.createWriteStream('/workspace/deep/large', { mode: 0o600 }));
      expect(await runtime.stat('/workspace/deep/large')).toMatchObject({ size: size * MIB, mode: 0o100600 });
      const out = createHash('sha1');
      const target = new Writable({
        write(chunk, _encoding, done) {
          out.update(chunk);
          most = Math.max(most, process.memoryUsage().arrayBuffers);
          setImmediate(done);
        },
      });
      await pipeline(runtime.createReadStream('/workspace/deep/large'), target);
      expect(out.digest('hex')).toBe(into.digest('hex'));
      // Array buffers of this process do not include the guest's memory.
      expect(most - before).toBeLessThan(150 * MIB);
    }));

  test('streams parts of a file, appends, and reports errors', () =>
    withRuntime(mode, { files: { '/tmp/f': '0123456789' } }, async (runtime) => {
      const text = async (options?: object) => {
        let all = '';
        for await (const chunk of runtime.createReadStream('/tmp/f', options)) all += chunk;
        return all;
      };
      expect(await text()).toBe('0123456789');
      expect(await text({ start: 3, end: 5 })).toBe('345');
      expect(await text({ start: 8 })).toBe('89');
      expect(await text({ start: 20 })).toBe('');
      expect(await text({ start: 5, end: 4 })).toBe('');
      await pipeline(Readable.from(['a', 'b'].map(Buffer.from)), runtime.createWriteStream('/tmp/f', { append: true }));
      expect(await text({ start: 8 })).toBe('89ab');
      await pipeline(Readable.from([Buffer.from('x')]), runtime.createWriteStream('/tmp/f'));
      expect(await text()).toBe('x');
      expect(await codeOf(runtime.createReadStream('/tmp/none').toArray())).toBe('ENOENT');
      expect(await codeOf(runtime.createReadStream('/tmp').toArray())).toBe('EISDIR');
      expect(await codeOf(runtime.createReadStream('relative').toArray())).toBe('ERR_INVALID_OPTION');
      expect(await codeOf(runtime.createReadStream('/tmp/f', { begin: 1 } as never).toArray())).toBe('ERR_INVALID_OPTION');
      const given = AbortSignal.abort();
      expect(await codeOf(runtime.createReadStream('/tmp/f', { signal: given }).toArray())).toBe('ABORT_ERR');
      const full = runtime.createWriteStream('/tmp/full');
      expect(await codeOf(pipeline(Readable.from(pieces(100)), full))).toBe('ENOSPC');
    }));

  test('an open stream keeps its file after a rename and releases the file at the end', () =>
    withRuntime(mode, { limits: { filesystemBytes: 4 * MIB } }, async (runtime) => {
      await runtime.writeFile('/tmp/f', Buffer.alloc(3 * MIB, 1));
      const stream = runtime.createReadStream('/tmp/f');
      const reading = stream[Symbol.asyncIterator]();
      let seen = ((await reading.next()).value as Buffer).length;
      await runtime.remove('/tmp/f');
      for (let next = await reading.next(); !next.done; next = await reading.next()) {
        expect(next.value.every((byte: number) => byte === 1)).toBe(true);
        seen += next.value.length;
      }
      expect(seen).toBe(3 * MIB);
      // Each round frees the space of its file, also if the stream was destroyed.
      for (let round = 0; round < 3; round++) {
        await runtime.writeFile('/tmp/g', Buffer.alloc(3 * MIB, 2));
        const given = runtime.createReadStream('/tmp/g');
        for await (const _ of given) break;
        await runtime.remove('/tmp/g');
      }
    }));

  test('a watch reports changes of the app and of programs in their order', () =>
    withRuntime(mode, { files: { '/workspace/d/f': '' } }, async (runtime) => {
      const treeWatch = runtime.watch('/workspace', { recursive: true });
      const fileWatch = runtime.watch('/workspace/d/f');
      await runtime.writeFile('/workspace/d/g', 'g');
      await runtime.exec(`
        import { appendFileSync, renameSync } from 'node:fs';
        appendFileSync('d/f', 'more');
        renameSync('d/g', 'h');
      `);
      expect(await take(treeWatch, 5)).toEqual([
        'rename /workspace/d/g',
        'change /workspace/d/g',
        'change /workspace/d/f',
        'rename /workspace/d/g',
        'rename /workspace/h',
      ]);
      expect(await take(fileWatch, 1)).toEqual(['change /workspace/d/f']);
      await treeWatch.return?.();
      expect(await treeWatch.next()).toEqual({ done: true, value: undefined });
      expect(await codeOf(runtime.watch('/none').next())).toBe('ENOENT');
      expect(await codeOf(runtime.watch('/proc').next())).toBe('ENOSYS');
      expect(await codeOf(runtime.watch('/workspace', { deep: true } as never).next())).toBe('ERR_INVALID_OPTION');
    }));

  test('a watch ends with its loop, its signal and its runtime', async () => {
    let pending: Promise<unknown> | undefined;
    await withRuntime(mode, {}, async (runtime) => {
      for await (const change of withChange(runtime.watch('/tmp'), () => runtime.writeFile('/tmp/a', ''))) {
        expect(change).toEqual({ type: 'rename', path: '/tmp/a' });
        break;
      }
      const controller = new AbortController();
      const waiting = runtime.watch('/tmp', { signal: controller.signal }).next();
      controller.abort(new Error('enough'));
      await expect(waiting).rejects.toThrow('enough');
      await expect(runtime.watch('/tmp', { signal: AbortSignal.abort() }).next()).rejects.toMatchObject({ name: 'AbortError' });
      pending = runtime.watch('/tmp').next();
      await runtime.stat('/tmp');
    });
    expect(await pending).toEqual({ done: true, value: undefined });
  });

  test('a watch that is not read keeps a bounded number of changes and reports the loss', () =>
    withRuntime(mode, {}, async (runtime) => {
      const watch = runtime.watch('/tmp');
      await runtime.exec(`
        import { rmSync, writeFileSync } from 'node:fs';
        for (let n = 0; n < 5000; n++) { writeFileSync('/tmp/f' + n, ''); rmSync('/tmp/f' + n); }
      `);
      let last: FileChange | undefined;
      let count = 0;
      do {
        last = (await watch.next()).value;
        count++;
      } while (last?.type !== 'overflow');
      expect(last).toEqual({ type: 'overflow', path: '/tmp' });
      expect(count).toBeLessThan(10_000);
      await watch.return?.();
    }));

  test('a watch reports changes of a mounted folder', () => {
    const folder = mkdtempSync(join(hostFolder, 'watched-'));
    return withRuntime(mode, { mounts: [{ guestPath: '/in', hostPath: folder }] }, async (runtime) => {
      const watch = runtime.watch('/in');
      await runtime.stat('/in');
      writeFileSync(join(folder, 'new'), '');
      expect(await take(watch, 1)).toEqual(['rename /in/new']);
      await watch.return?.();
      expect(await codeOf(runtime.watch('/in', { recursive: true }).next())).toBe('ENOSYS');
    });
  });

  test('sets links, modes and times', () =>
    withRuntime(mode, { files: { '/tmp/f': 'f' } }, async (runtime) => {
      await runtime.symlink('f', '/tmp/l');
      expect(await runtime.readlink('/tmp/l')).toBe('f');
      expect(await codeOf(runtime.readlink('/tmp/f'))).toBe('EINVAL');
      expect(await codeOf(runtime.symlink('f', '/tmp/l'))).toBe('EEXIST');
      expect(await codeOf(runtime.symlink('', '/tmp/m'))).toBe('ERR_INVALID_OPTION');
      await runtime.chmod('/tmp/l', 0o751);
      await runtime.utimes('/tmp/l', new Date(1000), -2000.5);
      expect(await runtime.stat('/tmp/f')).toMatchObject({ mode: 0o100751, atimeMs: 1000, mtimeMs: -2000.5 });
      expect(await codeOf(runtime.chmod('/tmp/f', 0o4755))).toBe('ERR_INVALID_OPTION');
      expect(await codeOf(runtime.utimes('/tmp/f', Number.NaN, 0))).toBe('ERR_INVALID_OPTION');
      await runtime.writeFile('/tmp/tool', '#!/bin/sh\necho ran', { mode: 0o755 });
      expect((await runtime.execCommand('/tmp/tool')).stdout).toBe('ran\n');
    }));
});

async function* withChange<T>(watch: AsyncIterable<T>, change: () => Promise<void>): AsyncGenerator<T> {
  await change();
  yield* watch;
}
