// Tests that a link of a program never leads a call of the app into a mount. A program can put a
// link where the app writes next. The policy applies to the program that follows a link, but not to
// the app. Without a check, the app's call would change or read the file that the program chose.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { NodeRuntime, NodeRuntimeOptions } from '../../src/index.js';
import { repetitions } from '../repetitions.js';
import { MODES, withMode, withRuntime } from './modes.js';

let host: string;
beforeEach(() => {
  host = mkdtempSync(join(tmpdir(), 'coldframe-'));
  mkdirSync(join(host, 'folder'));
  writeFileSync(join(host, 'secret'), 'SECRET');
});
afterEach(() => rmSync(host, { recursive: true, force: true }));

/** A runtime whose programs must not use the mounted folder. */
const options = (overlay = false): NodeRuntimeOptions => ({
  mounts: [{ hostPath: host, guestPath: '/denied', ...(overlay ? { overlay } : { readOnly: false }) }],
  permissions: { fs: { default: 'allow', rules: [{ mode: 'deny', paths: ['/denied'] }] } },
});

const links = (runtime: NodeRuntime, pairs: Record<string, string>) =>
  runtime.exec(`
    import fs from 'node:fs';
    for (const [path, target] of Object.entries(${JSON.stringify(pairs)})) fs.symlinkSync(target, path);`);

const refusalOf = (call: Promise<unknown>) =>
  call.then(
    () => 'no error',
    ({ code, link, mount }) => ({ code, link, mount }),
  );

describe.each(MODES)('$name', (mode) => {
  test.each([false, true])('refuses a call of the app that a link would lead into a mount (overlay %s)', (overlay) =>
    withRuntime(mode, options(overlay), async (runtime) => {
      const { stderr } = await links(runtime, {
        '/workspace/upload.txt': '/denied/secret',
        '/workspace/new.txt': '../denied/new',
        '/workspace/up': '..',
        '/workspace/folder': '/denied/folder',
        '/workspace/twice': 'upload.txt',
        '/workspace/proc': '/proc/self/root',
      });
      expect(stderr).toBe('');
      const archive = await buffer(runtime.exportTar('/tmp'));
      const calls: Record<string, [link: string, call: () => Promise<unknown>]> = {
        write: ['upload.txt', () => runtime.writeFile('/workspace/upload.txt', 'OWNED')],
        'write a new file': ['new.txt', () => runtime.writeFile('/workspace/new.txt', 'OWNED')],
        'write a stream': [
          'upload.txt',
          () => pipeline(['OWNED'], runtime.createWriteStream('/workspace/upload.txt', { append: true })),
        ],
        'read a stream': ['upload.txt', () => buffer(runtime.createReadStream('/workspace/upload.txt'))],
        'write below a folder': ['folder', () => runtime.writeFile('/workspace/folder/a/b', 'OWNED')],
        'write through two links': ['twice', () => runtime.writeFile('/workspace/twice', 'OWNED')],
        'write through a folder in memory': ['up', () => runtime.writeFile('/workspace/up/denied/secret', 'OWNED')],
        read: ['upload.txt', () => runtime.readFile('/workspace/upload.txt')],
        stat: ['upload.txt', () => runtime.stat('/workspace/upload.txt')],
        exists: ['upload.txt', () => runtime.exists('/workspace/upload.txt')],
        list: ['folder', () => runtime.readDir('/workspace/folder')],
        mkdir: ['folder', () => runtime.mkdir('/workspace/folder/a', { recursive: true })],
        remove: ['up', () => runtime.remove('/workspace/up/denied/secret')],
        'remove a folder': ['up', () => runtime.remove('/workspace/up/denied/folder', { recursive: true })],
        'rename from': ['up', () => runtime.rename('/workspace/up/denied/secret', '/workspace/a')],
        'rename to': ['up', () => runtime.rename('/etc/hosts', '/workspace/up/denied/hosts')],
        chmod: ['upload.txt', () => runtime.chmod('/workspace/upload.txt', 0o777)],
        symlink: ['folder', () => runtime.symlink('x', '/workspace/folder/x')],
        watch: [
          'folder',
          async () => {
            for await (const _ of runtime.watch('/workspace/folder')) break;
          },
        ],
        import: ['folder', () => runtime.importTar(archive, { path: '/workspace/folder' })],
        export: ['folder', () => buffer(runtime.exportTar('/workspace/folder'))],
      };
      const refused = Object.fromEntries(
        Object.entries(calls).map(([name, [link]]) => [
          name,
          { code: 'ERR_LINK_TO_MOUNT', link: `/workspace/${link}`, mount: '/denied' },
        ]),
      );
      const received: Record<string, unknown> = {};
      for (const [name, [, call]] of Object.entries(calls)) received[name] = await refusalOf(call());
      expect(received).toEqual(refused);
      expect(readFileSync(join(host, 'secret'), 'utf8')).toBe('SECRET');
      expect(readdirSync(host, { recursive: true }).toSorted()).toEqual(['folder', 'secret']);
      // The app's own path leads into the mount.
      expect(Buffer.from(await runtime.readFile('/denied/secret')).toString()).toBe('SECRET');
    }),
  );

  test('follows links inside one tree, and links that no program can have made', () =>
    withRuntime(
      mode,
      {
        mounts: [
          { hostPath: host, guestPath: '/a', readOnly: true },
          { hostPath: join(host, 'folder'), guestPath: '/b', readOnly: true },
          { hostPath: join(host, 'folder'), guestPath: '/c', overlay: true },
        ],
      },
      async (runtime) => {
        symlinkSync('folder/file', join(host, 'inside'));
        writeFileSync(join(host, 'folder/file'), 'text');
        symlinkSync(join(host, 'secret'), join(host, 'folder/across'));
        expect(
          (await links(runtime, { '/tmp/one': '/workspace/two', '/workspace/two': '../tmp/file', '/c/own': '/c/file' })).stderr,
        ).toBe('');
        await runtime.writeFile('/tmp/one', 'written');
        const read = async (path: string) => Buffer.from(await runtime.readFile(path)).toString();
        expect(await Promise.all(['/tmp/file', '/a/inside', '/b/across', '/c/own', '/c/across'].map(read))).toEqual([
          'written',
          'text',
          'SECRET',
          'text',
          'SECRET',
        ]);
      },
    ));

  test('a program cannot put a link between the check and the write of the app', () =>
    withMode(mode, async (provisioning) => {
      const runtime = await provisioning.create(options());
      const racing = await runtime.spawn(`
        import fs from 'node:fs';
        for (;;) {
          fs.rmSync('upload.txt', { force: true });
          fs.symlinkSync('/denied/secret', 'upload.txt');
          fs.rmSync('upload.txt', { force: true });
          fs.writeFileSync('upload.txt', '');
        }`);
      const codes = new Set<string>();
      for (let round = 0; round < repetitions(300, 10_000); round++) {
        codes.add(
          await runtime.writeFile('/workspace/upload.txt', 'OWNED').then(
            () => 'written',
            ({ code }) => code,
          ),
        );
        if (round % 16 === 0) await setImmediate();
      }
      await racing.kill();
      expect([...codes].filter((code) => code !== 'written' && code !== 'ERR_LINK_TO_MOUNT')).toEqual([]);
      expect(readFileSync(join(host, 'secret'), 'utf8')).toBe('SECRET');
      await runtime.dispose();
    }));
});
