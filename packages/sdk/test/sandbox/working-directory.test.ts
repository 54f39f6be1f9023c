// Tests the option `cwd` of every call that starts a program. A directory that does not exist is an
// error of the call, and no program starts.

import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createMemoryFileSystem, type NodeRuntime } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';
import { codeOf } from './network-helpers.js';

const WRITE = `import fs from 'node:fs'; fs.writeFileSync('/tmp/started', '')`;

/** Every call that starts a program in a directory. */
const CALLS: [string, (runtime: NodeRuntime, cwd: string) => Promise<unknown>][] = [
  ['exec()', (runtime, cwd) => runtime.exec(WRITE, { cwd })],
  ['run()', (runtime, cwd) => runtime.run(WRITE, { cwd })],
  ['execFile()', (runtime, cwd) => runtime.execFile('/tmp/write.mjs', { cwd })],
  ['spawn()', async (runtime, cwd) => (await runtime.spawn(WRITE, { cwd })).wait()],
  ['execCommand()', (runtime, cwd) => runtime.execCommand('touch', ['/tmp/started'], { cwd })],
  ['spawnCommand()', async (runtime, cwd) => (await runtime.spawnCommand('touch', ['/tmp/started'], { cwd })).wait()],
  ['createResidentRunner()', async (runtime, cwd) => (await runtime.createResidentRunner({ cwd })).exec(WRITE)],
];

describe.each(MODES)('$name', (mode) => {
  test.each(CALLS)('%s refuses a working directory that is missing or no directory', (name, call) =>
    withRuntime(mode, { files: { '/tmp/write.mjs': WRITE, '/tmp/file': '' } }, async (runtime) => {
      for (const [cwd, code] of [
        ['/nowhere/at all', 'ENOENT'],
        ['/tmp/file', 'ENOTDIR'],
        ['/tmp/file/below', 'ENOTDIR'],
      ] as const) {
        await expect(call(runtime, cwd)).rejects.toMatchObject({ name: 'ColdframeError', code, path: cwd });
      }
      await expect(call(runtime, '/nowhere')).rejects.toMatchObject({
        syscall: 'chdir',
        message: `ENOENT: no such directory, chdir '/nowhere' (option \`cwd\` of ${name})`,
      });
      expect([await runtime.exists('/tmp/started'), await runtime.exists('/nowhere')]).toEqual([false, false]);
      expect((await runtime.processes()).length).toBe(0);
      await call(runtime, '/tmp');
      expect(await runtime.exists('/tmp/started')).toBe(true);
    }),
  );

  test('accepts links to directories, and directories of mounts', () => {
    const fileSystem = createMemoryFileSystem();
    return withRuntime(
      mode,
      {
        mounts: [
          { guestPath: '/repository', hostPath: fileURLToPath(new URL('../../../../', import.meta.url)) },
          { guestPath: '/mem', fileSystem },
        ],
      },
      async (runtime) => {
        await runtime.symlink('/repository/packages', '/tmp/link');
        await runtime.exec(`import fs from 'node:fs'; fs.mkdirSync('/mem/deep')`);
        for (const [cwd, name] of [
          ['/repository', 'package.json'],
          ['/tmp/link', 'sdk'],
          ['/mem', 'deep'],
        ] as const) {
          const { stdout } = await runtime.exec(`import fs from 'node:fs'; console.log(fs.readdirSync('.').join())`, { cwd });
          expect(stdout.trim().split(',')).toContain(name);
        }
        expect(await codeOf(runtime.exec('', { cwd: '/repository/nowhere' }))).toBe('ENOENT');
        await expect(runtime.exec('', { cwd: '/mem/deep' })).rejects.toMatchObject({
          code: 'EOPNOTSUPP',
          path: '/mem/deep',
          message: expect.stringContaining('below the mount point of an app file system'),
        });
      },
    );
  });

  test('a call whose runtime is disposed during the check rejects', () =>
    withRuntime(mode, {}, async (runtime) => {
      const started = codeOf(runtime.exec('', { cwd: '/tmp' }));
      await runtime.dispose();
      expect(await started).toBe('ERR_RUNTIME_DISPOSED');
    }));
});
