// Tests app file systems in every mode: operations of programs, faulty file systems, and waiting
// programs.

import { describe, expect, test } from 'vitest';
import { createMemoryFileSystem, type FileSystem } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';

// A program that uses files and prints their state. The output must be equal in the runtime's own
// tree and in an app file system.
const PROGRAM = `
  import assert from 'node:assert';
  import * as fs from 'node:fs';
  const code = (work) => { try { work(); return 'done'; } catch (error) { return error.code; } };
  const log = [];
  fs.mkdirSync('a/b/c', { recursive: true });
  fs.writeFileSync('a/f', 'hello');
  fs.appendFileSync('a/f', ' world');
  log.push(fs.readFileSync('a/f', 'utf8'), fs.statSync('a/f').size, fs.statSync('a/b').isDirectory());
  log.push(code(() => fs.readFileSync('a/none')), code(() => fs.readFileSync('a')), code(() => fs.mkdirSync('a')));
  log.push(code(() => fs.rmdirSync('a')), code(() => fs.unlinkSync('a/b')), code(() => fs.readdirSync('a/f')));
  log.push(code(() => fs.writeFileSync('a/f', 'x', { flag: 'wx' })), code(() => fs.openSync('none/f', 'w')));
  const fd = fs.openSync('a/g', 'w+');
  fs.writeSync(fd, 'abc', 5);
  log.push(fs.fstatSync(fd).size, [...fs.readFileSync('a/g')].join());
  fs.ftruncateSync(fd, 6);
  log.push(fs.readSync(fd, Buffer.alloc(10), 0, 10, 4));
  fs.closeSync(fd);
  fs.renameSync('a/g', 'a/b/g');
  log.push(
    code(() => fs.renameSync('a', 'a/b/x')),
    code(() => fs.renameSync('a/f', 'a/b')),
    code(() => fs.renameSync('a/b', 'a/f'))
  );
  fs.renameSync('a/f', 'a/b/g');
  log.push(fs.readFileSync('a/b/g', 'utf8'), fs.existsSync('a/f'));
  fs.symlinkSync('b/g', 'a/link');
  fs.symlinkSync('loop', 'a/loop');
  log.push(
    fs.readFileSync('a/link', 'utf8'), fs.readlinkSync('a/link'), fs.lstatSync('a/link').isSymbolicLink(),
    code(() => fs.statSync('a/loop'))
  );
  fs.chmodSync('a/b/g', 0o400);
  log.push((fs.statSync('a/b/g').mode & 0o777).toString(8), code(() => fs.writeFileSync('a/b/g', 'x')));
  fs.chmodSync('a/b/g', 0o644);
  fs.utimesSync('a/b/g', 1, 2.5);
  log.push(fs.statSync('a/b/g').mtimeMs);
  fs.copyFileSync('a/b/g', 'a/copy');
  log.push(fs.readFileSync('a/copy', 'utf8'), fs.realpathSync('a/link').endsWith('/a/b/g'));
  const large = Buffer.alloc(5_000_000, 'large');
  fs.writeFileSync('a/large', large);
  assert(fs.readFileSync('a/large').equals(large));
  for (let n = 0; n < 50; n++) fs.writeFileSync('a/b/c/' + n, String(n));
  log.push(fs.readdirSync('a', { recursive: true }).length, fs.readdirSync('a').sort().join());
  const types = fs.readdirSync('a', { withFileTypes: true }).map((one) => one.name + ':' + one.isDirectory());
  log.push(types.sort().join());
  await fs.promises.writeFile('a/p', 'promise');
  log.push(await fs.promises.readFile('a/p', 'utf8'), (await fs.promises.readdir('a/b')).sort().join());
  log.push(await fs.promises.stat('a/none').catch((error) => error.code));
  const chunks = [];
  for await (const chunk of fs.createReadStream('a/large')) chunks.push(chunk);
  log.push(Buffer.concat(chunks).equals(large));
  fs.rmSync('a', { recursive: true });
  log.push(fs.readdirSync('.').join());
  console.log(JSON.stringify(log));
`;

const codes = (path: string) => `
  import * as fs from 'node:fs';
  const code = (work) => { try { return String(work()); } catch (error) { return error.code; } };
  console.log([
    () => fs.statSync('${path}/f').size, () => fs.readdirSync('${path}').sort().join(),
    () => fs.readFileSync('${path}/f', 'utf8'), () => fs.writeFileSync('${path}/f', 'x'), () => fs.mkdirSync('${path}/d')
  ].map(code).join());
`;

const file = { type: 'file', size: 3 } as const;

