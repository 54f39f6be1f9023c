// Tests the users of a runtime in every mode: the option `user`, owners of files and permission
// bits. Also tests the commands su, sudo, id, whoami, chown and ls.

import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { NodeRuntime } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';

const sh = (runtime: NodeRuntime, command: string, options: object = {}) =>
  runtime
    .execCommand('sh', ['-c', command], options)
    .then(({ stdout, stderr, exitCode }) => ({ out: stdout + stderr, exitCode }));

const code = (work: Promise<unknown>) =>
  work.then(
    () => 'no error',
    (error) => error.code,
  );

describe.each(MODES)('$name', (mode) => {
  test('a program runs as the user of its option', () =>
    withRuntime(mode, {}, async (runtime) => {
      const program = `
        import os from 'node:os';
        const { username, homedir } = os.userInfo();
        const ids = [process.getuid(), process.geteuid(), process.getgid(), process.getgroups().join()];
        console.log(...ids, username, homedir, os.homedir(), process.env.USER);
      `;
      expect((await runtime.exec(program)).stdout).toBe('1000 1000 1000 1000 user /home/user /home/user user\n');
      expect((await runtime.exec(program, { user: 'user' })).stdout).toBe(
        '1000 1000 1000 1000 user /home/user /home/user user\n',
      );
      expect((await runtime.exec(program, { user: 'root' })).stdout).toBe('0 0 0 0 root /root /root root\n');
      const own = await runtime.exec(program, { user: 'root', env: { HOME: '/tmp', USER: 'me' } });
      expect(own.stdout).toBe('0 0 0 0 root /root /tmp me\n');
      const ids = await runtime.run('__return([process.getuid(), process.getgid()])', { user: { uid: 7, gid: 8 } });
      expect(ids.value).toEqual([7, 8]);
      const unknown = await runtime.exec('import os from "node:os"; os.userInfo()', { user: { uid: 7, gid: 8 } });
      expect(unknown.stderr).toContain('uv_os_get_passwd returned ENOENT');
      const runner = await runtime.createResidentRunner({ user: 'root' });
      expect((await runner.exec('console.log(process.getuid())')).stdout).toBe('0\n');
      expect(await sh(runtime, 'whoami; id', { user: 'root' })).toEqual({
        out: 'root\nuid=0(root) gid=0(root) groups=0(root)\n',
        exitCode: 0,
      });
      expect((await sh(runtime, 'whoami; id; id -un; groups')).out).toBe(
        'user\nuid=1000(user) gid=1000(user) groups=1000(user)\nuser\nuser\n',
      );
      const spawned = await runtime.spawnCommand('whoami', [], { user: 'root' });
      expect((await spawned.result).stdout).toBe('root\n');
      expect(await code(runtime.exec('', { user: 'admin' as 'root' }))).toBe('ERR_INVALID_OPTION');
      expect(await code(runtime.exec('', { user: { uid: 2 ** 32 - 1, gid: 0 } }))).toBe('ERR_INVALID_OPTION');
    }));

  test('su and sudo run commands as another user, without a password', () =>
    withRuntime(mode, {}, async (runtime) => {
      const lines = async (command: string, options?: object) => (await sh(runtime, command, options)).out.split('\n');
      expect(
        await lines('sudo whoami; sudo -n id -u; sudo -u user whoami; sudo -u root -E sh -c "echo \\$A"', { env: { A: '1' } }),
      ).toEqual(['root', '0', 'user', '1', '']);
      expect(await lines('sudo sh -c "echo \\$HOME \\$USER \\$SUDO_USER [\\$A]"', { env: { A: '1' } })).toEqual([
        '/root root user []',
        '',
      ]);
      expect(await lines('sudo A=2 sh -c "echo \\$A"; sudo -i pwd; sudo -s echo "a b"')).toEqual(['2', '/root', 'a b', '']);
      expect(await lines('su -c whoami; su - -c "pwd; echo \\$USER"; su user -c whoami')).toEqual([
        'root',
        '/root',
        'root',
        'user',
        '',
      ]);
      expect(await lines('echo whoami | su')).toEqual(['root', '']);
      expect(await lines('su user -c "sudo whoami"', { user: 'root' })).toEqual(['root', '']);
      expect(await sh(runtime, 'sudo sh -c "exit 7"')).toEqual({ out: '', exitCode: 7 });
      expect(await sh(runtime, 'sudo nothing')).toEqual({ out: 'sudo: nothing: command not found\n', exitCode: 1 });
      expect((await sh(runtime, 'sudo -u admin true')).out).toContain('unknown user admin');
      expect((await sh(runtime, 'su admin')).out).toContain('user admin does not exist');
      expect((await runtime.execCommand('sudo', ['whoami'])).stdout).toBe('root\n');
      const other = { user: { uid: 7, gid: 7 } };
      expect(await sh(runtime, 'sudo true', other)).toEqual({ out: '7 is not in the sudoers file.\n', exitCode: 1 });
      expect(await sh(runtime, 'su -c true', other)).toEqual({ out: 'su: Authentication failure\n', exitCode: 1 });
    }));

  test('a copy of sudo raises no user', () =>
    withRuntime(mode, {}, async (runtime) => {
      const copied = await sh(
        runtime,
        'sudo cp /bin/sudo /bin/copy; sudo chmod 4755 /bin/copy; ls -l /bin/copy /bin/sudo; /bin/copy id -u',
      );
      expect(copied.out).toMatch(
        /^-rwsr-xr-x 1 root root .*copy\n-rwsr-xr-x 1 root root .*sudo\nuser is not in the sudoers file\.\n$/,
      );
    }));

  test('owners decide about the access of programs', () =>
    withRuntime(mode, {}, async (runtime) => {
      await runtime.writeFile('/srv/secret', 's', { owner: 'root', mode: 0o600 });
      await runtime.mkdir('/srv/data', { recursive: true, owner: 'root' });
      await runtime.writeFile('/0/x', 'x');
      expect(await runtime.stat('/srv/secret')).toMatchObject({ uid: 0, gid: 0 });
      expect([(await runtime.stat('/srv')).uid, (await runtime.stat('/srv/data')).uid, (await runtime.stat('/0/x')).uid]).toEqual(
        [0, 0, 1000],
      );
      const refused = await sh(runtime, 'cat /srv/secret && echo read; touch /srv/data/f && echo written; cat /0/x');
      expect(refused.out).toBe("xcat: /srv/secret: Permission denied\ntouch: cannot touch '/srv/data/f': Permission denied\n");
      expect((await sh(runtime, 'cat /srv/secret; touch /srv/data/f; ls -l /srv/data', { user: 'root' })).out).toMatch(
        /^stotal 0\n-rw-r--r-- 1 root root 0 .* f\n$/,
      );
      await runtime.chown('/srv/data', 'user');
      expect((await sh(runtime, 'touch /srv/data/g; rm -f /srv/data/f; ls /srv/data')).out).toBe('g\n');
      await runtime.chown('/srv/data', { uid: 7, gid: 8 });
      expect(await runtime.stat('/srv/data')).toMatchObject({ uid: 7, gid: 8 });
      expect((await sh(runtime, 'chown root /workspace; sudo chown -R root:root /workspace; ls -ld /workspace')).out).toMatch(
        /^drwxr-xr-x \d root root .*\nchown: changing ownership of '\/workspace': Operation not permitted\n$/,
      );
      await runtime.chown('/srv/data', 'root');
      const stream = runtime.createWriteStream('/srv/streamed', { owner: 'root' });
      await new Promise((resolve) => stream.end('x', () => stream.on('close', resolve)));
      expect((await runtime.stat('/srv/streamed')).uid).toBe(0);
      await runtime.writeFile('/srv/streamed', 'y', { owner: 'user' });
      expect((await runtime.stat('/srv/streamed')).uid).toBe(1000);
    }));

  test('process.setuid() drops root for good', () =>
    withRuntime(mode, {}, async (runtime) => {
      const { stdout } = await runtime.exec(
        `
        import fs from 'node:fs';
        import { spawnSync } from 'node:child_process';
        const tried = (work) => { try { return work() ?? 'done'; } catch (error) { return error.code; } };
        console.log(spawnSync('id', ['-u'], { uid: 1000, gid: 1000, encoding: 'utf8' }).stdout.trim());
        process.seteuid('user');
        console.log(process.getuid(), process.geteuid(), tried(() => fs.writeFileSync('/etc/f', '')));
        process.seteuid(0);
        process.setgroups(['user', 7]);
        process.setgid('user');
        process.setuid('user');
        console.log(process.getuid(), process.getgid(), process.getgroups().join());
        console.log(tried(() => process.setuid(0)), tried(() => process.seteuid('root')), tried(() => process.setgroups([0])));
        console.log(spawnSync('id', ['-u'], { uid: 0 }).error?.code, tried(() => process.setuid('nobodyx')));
      `,
        { user: 'root' },
      );
      expect(stdout).toBe('1000\n0 1000 EACCES\n1000 1000 1000,7\nEPERM EPERM EPERM\nEPERM ERR_UNKNOWN_CREDENTIAL\n');
    }));

  test('root inside a runtime is subject to the permissions', () =>
    withRuntime(
      mode,
      {
        permissions: { fs: { default: 'allow', rules: [{ mode: 'deny', operations: ['read'], paths: ['/workspace/denied'] }] } },
      },
      async (runtime) => {
        await runtime.writeFile('/workspace/denied', 'secret');
        const denied = await sh(runtime, 'cat denied', { user: 'root', cwd: '/workspace' });
        expect(denied.out).not.toContain('secret');
        expect(denied.exitCode).toBe(1);
      },
    ));

  test('owners survive archives with keepOwners, and snapshots', () =>
    withRuntime(mode, {}, async (runtime) => {
      await runtime.writeFile('/data/root', 'r', { owner: 'root' });
      await runtime.writeFile('/data/dir/other', 'o', { owner: { uid: 4_000_000_000, gid: 8 } });
      const archive = [];
      for await (const chunk of runtime.exportTar('/data')) archive.push(chunk);
      await runtime.importTar(archive, { path: '/kept', keepOwners: true });
      await runtime.importTar(archive, { path: '/plain' });
      await runtime.importTar(archive, { path: '/given', owner: 'root' });
      const owners = async (path: string) => {
        const { uid, gid } = await runtime.stat(path);
        return [uid, gid];
      };
      expect([await owners('/kept/root'), await owners('/kept/dir'), await owners('/kept/dir/other')]).toEqual([
        [0, 0],
        [4_000_000_000, 8],
        [4_000_000_000, 8],
      ]);
      expect([await owners('/plain/root'), await owners('/plain/dir/other'), await owners('/given/dir/other')]).toEqual([
        [1000, 1000],
        [1000, 1000],
        [0, 0],
      ]);
      const program = await runtime.spawn('process.stdin.on("data", () => { console.log(process.getuid()); process.exit(); })', {
        user: 'root',
      });
      const snapshot = await runtime.snapshot();
      await program.kill('SIGKILL');
      await program.result;
      await runtime.chown('/data/root', 'user');
      await runtime.rollback(snapshot);
      expect(await owners('/data/root')).toEqual([0, 0]);
      const [restored] = await runtime.processes();
      const attached = await restored?.attach();
      await attached?.writeStdin('x');
      expect((await attached?.result)?.stdout).toBe('0\n');
    }));
});

