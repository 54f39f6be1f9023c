// Tests permissions in every mode: each operation of each scope, attempts to bypass rules, and
// changes of the policy while a program runs. Also tests the decisions that a listener receives.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createMemoryFileSystem, type NodeRuntime, type PermissionEvent, type PermissionsPolicy } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';

const CODE = `
  import * as fs from 'node:fs';
  import * as cp from 'node:child_process';
  import * as net from 'node:net';
  import * as dgram from 'node:dgram';
  import * as dns from 'node:dns';
  const code = (work) => { try { work(); return 'ok'; } catch (error) { return error.code; } };
  const outcomeOf = (emitter, good) => new Promise((resolve) => {
    emitter.on('error', (error) => resolve(error.code));
    emitter.on(good, () => resolve('ok'));
  });
`;
/** Returns the sentence of a denial by the first rule of the scope `fs`. */
const DENIED_BY_RULE = (permission: string) =>
  `the permission ${permission} is denied by the rule permissions.fs.rules[0]; ` +
  'the app can allow it with a deeper rule in the option permissions.fs';
const FILES = { '/data/secret/file': 'SECRET', '/data/open': 'open' };

/** Runs a program and parses its output as JSON. */
async function printed(runtime: NodeRuntime, code: string): Promise<unknown> {
  const { stdout, stderr } = await runtime.exec(`${CODE} ${code}`, { timeout: 20_000 });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

const within = (mode: (typeof MODES)[number], permissions: PermissionsPolicy, work: (runtime: NodeRuntime) => Promise<void>) =>
  withRuntime(mode, { files: FILES, permissions }, work);

// For each operation, a call on /data/secret that needs the operation.
const FS_CALLS = {
  read: "fs.readFileSync('/data/secret/file')",
  write: "fs.writeFileSync('/data/secret/new', '')",
  stat: "fs.statSync('/data/secret/file')",
  readdir: "fs.readdirSync('/data/secret')",
  create_dir: "fs.mkdirSync('/data/secret/dir')",
  rm: "fs.unlinkSync('/data/secret/file')",
  rename: "fs.renameSync('/data/secret/file', '/data/secret/other')",
  symlink: "fs.symlinkSync('x', '/data/secret/link')",
  link: "fs.linkSync('/data/secret/file', '/data/secret/second')",
  readlink: "fs.readlinkSync('/data/secret/l')",
  chmod: "fs.chmodSync('/data/secret/file', 0o600)",
  chown: "fs.chownSync('/data/secret/file', 1000, 1000)",
  utimes: "fs.utimesSync('/data/secret/file', 0, 0)",
  truncate: "fs.truncateSync('/data/secret/file')",
  watch: "fs.watch('/data/secret').close()",
  execute: "cp.execFileSync('/data/secret/script')",
} as const;

describe.each(MODES)('$name', (mode) => {
  test('denies each file operation separately', () =>
    withRuntime(mode, { files: { ...FILES, '/data/secret/script': '#!/bin/sh\ntrue\n' } }, async (runtime) => {
      await runtime.exec(
        `import * as fs from 'node:fs'; fs.symlinkSync('file', '/data/secret/l'); fs.chmodSync('/data/secret/script', 0o755);`,
      );
      for (const [operation, call] of Object.entries(FS_CALLS) as [keyof typeof FS_CALLS, string][]) {
        await runtime.setPermissions({
          fs: { default: 'allow', rules: [{ mode: 'deny', operations: [operation], paths: ['/data/secret'] }] },
        });
        expect([operation, await printed(runtime, `console.log(JSON.stringify(code(() => ${call})))`)]).toEqual([
          operation,
          'EACCES',
        ]);
      }
      await runtime.setPermissions({});
      const all = Object.entries(FS_CALLS).filter(([operation]) => operation !== 'rm');
      const works = all.map(([, call]) => `code(() => ${call})`);
      // Undoes the rename before the next call.
      const again = "fs.renameSync('/data/secret/other', '/data/secret/file')";
      const list = works.flatMap((call) => (call.includes('other') ? [call, `code(() => ${again})`] : [call])).join();
      expect(await printed(runtime, `console.log(JSON.stringify([${list}]))`)).toEqual(Array(all.length + 1).fill('ok'));
    }));

  test('no link, mount or relative path bypasses a rule', () => {
    const host = mkdtempSync(join(tmpdir(), 'coldframe-permissions-'));
    mkdirSync(join(host, 'secret'));
    writeFileSync(join(host, 'secret/file'), 'SECRET');
    symlinkSync('secret/file', join(host, 'through'));
    const options = {
      files: FILES,
      mounts: [
        { guestPath: '/m', hostPath: host, readOnly: false },
        { guestPath: '/o', hostPath: host, overlay: true },
      ],
      permissions: {
        fs: { default: 'allow', rules: [{ mode: 'deny', paths: ['/data/secret', '/m/secret', '/o/secret'] }] },
      } as const,
    };
    return withRuntime(mode, options, async (runtime) => {
      const attempts = `
        fs.symlinkSync('/data/secret/file', '/tmp/link'); fs.symlinkSync('/data', '/tmp/data');
        const attempts = [
          '/data/secret/file', '/tmp/link', '/tmp/data/secret/file', '/data/open/../secret/file',
          '/proc/self/root/data/secret/file', '/m/through', '/m/secret/file', '/o/through', '/o/secret/file', '/data/secret/none'
        ];
        process.chdir('/data');
        attempts.push('secret/file', './secret/../secret/file', '/proc/self/cwd/secret/file');
        const result = attempts.map((path) =>
          [code(() => fs.readFileSync(path)), code(() => fs.copyFileSync(path, '/tmp/copy'))]);
        const names = [
          ['/data/secret', '/data/moved'], ['/data', '/moved'], ['/data/secret/file', '/data/f'], ['/m/secret', '/m/x'],
          ['/o/secret', '/o/x']
        ];
        for (const [from, to] of names) result.push([code(() => fs.renameSync(from, to)), code(() => fs.linkSync(from, to))]);
        result.push([code(() => process.chdir('/data/secret')), code(() => fs.opendirSync('/data/secret'))]);
        result.push(['cat /data/secret/file', 'node /data/secret/file'].map((command) => code(() =>
          cp.execSync(command, { stdio: 'ignore' }))));
        console.log(JSON.stringify(result));`;
      const result = (await printed(runtime, attempts)) as string[][];
      // Node reports no code for a command that fails.
      expect(result.pop()).toEqual([null, null]);
      for (const pair of result) for (const code of pair) expect(['EACCES', 'ENOTDIR']).toContain(code);
    }).finally(() => rmSync(host, { recursive: true, force: true }));
  });

  test('an error names the denied permission', () =>
    within(mode, { fs: { default: 'allow', rules: [{ mode: 'deny', paths: ['/data/secret'] }] } }, async (runtime) => {
      const error = `(error) => ({ code: error.code, permission: error.permission, message: error.message })`;
      const code = `
        const both = [];
        try { fs.readFileSync('/data/secret/file'); } catch (error) { both.push((${error})(error)); }
        await fs.promises.stat('/data/secret').catch((error) => both.push((${error})(error)));
        try { fs.writeFileSync('/etc/passwd', ''); } catch (error) { both.push((${error})(error)); }
        console.log(JSON.stringify(both));`;
      expect(await printed(runtime, code)).toEqual([
        {
          code: 'EACCES',
          permission: 'fs.read',
          message: `EACCES: permission denied, open '/data/secret/file' (${DENIED_BY_RULE('fs.read')})`,
        },
        { code: 'EACCES', permission: 'fs.stat', message: expect.stringContaining(DENIED_BY_RULE('fs.stat')) },
        { code: 'EACCES', message: "EACCES: permission denied, open '/etc/passwd'" },
      ]);
    }));

  test('runs a project with an allow list', () => {
    const files = {
      '/workspace/app/package.json': '{"type":"module"}',
      '/workspace/app/main.js': "import x from './lib/x.cjs'; import 'dep'; console.log(x, import.meta.filename);",
      '/workspace/app/lib/x.cjs': "module.exports = require('../package.json').type;",
      '/workspace/app/node_modules/dep/index.js': '',
      '/workspace/app/node_modules/dep/package.json': '{"main":"index.js"}',
    };
    const permissions = { fs: { rules: [{ mode: 'allow', paths: ['/workspace/app'] }] } } as const;
    return withRuntime(mode, { files, permissions, cwd: '/workspace/app' }, async (runtime) => {
      const { stdout, stderr } = await runtime.execFile('main.js');
      expect([stdout, stderr]).toEqual(['module /workspace/app/main.js\n', '']);
      expect(
        await printed(
          runtime,
          "console.log(JSON.stringify([code(() => fs.readFileSync('/etc/passwd')), code(() => fs.readdirSync('..'))]))",
        ),
      ).toEqual(['EACCES', 'EACCES']);
    });
  });

  test('allows the network inside the runtime unless the policy denies it', () =>
    within(mode, {}, async (runtime) => {
      const program = `
        const server = net.createServer().listen(8080, '127.0.0.1');
        const listens = await outcomeOf(server, 'listening');
        const connects = await outcomeOf(net.connect(8080, '127.0.0.1'), 'connect');
        const socket = dgram.createSocket('udp4').bind(9000, '127.0.0.1');
        const udp = await outcomeOf(socket, 'listening');
        const outside = await outcomeOf(net.connect(443, '93.184.216.34'), 'connect');
        const name = await new Promise((resolve) => dns.lookup('localhost', (error) => resolve(error?.code ?? 'ok')));
        const unix = await outcomeOf(net.createServer().listen('/tmp/' + Math.random()), 'listening');
        console.log(JSON.stringify({ listens, connects, udp, outside, name, unix }));
        process.exit();`;
      const inside = { listens: 'ok', connects: 'ok', udp: 'ok', outside: 'EACCES', name: 'ok', unix: 'ok' };
      expect(await printed(runtime, program)).toEqual(inside);
      await runtime.setPermissions({ network: 'deny' });
      const denied = { listens: 'EACCES', connects: 'EACCES', udp: 'EACCES', outside: 'EACCES', name: 'EACCES', unix: 'ok' };
      expect(await printed(runtime, program)).toEqual(denied);
      const rule = (operations: ('listen' | 'connect' | 'udp' | 'dns')[], patterns: string[]): PermissionsPolicy => ({
        network: { default: 'allow', rules: [{ mode: 'deny', operations, patterns }] },
      });
      await runtime.setPermissions(rule(['connect'], ['localhost:8080']));
      expect(await printed(runtime, program)).toEqual({ ...inside, connects: 'EACCES' });
      await runtime.setPermissions(rule(['listen'], ['127.0.0.1:8000-8100']));
      expect(await printed(runtime, program)).toEqual({ ...inside, listens: 'EACCES', connects: 'ECONNREFUSED' });
      await runtime.setPermissions(rule(['udp', 'dns'], ['*']));
      expect(await printed(runtime, program)).toEqual({ ...inside, udp: 'EACCES', name: 'EACCES' });
      const anywhere =
        "console.log(JSON.stringify(await outcomeOf(net.createServer().listen(8080), 'listening'))); process.exit();";
      await runtime.setPermissions(rule(['listen'], ['127.0.0.1:8080']));
      expect(await printed(runtime, anywhere)).toBe('EACCES');
    }));

  test('denies programs by file and by name, for every way of starting them', () =>
    within(mode, { childProcess: { default: 'allow', rules: [{ mode: 'deny', patterns: ['node'] }] } }, async (runtime) => {
      await runtime.writeFile('/tmp/script', '#!/usr/bin/env node\n');
      const spawn = (file: string, args: string[] = []) => `cp.spawnSync('${file}', ${JSON.stringify(args)}).error?.code ?? 'ok'`;
      const program = `
        fs.chmodSync('/tmp/script', 0o755); fs.copyFileSync('/usr/local/bin/node', '/tmp/copy'); fs.chmodSync('/tmp/copy', 0o755);
        fs.rmSync('/tmp/link', { force: true }); fs.symlinkSync('/usr/local/bin/node', '/tmp/link');
        console.log(JSON.stringify([
          ${['node', '/tmp/copy', '/tmp/link', '/tmp/script', 'env'].map((file) => spawn(file, ['node', '-v'])).join()},
          ${spawn('ls')}
        ]));`;
      expect(await printed(runtime, program)).toEqual([...Array(5).fill('EACCES'), 'ok']);
      expect((await runtime.execCommand('node', ['-p', '1'])).stdout).toBe('1\n');
      await runtime.setPermissions({ childProcess: 'deny' });
      expect(await printed(runtime, `console.log(JSON.stringify([${spawn('ls')}, ${spawn('node')}]))`)).toEqual([
        'EACCES',
        'EACCES',
      ]);
      await runtime.setPermissions({ childProcess: { rules: [{ mode: 'allow', patterns: ['/bin', 'sh'] }] } });
      expect(
        await printed(runtime, `console.log(JSON.stringify([${spawn('ls')}, ${spawn('sh', ['-c', 'true'])}, ${spawn('node')}]))`),
      ).toEqual(['ok', 'ok', 'EACCES']);
    }));

  test('/proc shows a program only the variables that the present policy allows', () =>
    withRuntime(mode, { env: { SHOWN: '1', HIDDEN: '2' } }, async (runtime) => {
      const program = await runtime.spawn('process.stdin.resume();');
      const read = `
        const names = (pid) => fs.readFileSync('/proc/' + pid + '/environ', 'utf8').match(/SHOWN|HIDDEN/g).sort();
        console.log(JSON.stringify([${program.pid}, 'self'].map(names)));`;
      expect(await printed(runtime, read)).toEqual([
        ['HIDDEN', 'SHOWN'],
        ['HIDDEN', 'SHOWN'],
      ]);
      await runtime.setPermissions({ env: { default: 'allow', rules: [{ mode: 'deny', patterns: ['HIDDEN'] }] } });
      expect(await printed(runtime, read)).toEqual([['SHOWN'], ['SHOWN']]);
      await program.kill();
    }));

  test('denies signals to other processes and changes of the working directory', () =>
    within(mode, {}, async (runtime) => {
      const program = `
        const child = cp.spawn('sleep', ['100']);
        const result = [() => process.kill(child.pid, 'SIGTERM'), () => process.kill(child.pid, 0), () => child.kill('SIGUSR2'),
          () => process.kill(process.pid, 0), () => process.chdir('/tmp')].map(code);
        console.log(JSON.stringify(result)); process.exit();`;
      expect(await printed(runtime, program)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok']);
      await runtime.setPermissions({ process: 'deny' });
      expect(await printed(runtime, program)).toEqual(['EACCES', 'EACCES', 'EACCES', 'ok', 'EACCES']);
      const rules = [
        { mode: 'deny', operations: ['signal'], patterns: ['SIGTERM:*'] },
        { mode: 'deny', operations: ['chdir'], patterns: ['/tmp*'] },
      ] as const;
      await runtime.setPermissions({ process: { default: 'allow', rules } });
      expect(await printed(runtime, program)).toEqual(['EACCES', 'ok', 'ok', 'ok', 'EACCES']);
    }));

  test('filters the variables that a program gets and passes on', () =>
    withRuntime(mode, { env: { TOKEN: 't', HOME: '/x' } }, async (runtime) => {
      const program = `
        const seen = (env) => JSON.parse(
          cp.execFileSync('node', ['-p', 'JSON.stringify([process.env.TOKEN, process.env.HOME, process.env.NEW])'], { env })
        );
        console.log(JSON.stringify([process.env.TOKEN, seen(process.env), seen({ ...process.env, TOKEN: 'other', NEW: '1' })]));`;
      expect(await printed(runtime, program)).toEqual(['t', ['t', '/x', null], ['other', '/x', '1']]);
      await runtime.setPermissions({ env: { default: 'allow', rules: [{ mode: 'deny', patterns: ['TOK*'] }] } });
      expect(await printed(runtime, program)).toEqual([null, [null, '/x', null], [null, '/x', '1']]);
      await runtime.setPermissions({
        env: { default: 'allow', rules: [{ mode: 'deny', operations: ['write'], patterns: ['TOKEN', 'NEW'] }] },
      });
      expect(await printed(runtime, program)).toEqual(['t', ['t', '/x', null], [null, '/x', null]]);
      const viaEnv = await runtime.execCommand('sh', ['-c', 'env NEW=1 node -p process.env.NEW']);
      expect(viaEnv.stdout).toBe('undefined\n');
    }));

  test('denies bindings by name, and their commands too', () => {
    const binding = { description: 'one', inputSchema: { type: 'object' }, handler: () => 1 };
    const permissions = { binding: { default: 'allow', rules: [{ mode: 'deny', patterns: ['db.d*'] }] } } as const;
    return withRuntime(mode, { bindings: { 'db.read': binding, 'db.drop': binding }, permissions }, async (runtime) => {
      const program = `
        const ask = (name) => callBinding(name, {}).catch((error) => error.code);
        const run = (name) => cp.spawnSync(name, ['--json', '{}']).status;
        console.log(JSON.stringify([await ask('db.read'), await ask('db.drop'), run('db.read'), run('db.drop') === 0]));`;
      expect(await printed(runtime, program)).toEqual([1, 'EACCES', 0, false]);
      await runtime.setPermissions({ binding: 'deny' });
      expect(await printed(runtime, program)).toEqual(['EACCES', 'EACCES', 1, false]);
      await runtime.setPermissions({});
      expect(await printed(runtime, program)).toEqual([1, 1, 0, true]);
    });
  });

  test('rules apply to app file systems', () => {
    const mounts = [{ guestPath: '/app', fileSystem: createMemoryFileSystem() }];
    return withRuntime(mode, { mounts }, async (runtime) => {
      const write =
        "fs.mkdirSync('/app/secret'); fs.writeFileSync('/app/secret/file', 'SECRET'); fs.symlinkSync('secret/file', '/app/to');";
      await runtime.exec(`${CODE} ${write}`);
      await runtime.setPermissions({ fs: { default: 'allow', rules: [{ mode: 'deny', paths: ['/app/secret'] }] } });
      const program = `
        const attempts = [
          () => fs.readFileSync('/app/secret/file'), () => fs.readFileSync('/app/to'),
          () => fs.renameSync('/app/secret', '/app/x'), () => fs.writeFileSync('/app/own', 'own'),
          () => fs.statSync('/app/secret/none'), () => fs.readdirSync('/app')
        ];
        console.log(JSON.stringify(attempts.map(code)));`;
      expect(await printed(runtime, program)).toEqual(['EACCES', 'EACCES', 'EACCES', 'ok', 'EACCES', 'ok']);
    });
  });

  test('a changed policy applies to a running program, and open files stay open', () =>
    within(mode, {}, async (runtime) => {
      const child = await runtime.spawn(`${CODE}
        const fd = fs.openSync('/data/secret/file');
        process.stdin.on('data', () => {
          const bytes = Buffer.alloc(6);
          fs.readSync(fd, bytes, 0, 6, 0);
          console.log(code(() => fs.readFileSync('/data/secret/file')), String(bytes));
        });`);
      const output = child.stdout[Symbol.asyncIterator]();
      const readAgain = async () => {
        await child.writeStdin('?');
        return Buffer.from((await output.next()).value ?? []).toString();
      };
      expect(await readAgain()).toBe('ok SECRET\n');
      await runtime.setPermissions({ fs: { default: 'allow', rules: [{ mode: 'deny', paths: ['/data/secret'] }] } });
      expect(await readAgain()).toBe('EACCES SECRET\n');
      expect(Buffer.from(await runtime.readFile('/data/secret/file')).toString()).toBe('SECRET');
      await runtime.setPermissions({});
      expect(await readAgain()).toBe('ok SECRET\n');
      await child.kill('SIGKILL');
    }));

  test('a policy with a fault is refused and changes nothing', () =>
    within(mode, { fs: 'deny' }, async (runtime) => {
      const wrong = { network: { rules: [{ mode: 'allow' as const, patterns: ['host:port'] }] } };
      await expect(runtime.setPermissions(wrong)).rejects.toMatchObject({
        code: 'ERR_INVALID_REQUEST',
        what: 'permissions.network.rules[0].patterns[0]',
      });
      expect(runtime.permissions).toMatchObject({ fs: 'deny', network: { default: 'deny' }, env: 'allow' });
      expect(Object.isFrozen(runtime.permissions)).toBe(true);
      expect(await printed(runtime, "console.log(JSON.stringify(code(() => fs.readFileSync('/data/open'))))")).toBe('EACCES');
    }));

  test('a listener receives every decision in order while it is registered', () =>
    within(mode, { fs: { default: 'allow', rules: [{ mode: 'deny', paths: ['/data/secret'] }] } }, async (runtime) => {
      const events: PermissionEvent[] = [];
      const others: PermissionEvent[] = [];
      const wait = 'await new Promise((resolve) => setTimeout(resolve, 20));';
      await runtime.exec("import * as fs from 'node:fs'; fs.existsSync('/data/before');");
      const stop = await runtime.onPermission((event) => events.push(event));
      const stopOther = await runtime.onPermission((event) => others.push(event));
      const child = await runtime.spawn(
        `${CODE} for (const name of ['open', 'secret/file', 'none']) fs.existsSync('/data/' + name); ${wait}`,
      );
      await child.wait();
      const end = () => events.some(({ resource }) => resource === '/data/none');
      while (!end()) await new Promise((resolve) => setTimeout(resolve, 5));
      await stop();
      const count = events.length;
      await runtime.exec("import * as fs from 'node:fs'; fs.existsSync('/data/after');");
      await stopOther();
      const about = events.filter(({ resource }) => resource.startsWith('/data/'));
      const common = { scope: 'fs', operation: 'stat', pid: child.pid };
      expect(about).toEqual([
        { ...common, resource: '/data/open', decision: 'allow', time: expect.any(Number) },
        {
          ...common,
          resource: '/data/secret/file',
          decision: 'deny',
          rule: 0,
          pattern: '/data/secret',
          reason: DENIED_BY_RULE('fs.stat'),
          time: expect.any(Number),
        },
        { ...common, resource: '/data/none', decision: 'allow', time: expect.any(Number) },
      ]);
      expect(about.every(({ time }, at) => time >= (about[at - 1]?.time ?? 0) && Math.abs(time - Date.now()) < 60_000)).toBe(
        true,
      );
      expect(events.length).toBe(count);
      expect(others.slice(0, count)).toEqual(events);
    }));

  test('a program does not wait for a listener, and decisions beyond the buffer are counted as lost', () =>
    within(mode, {}, async (runtime) => {
      let [received, lost, last] = [0, 0, ''];
      const stop = await runtime.onPermission(
        ({ resource }) => {
          if (!resource.startsWith('/n/')) return;
          if (lost === 0) expect(resource).toBe(`/n/${received}`);
          received++;
          last = resource;
          const until = performance.now() + 0.2;
          while (performance.now() < until);
        },
        (count) => {
          lost += count;
        },
      );
      await runtime.exec(`import * as fs from 'node:fs'; for (let n = 0; n < 30000; n++) fs.existsSync('/n/' + n);`);
      // After the buffered decisions are delivered, later decisions arrive again.
      for (let n = 0; last !== '/n/end' && n < 500; n++) {
        await runtime.exec(`import * as fs from 'node:fs'; fs.existsSync('/n/end');`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      await stop();
      expect(last).toBe('/n/end');
      expect(received).toBeGreaterThan(1_000);
      expect(lost).toBeGreaterThan(0);
    }));
});
