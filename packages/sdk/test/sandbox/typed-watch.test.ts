// Tests typed events of watches and the barrier `drain()` in every mode.

import { appendFileSync, chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FileEvent } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';

const short = (events: FileEvent[]) =>
  events.map(({ type, path, to }) => [type, path, ...(to === undefined ? [] : [to])].join(' '));

describe.each(MODES)('$name', (mode) => {
  test('reports the kind of each change of the app, and both names of a rename', () =>
    withRuntime(mode, {}, async (runtime) => {
      await runtime.mkdir('/w/deep', { recursive: true });
      const watch = runtime.watch('/w', { typed: true });
      const recursive = runtime.watch('/w', { typed: true, recursive: true });
      await Promise.all([watch.ready, recursive.ready]);
      expect(await watch.drain()).toEqual([]);
      await runtime.writeFile('/w/f', 'x');
      expect(short(await watch.drain())).toEqual(['create /w/f', 'write /w/f']);
      await runtime.writeFile('/w/g', 'x', { owner: 'user' });
      expect(short(await watch.drain())).toEqual(['create /w/g', 'chmod /w/g', 'write /w/g']);
      await runtime.rename('/w/f', '/w/h');
      await runtime.rename('/w/h', '/w/deep/h');
      await runtime.rename('/w/deep/h', '/outside');
      await runtime.rename('/outside', '/w/back');
      await runtime.chmod('/w/back', 0o600);
      await runtime.chown('/w/back', 'root');
      await runtime.utimes('/w/back', 0, 0);
      await runtime.remove('/w/back');
      expect(short(await watch.drain())).toEqual([
        'rename /w/f /w/h',
        'rename /w/h',
        'create /w/back',
        'chmod /w/back',
        'remove /w/back',
      ]);
      expect(short(await recursive.drain())).toEqual([
        'create /w/f',
        'write /w/f',
        'create /w/g',
        'chmod /w/g',
        'write /w/g',
        'rename /w/f /w/h',
        'rename /w/h /w/deep/h',
        'rename /w/deep/h',
        'create /w/back',
        'chmod /w/back',
        'remove /w/back',
      ]);
      expect(await watch.drain()).toEqual([]);
    }));

  test('drain() returns everything that a program did before', () =>
    withRuntime(mode, {}, async (runtime) => {
      const watch = runtime.watch('/workspace', { typed: true });
      await runtime.exec(`
        import fs from 'node:fs';
        for (let n = 0; n < 100; n++) fs.mkdirSync('d' + n);
      `);
      expect(short(await watch.drain())).toEqual(Array.from({ length: 100 }, (_, n) => `create /workspace/d${n}`));
      const next = watch.next();
      await runtime.mkdir('/workspace/last');
      expect((await next).value).toEqual({ type: 'create', path: '/workspace/last' });
      expect(await watch.drain()).toEqual([]);
      await watch.return?.();
      expect(await watch.drain()).toEqual([]);
    }));

  test('a watch without types reports rename and change as before', () =>
    withRuntime(mode, {}, async (runtime) => {
      const watch = runtime.watch('/workspace');
      await runtime.writeFile('/workspace/f', 'x');
      await runtime.rename('/workspace/f', '/workspace/g');
      expect(await watch.drain()).toEqual([
        { type: 'rename', path: '/workspace/f' },
        { type: 'change', path: '/workspace/f' },
        { type: 'rename', path: '/workspace/f' },
        { type: 'rename', path: '/workspace/g' },
      ]);
    }));

  test('ready and drain() report a watch that cannot start', () =>
    withRuntime(mode, {}, async (runtime) => {
      const watch = runtime.watch('/none', { typed: true });
      await expect(watch.ready).rejects.toMatchObject({ code: 'ENOENT', path: '/none' });
      await expect(watch.drain()).rejects.toMatchObject({ code: 'ENOENT' });
      const proc = runtime.watch('/proc', { typed: true });
      await expect(proc.ready).rejects.toMatchObject({ code: 'ENOSYS' });
    }));
});

test('a watch of a mounted folder reports typed events of the host machine', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coldframe-typed-watch-'));
  writeFileSync(join(folder, 'old'), '');
  const mounts = [{ guestPath: '/host', hostPath: folder, readOnly: false }];
  return withRuntime(MODES[1] as (typeof MODES)[number], { mounts }, async (runtime) => {
    const watch = runtime.watch('/host', { typed: true });
    await watch.ready;
    writeFileSync(join(folder, 'f'), '');
    appendFileSync(join(folder, 'f'), 'x');
    chmodSync(join(folder, 'f'), 0o600);
    renameSync(join(folder, 'f'), join(folder, 'g'));
    rmSync(join(folder, 'g'));
    await runtime.rename('/host/old', '/host/new');
    expect(short(await watch.drain())).toEqual([
      'create /host/f',
      'write /host/f',
      'chmod /host/f',
      'rename /host/f /host/g',
      'remove /host/g',
      'rename /host/old /host/new',
    ]);
  }).finally(() => rmSync(folder, { recursive: true, force: true }));
});
