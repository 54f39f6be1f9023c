// Tests the files of a runtime, which the app and programs use, in every mode.

import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NodeRuntime } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';

let hostFolder: string;

beforeAll(() => {
  hostFolder = mkdtempSync(join(tmpdir(), 'coldframe-files-'));
  const store = join(hostFolder, 'node_modules/.pnpm/greet@1.0.0/node_modules/greet');
  mkdirSync(store, { recursive: true });
  writeFileSync(join(store, 'package.json'), JSON.stringify({ name: 'greet', version: '1.0.0', main: 'greet.js' }));
  writeFileSync(join(store, 'greet.js'), 'module.exports = (name) => `hello ${name}`;');
  symlinkSync('.pnpm/greet@1.0.0/node_modules/greet', join(hostFolder, 'node_modules/greet'));
  mkdirSync(join(hostFolder, 'packages/own'), { recursive: true });
  writeFileSync(join(hostFolder, 'packages/own/index.txt'), 'own');
  symlinkSync('../packages/own', join(hostFolder, 'node_modules/own'));
  mkdirSync(join(hostFolder, 'data'));
  writeFileSync(join(hostFolder, 'data/in.txt'), 'from the host');
});

afterAll(() => rmSync(hostFolder, { recursive: true, force: true }));

const reason = (work: Promise<unknown>) =>
  work.then(
    () => 'no error',
    (error) => [error.code, error.path ?? error.option ?? error.what, error.syscall],
  );