describe.each(MODES)('$name', (mode) => {
  test("programs get equal results in an app file system and in the runtime's own tree", () =>
    withRuntime(mode, { mounts: [{ guestPath: '/mem', fileSystem: createMemoryFileSystem() }] }, async (runtime) => {
      const own = await runtime.exec(PROGRAM);
      expect([own.stderr, own.exitCode]).toEqual(['', 0]);
      const mounted = await runtime.exec(PROGRAM, { cwd: '/mem' });
      expect([mounted.stderr, mounted.stdout]).toEqual(['', own.stdout]);
    }));

  test('shares changes between the app and the programs of two runtimes', async () => {
    const fileSystem = createMemoryFileSystem();
    const mounts = [{ guestPath: '/workspace', fileSystem }];
    fileSystem.create('/main.js', 0o644);
    fileSystem.write(
      '/main.js',
      0,
      Buffer.from("require('fs').writeFileSync('out', require('./lib').text); console.log('ran');"),
    );
    fileSystem.create('/lib.js', 0o644);
    fileSystem.write('/lib.js', 0, Buffer.from("exports.text = 'from a module';"));
    await withRuntime(mode, { mounts }, async (runtime) => {
      expect((await runtime.execFile('main.js')).stdout).toBe('ran\n');
      expect(Buffer.from(fileSystem.read('/out', 0, 100) as Uint8Array).toString()).toBe('from a module');
      const shell = await runtime.execCommand('sh', ['-c', 'cat out | tr a-z A-Z > shouted; ls; cat shouted']);
      expect([shell.stderr, shell.stdout]).toEqual(['', 'lib.js\nmain.js\nout\nshouted\nFROM A MODULE']);
      await withRuntime(mode, { mounts: [{ guestPath: '/other', fileSystem, readOnly: true }] }, async (other) => {
        const { stdout } = await other.exec(codes('/other'));
        expect(stdout).toBe('ENOENT,lib.js,main.js,out,shouted,ENOENT,EROFS,EROFS\n');
      });
      await expect(runtime.readFile('/workspace/out')).rejects.toMatchObject({ code: 'EOPNOTSUPP' });
    });
  });

  test('a missing, faulty or hanging method is an error of the guest', async () => {
    const thrown = (code?: string) => () => {
      throw Object.assign(new Error('a secret of the host'), { code });
    };
    const never = () => new Promise<never>(() => {});
    const wrong = (values: object): FileSystem => ({
      stat: () => file,
      readDir: () => [],
      read: (_path, offset) => Buffer.from('abc').subarray(offset),
      ...values,
    });
    const systems: [FileSystem, string][] = [
      [wrong({}), '3,,abc,EROFS,EEXIST'],
      [wrong({ stat: thrown('EACCES'), readDir: thrown('ENOTDIR') }), 'EACCES,ENOTDIR,EACCES,EACCES,EACCES'],
      [wrong({ stat: thrown(), readDir: thrown('ERR_MINE'), read: thrown('ERESTART') }), 'EIO,EIO,EIO,EIO,EIO'],
      [wrong({ stat: () => null, readDir: () => 5 }), 'EIO,EIO,EIO,EIO,EIO'],
      [
        wrong({ stat: () => ({ type: 'file', size: -1 }), readDir: () => [{ name: 'a/b', type: 'file' }] }),
        'EIO,EIO,EIO,EIO,EIO',
      ],
      [wrong({ stat: () => ({ type: 'pipe', size: 1 }), readDir: () => [{ name: '..', type: 'file' }] }), 'EIO,EIO,EIO,EIO,EIO'],
      [wrong({ stat: () => ({ ...file, mtimeMs: Number.NaN }), readDir: () => [null] }), 'EIO,EIO,EIO,EIO,EIO'],
      [wrong({ read: () => Buffer.alloc(5 << 20), write: never, truncate: () => {} }), '3,,EIO,ETIMEDOUT,EEXIST'],
      [wrong({ read: () => 'text', readDir: async () => Promise.reject(undefined) }), '3,EIO,EIO,EROFS,EEXIST'],
      [wrong({ stat: never, readDir: never, read: never }), 'ETIMEDOUT,ETIMEDOUT,ETIMEDOUT,ETIMEDOUT,ETIMEDOUT'],
    ];
    const mounts = systems.map(([fileSystem], index) => ({ guestPath: `/fs${index}`, fileSystem, timeout: 50 }));
    await withRuntime(mode, { mounts }, async (runtime) => {
      for (const [index, [, expected]] of systems.entries()) {
        const { stdout, stderr } = await runtime.exec(codes(`/fs${index}`));
        expect([index, stderr, stdout]).toEqual([index, '', `${expected}\n`]);
      }
    });
  });

  test('a program that waits for the app blocks no other program and can be ended', async () => {
    let notifyRead = () => {};
    const readStarted = new Promise<void>((resolve) => {
      notifyRead = resolve;
    });
    let respond = (_bytes: Uint8Array) => {};
    const fileSystem: FileSystem = {
      stat: () => file,
      readDir: () => [],
      read: () =>
        new Promise((resolve) => {
          respond = resolve;
          notifyRead();
        }),
    };
    await withRuntime(mode, { mounts: [{ guestPath: '/slow', fileSystem }] }, async (runtime) => {
      const read = "console.log(require('node:fs').readFileSync('/slow/f', 'utf8'))";
      const waiting = runtime.spawnCommand('node', ['-e', read]);
      await readStarted;
      expect((await runtime.exec('console.log("not held up")')).stdout).toBe('not held up\n');
      respond(Buffer.from('abc'));
      // The program reads again, because the first read filled its buffer.
      const again = setInterval(() => respond(new Uint8Array(0)), 5);
      expect((await (await waiting).result).stdout).toBe('abc\n');
      clearInterval(again);
      const timed = await runtime.exec("import fs from 'node:fs'; fs.readFileSync('/slow/f');", { timeout: 100 });
      expect(timed.error?.code).toBe('ERR_TIMEOUT');
    });
  });
});