test('the owners of a mounted folder are fixed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coldframe-users-'));
  mkdirSync(join(folder, 'sub'));
  writeFileSync(join(folder, 'file'), 'x', { mode: 0o640 });
  const before = statSync(join(folder, 'file'));
  return withRuntime(
    MODES[1] as (typeof MODES)[number],
    { mounts: [{ guestPath: '/host', hostPath: folder, readOnly: false }] },
    async (runtime) => {
      const { out } = await sh(runtime, 'chown root /host/file; touch /host/new; ls -ln /host', { user: 'root' });
      expect(out).toMatch(/ 1000 1000 +1 .* file\n.* 1000 1000 +0 .* new\n/);
      expect(out).toMatch(/\nchown: changing ownership of '\/host\/file': Operation not permitted\n$/);
      expect(await code(runtime.chown('/host/file', 'root'))).toBe('EPERM');
      const foreign = await sh(runtime, 'cat /host/file; touch /host/sub/f; chmod 777 /host/file', { user: { uid: 7, gid: 7 } });
      expect(foreign.out).toMatch(/^cat: .*\ntouch: .*permission denied.*\nchmod: .*\n$/i);
      expect(foreign.exitCode).toBe(1);
      expect([statSync(join(folder, 'file')).uid, statSync(join(folder, 'file')).mode]).toEqual([before.uid, before.mode]);
    },
  ).finally(() => rmSync(folder, { recursive: true, force: true }));
});