describe.each(MODES)('$name', (mode) => {
  test('programs and the app share the initial files', () =>
    withRuntime(mode, { files: { '/workspace/a/in.txt': 'seed', '/data.bin': new Uint8Array([0, 255]) } }, async (runtime) => {
      const { stdout, stderr } = await runtime.exec(`
        import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
        console.log(readFileSync('a/in.txt', 'utf8'), [...readFileSync('/data.bin')], statSync('a').uid === process.getuid());
        mkdirSync('out');
        writeFileSync('out/result.json', JSON.stringify({ pid: typeof process.pid }));
      `);
      expect(stderr).toBe('');
      expect(stdout).toBe('seed [ 0, 255 ] true\n');
      expect(Buffer.from(await runtime.readFile('/workspace/out/result.json')).toString()).toBe('{"pid":"number"}');
      expect(await runtime.readDir('/workspace')).toEqual(['a', 'out']);
      await runtime.writeFile('/workspace/out/more/x.txt', 'x');
      const again = await runtime.exec(`
        import { readdirSync } from 'node:fs';
        console.log(readdirSync('out', { recursive: true }).join());
      `);
      expect(again.stdout).toBe('more,result.json,more/x.txt\n');
    }));

  test('the app reads texts of /proc whole, and no bytes of devices', () =>
    withRuntime(mode, {}, async (runtime) => {
      const env = { LONG: 'x'.repeat(300_000) };
      const { pid } = await runtime.spawnCommand('sleep', ['100'], { env });
      expect(Buffer.from(await runtime.readFile(`/proc/${pid}/environ`)).toString()).toContain(`LONG=${env.LONG}`);
      expect((await runtime.readFile('/dev/zero')).length).toBe(0);
    }));

  test('the app writes, lists, renames and removes files', () =>
    withRuntime(mode, {}, async (runtime) => {
      const large = new Uint8Array(40 * 1024 * 1024).map((_, index) => index % 251);
      await runtime.writeFile('/tmp/large', large);
      expect(Buffer.compare(await runtime.readFile('/tmp/large'), large)).toBe(0);
      expect(await runtime.stat('/tmp/large')).toMatchObject({ type: 'file', size: large.length, isDirectory: false, uid: 1000 });
      await runtime.remove('/tmp/large');
      await runtime.mkdir('/tmp/a/b', { recursive: true });
      await runtime.mkdir('/tmp/a/b', { recursive: true });
      await runtime.writeFile('/tmp/a/f', '');
      await runtime.exec('import { symlinkSync } from "node:fs"; symlinkSync("f", "/tmp/a/l"); symlinkSync("none", "/tmp/a/n");');
      expect((await runtime.readDirWithTypes('/tmp/a')).map(({ name, type }) => `${name} ${type}`)).toEqual([
        'b directory',
        'f file',
        'l symlink',
        'n symlink',
      ]);
      expect((await runtime.stat('/tmp/a/l')).type).toBe('file');
      expect(await runtime.stat('/tmp/a/l', { followSymlinks: false })).toMatchObject({ isSymbolicLink: true, size: 1 });
      expect([await runtime.exists('/tmp/a/l'), await runtime.exists('/tmp/a/n'), await runtime.exists('/x/y')]).toEqual([
        true,
        false,
        false,
      ]);
      await runtime.rename('/tmp/a', '/tmp/z');
      expect(await reason(runtime.mkdir('/tmp/z'))).toEqual(['EEXIST', '/tmp/z', 'mkdir']);
      expect(await reason(runtime.remove('/tmp/z'))).toEqual(['ENOTEMPTY', '/tmp/z', 'rm']);
      await runtime.remove('/tmp/z', { recursive: true });
      expect(await reason(runtime.readFile('/tmp/z/f'))).toEqual(['ENOENT', '/tmp/z/f', 'open']);
      expect(await reason(runtime.readDir('/etc/hosts'))).toEqual(['ENOTDIR', '/etc/hosts', 'scandir']);
      expect(await reason(runtime.writeFile('relative', ''))).toEqual(['ERR_INVALID_OPTION', 'path', undefined]);
    }));

  test('programs read a mounted folder and change only a writable mount', () => {
    const mounts = [
      { guestPath: '/in', hostPath: join(hostFolder, 'data') },
      { guestPath: '/out', hostPath: join(hostFolder, 'data'), readOnly: false },
    ];
    return withRuntime(mode, { mounts }, async (runtime) => {
      const { stdout, stderr } = await runtime.exec(`
        import { readFileSync, rmSync, writeFileSync } from 'node:fs';
        console.log(readFileSync('/in/in.txt', 'utf8'));
        try { writeFileSync('/in/out.txt', 'x'); } catch (error) { console.log(error.code); }
        writeFileSync('/out/out.txt', 'from the guest');
        console.log(readFileSync('/in/out.txt', 'utf8'));
      `);
      expect([stdout, stderr]).toEqual(['from the host\nEROFS\nfrom the guest\n', '']);
      expect(readFileSync(join(hostFolder, 'data/out.txt'), 'utf8')).toBe('from the guest');
      await runtime.remove('/out/out.txt');
      expect(await reason(runtime.writeFile('/in/x', ''))).toEqual(['EROFS', '/in/x', 'open']);
    });
  });

  test('a watch of a mounted folder reports changes by programs and by the host machine', () => {
    const folder = mkdtempSync(join(hostFolder, 'watched-'));
    const mounts = [
      { guestPath: '/in', hostPath: folder },
      { guestPath: '/out', hostPath: folder, readOnly: false },
    ];
    return withRuntime(mode, { mounts }, async (runtime) => {
      const { stdout, stderr } = await runtime.exec(
        `
        import { watch, writeFileSync } from 'node:fs';
        const watcher = watch('/in', (kind, name) => {
          console.log(kind, name);
          watcher.close();
        });
        setTimeout(() => writeFileSync('/out/new', ''), 10);
        `,
        { timeout: 10_000 },
      );
      expect([stdout, stderr]).toEqual(['rename new\n', '']);
    });
  });

  test('programs change an overlay and the folder stays unchanged', () => {
    const folder = join(hostFolder, 'overlay');
    cpSync(join(hostFolder, 'data'), folder, { recursive: true });
    mkdirSync(join(folder, 'src/deep'), { recursive: true });
    for (let n = 0; n < 30; n++) writeFileSync(join(folder, `src/deep/file${n}`), String(n));
    const mounts = [{ guestPath: '/project', hostPath: folder, overlay: true }];
    return withRuntime(mode, { mounts, cwd: '/project' }, async (runtime) => {
      const { stdout, stderr } = await runtime.exec(`
        import {
          appendFileSync, cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync
        } from 'node:fs';
        appendFileSync('in.txt', '!');
        writeFileSync('new.txt', 'new');
        cpSync('src', 'copy', { recursive: true });
        writeFileSync('copy/deep/file1', 'changed');
        renameSync('src', 'lib');
        rmSync('lib/deep/file0');
        console.log(
          readFileSync('in.txt', 'utf8'),
          readFileSync('lib/deep/file1', 'utf8'),
          readFileSync('copy/deep/file1', 'utf8')
        );
        console.log(
          readdirSync('.').sort().join(),
          readdirSync('lib/deep').length,
          readdirSync('copy', { recursive: true }).length
        );
        rmSync('lib', { recursive: true });
        console.log(existsSync('lib'), existsSync('src'));
      `);
      expect([stdout, stderr]).toEqual(['from the host! 1 changed\ncopy,in.txt,lib,new.txt 29 31\nfalse false\n', '']);
      await runtime.remove('/project/in.txt');
      expect(await runtime.readDir('/project')).toEqual(['copy', 'new.txt']);
      expect(readdirSync(folder).sort()).toEqual(['in.txt', 'src']);
      expect(readFileSync(join(folder, 'in.txt'), 'utf8')).toBe('from the host');
      expect(readdirSync(join(folder, 'src/deep')).length).toBe(30);
    });
  });

  test('nodeModules follows links inside the folder and names the target of other links', () =>
    withRuntime(mode, { nodeModules: join(hostFolder, 'node_modules') }, async (runtime) => {
      expect(Buffer.from(await runtime.readFile('/workspace/node_modules/greet/greet.js')).toString()).toContain('hello');
      const out = runtime.readFile('/workspace/node_modules/own/index.txt');
      await expect(out).rejects.toMatchObject({ code: 'EACCES' });
      await expect(out).rejects.toThrow(/the link '\/workspace\/node_modules\/own' leads out .* mount the folder/);
    }));

  test('nodeModules follows a link into a mounted folder', () =>
    withRuntime(mode, { mounts: [{ guestPath: '/workspace', hostPath: hostFolder }] }, async (runtime) => {
      expect(Buffer.from(await runtime.readFile('/workspace/node_modules/own/index.txt')).toString()).toBe('own');
    }));

  test('limits of files are errors of the guest', () =>
    withRuntime(mode, { limits: { filesystemBytes: 100_000, inodes: 20, descriptors: 5 } }, async (runtime) => {
      const { stdout } = await runtime.exec(`
        import { mkdirSync, openSync, writeFileSync } from 'node:fs';
        const code = (work) => { try { return work(); } catch (error) { return error.code; } };
        console.log(code(() => writeFileSync('big', Buffer.alloc(200_000))));
        console.log([openSync('big'), openSync('big'), code(() => openSync('big'))].join());
        for (let n = 0; ; n++) {
          const made = code(() => mkdirSync('d' + n));
          if (made !== undefined) { console.log(n, made); break; }
        }
      `);
      expect(stdout).toBe('ENOSPC\n3,4,EMFILE\n19 ENOSPC\n');
    }));
});

test('create() refuses a missing mount and impossible files', async () => {
  const missing = join(hostFolder, 'nothing');
  expect(await reason(NodeRuntime.create({ mounts: [{ guestPath: '/m', hostPath: missing }] }))).toEqual([
    'ERR_INVALID_REQUEST',
    'mounts.hostPath',
    undefined,
  ]);
  expect(await reason(NodeRuntime.create({ files: { '/etc/hosts/x': '' } }))).toEqual(['ENOTDIR', '/etc/hosts/x', 'open']);
});
