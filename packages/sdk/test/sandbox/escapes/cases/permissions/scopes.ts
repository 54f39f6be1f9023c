// Attacks the other scopes of a policy: network, processes, bindings; and rules that change while
// programs run.

import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeRuntime } from '../../../../../src/index.js';
import type { EscapeCase } from '../../harness/case.js';
import { mounted } from '../mounts/kinds.js';
import { denied } from './denied.js';

const CLOSED = { network: { default: 'allow', rules: [{ mode: 'deny', patterns: ['localhost:4000'] }] } } as const;

const network = (name: string, program: string, expected: string): EscapeCase => ({
  name: `permissions: ${name}`,
  options: { permissions: CLOSED },
  program: `const net = require('net'); const dgram = require('dgram'); const http = require('http');\n${program}`,
  expected,
});

const echo = { description: 'returns its input', inputSchema: true, handler: (input: unknown) => input } as const;

const FLAG = `new Int32Array(1)`;

/**
 * Repeats reads in a program while the app denies the file. Returns whether a read succeeded later.
 */
async function readsAfterDenial(runtime: NodeRuntime): Promise<string> {
  await runtime.setPermissions({});
  const reader = await runtime.spawn(
    `import fs from 'node:fs'; const seen = ${FLAG};
process.stdin.once('data', () => { seen[0] = 1; });
for (;;) {
  let text; try { text = fs.readFileSync('/secret/key', 'utf8'); } catch (error) { text = error.code; }
  if (seen[0]) { console.log(text); break; }
  await new Promise((resolve) => setImmediate(resolve));
}`,
    { timeout: 10_000 },
  );
  await runtime.setPermissions({ fs: { default: 'allow', rules: [{ mode: 'deny', paths: ['/secret'] }] } });
  await reader.writeStdin('denied');
  return (await reader.result).stdout.trim();
}

export const scopes: EscapeCase[] = [
  network(
    'a denied port is not reached or opened under any address',
    `
const hosts = ['127.0.0.1', '::1', 'localhost', '127.0.0.2', '127.1', '0', '0.0.0.0', '::', '::ffff:127.0.0.1', '0x7f.1',
'2130706433', 'LOCALHOST'];
const tries = hosts.flatMap((host) => [
  event(net.connect({ host, port: 4000 }), 'connect', 'error'), event(net.createServer().listen({ host, port: 4000 }),
'listening', 'error')
]);
say(distinct(await Promise.all(tries)));`,
    'EACCES',
  ),
  network(
    'a denied port is not reached by other modules',
    `
say(
  await later(() => fetch('http://127.0.0.1:4000/').catch((error) => { throw error.cause; })),
  await event(http.get('http://localhost:4000/'), 'response', 'error'),
  await event(dgram.createSocket('udp4').bind(4000), 'listening', 'error'),
  await later(() => new Promise((resolve, reject) => dgram.createSocket('udp4').send('x', 4000, '127.0.0.1',
(error) => error ? reject(error) : resolve('sent')))),
  await event(require('http2').connect('http://[::1]:4000'), 'connect', 'error')
); process.exit();`,
    'EACCES EACCES EACCES EACCES EACCES',
  ),
  {
    name: 'permissions: network deny leaves no socket',
    options: { permissions: { network: 'deny' } },
    program: `
const net = require('net'); const dgram = require('dgram'); const dns = require('dns');
say(distinct([
  await event(net.createServer().listen(0), 'listening', 'error'), await event(net.createServer().listen('\\0abstract'),
'listening', 'error'),
  await event(net.connect(80), 'connect', 'error'), await event(net.connect('\\0abstract'), 'connect', 'error'),
  await event(dgram.createSocket('udp6').bind(0), 'listening', 'error'), await later(() => dns.promises.lookup('localhost')),
  await later(() => fetch('http://127.0.0.1/').catch((error) => { throw error.cause; })),
  await event(new WebSocket('ws://localhost:1/').addEventListener ? net.connect(1) : net, 'connect', 'error')
])); process.exit();`,
    expected: 'EACCES',
  },
  {
    name: 'permissions: a denied signal reaches no process by pid or group',
    options: { permissions: { process: { default: 'allow', rules: [{ mode: 'deny', operations: ['signal'] }] } } },
    program: `
const { spawn, execFileSync } = require('child_process');
const child = spawn('node', ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore', detached: true });
await event(child, 'spawn');
say(distinct(['SIGTERM', 'SIGKILL', 0].flatMap((signal) =>
  [tried(() => process.kill(child.pid, signal)), tried(() => process.kill(-child.pid, signal)),
tried(() => child.kill(signal))])));
say(fs.existsSync('/proc/' + child.pid)); process.exit();`,
    expected: 'EACCES\ntrue',
  },
  {
    name: 'permissions: a denied change of directory has no other way',
    options: { permissions: { process: { default: 'allow', rules: [{ mode: 'deny', operations: ['chdir'] }] } } },
    program: `
const { spawnSync } = require('child_process');
say(tried(() => process.chdir('/tmp')), spawnSync('pwd', [], { cwd: '/tmp' }).error?.code,
tried(() => process.chdir('/proc/self/cwd')), process.cwd());`,
    expected: 'EACCES EACCES EACCES /workspace',
  },
  {
    name: 'permissions: a denied binding is not called by name, command or forged command',
    options: {
      bindings: { open: echo, hidden: echo },
      permissions: { binding: { default: 'allow', rules: [{ mode: 'deny', patterns: ['hid*'] }] } },
    },
    program: `
const { spawnSync } = require('child_process');
const path = '/usr/local/bin/hidden';
const text = tried(() => fs.readFileSync('/usr/local/bin/open', 'latin1'));
fs.writeFileSync('forged', text.replaceAll('open', 'hidden'), { mode: 0o755 });
const run = (name) => { const { error, status, stdout } = spawnSync(name, ['--json', '{"a":1}']);
return error ? error.code : status === 0 ? 'ran ' + stdout : 'failed'; };
say(await later(() => callBinding('hidden', {})), await later(() => callBinding('HIDDEN', {})), run('hidden'), run('./forged'),
run('open').trim());`,
    expected: 'EACCES ERR_BINDING_NOT_FOUND failed failed ran {"a":1}',
  },
  denied(
    'a policy is not an object of the guest',
    `
const before = tried(() => fs.readFileSync('/secret/key'));
process.permission = { has: () => true };
Object.prototype.mode = 'allow'; Object.prototype.default = 'allow'; Object.prototype.permissions = 'allow';
globalThis.permissions = 'allow'; process.env.COLDFRAME_PERMISSIONS = 'allow';
say(before, tried(() => fs.readFileSync('/secret/key')), require('child_process').spawnSync('cat', ['/secret/key'],
{ env: { permissions: 'allow' } }).status);`,
    'EACCES EACCES 1',
  ),
  {
    name: 'permissions: a rule applies to running programs from its next call',
    options: { files: { '/secret/key': 'top-secret' } },
    attack: readsAfterDenial,
    expected: 'EACCES',
  },
  {
    name: 'permissions: a descriptor from before the rule does not open the file again',
    options: { files: { '/secret/key': 'top-secret' } },
    attack: async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec(`globalThis.fs = await import('node:fs'); globalThis.fd = fs.openSync('/secret/key', 'r+');`);
      await runtime.setPermissions({ fs: { default: 'allow', rules: [{ mode: 'deny', paths: ['/secret'] }] } });
      const code = `
const tried = (work) => { try { return String(work() ?? 'done'); } catch (error) { return error.code; } };
console.log([
  () => fs.openSync('/proc/self/fd/' + fd), () => fs.readFileSync('/dev/fd/' + fd, 'utf8'), () => fs.ftruncateSync(fd),
() => fs.fchmodSync(fd, 0o777),
  () => fs.futimesSync(fd, 1, 1), () => fs.linkSync('/proc/self/fd/' + fd, '/tmp/x')
].map(tried).join());`;
      return (await runner.exec(code)).stdout.trim();
    },
    expected: 'EACCES,EACCES,EACCES,EACCES,EACCES,EXDEV',
  },
  {
    name: 'permissions: a link that two programs swap never leads into a denied folder',
    options: {
      files: { '/secret/key': 'top-secret', '/open/file': 'open' },
      permissions: { fs: { default: 'allow', rules: [{ mode: 'deny', paths: ['/secret'] }] } },
    },
    attack: async (runtime) => {
      const swap = await runtime.spawn(`import fs from 'node:fs';
for (let n = 0; ; n++) {
  fs.rmSync('l', { force: true }); fs.symlinkSync(n % 2 ? '/secret' : '/open', 'l');
  fs.rmSync('f', { force: true }); fs.symlinkSync(n % 2 ? '/secret/key' : '/open/file', 'f');
  if (n % 50 === 0) { console.log(n); await new Promise((resolve) => setImmediate(resolve)); }
}`);
      for await (const _first of swap.stdout) break;
      const { stdout } = await runtime.exec(
        `import fs from 'node:fs'; const seen = new Set();
for (let n = 0; n < 1500; n++) {
  for (const call of [() => fs.readFileSync('f', 'utf8'), () => fs.readFileSync('l/key', 'utf8'),
() => fs.readdirSync('l').join(), () => fs.realpathSync('l/key')])
    try { seen.add(call()); } catch (error) { seen.add(error.code); }
  if (n % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
}
console.log('checked', [...seen].filter((text) => !['EACCES', 'ENOENT', 'open', 'file', 'EINVAL'].includes(text)).join());`,
        { timeout: 20_000 },
      );
      await swap.kill('SIGKILL');
      return stdout.trim();
    },
    expected: 'checked',
  },
  ...(['read-only', 'writable', 'overlay'] as const).map(
    (kind): EscapeCase => ({
      name: `permissions: ${kind}: links of a mounted folder do not avoid a rule`,
      options: (folders) => ({
        ...mounted(kind)(folders),
        permissions: { fs: { default: 'allow', rules: [{ mode: 'deny', paths: ['/m/dir'] }] } },
      }),
      prepare: ({ inside }) => {
        symlinkSync('dir', join(inside, 'l'));
        symlinkSync('./dir/../dir/file', join(inside, 'f'));
      },
      program: `
fs.symlinkSync('/m/dir', '/tmp/d');
const paths = ['/m/dir/file', '/m/l/file', '/m/f', '/tmp/d/file', '/m/../m/dir/file', '/proc/self/root/m/l/file'];
say(
  distinct(paths.map((path) => tried(() => fs.readFileSync(path)))),
  distinct([tried(() => fs.renameSync('/m/dir', '/m/x')), tried(() => fs.linkSync('/m/dir/file', '/m/y'))]));`,
      expected: 'EACCES EACCES',
    }),
  ),
  {
    name: 'permissions: hostile names reach a listener as plain text',
    options: { permissions: { fs: { default: 'allow', rules: [{ mode: 'deny', paths: ['/workspace/secret'] }] } } },
    attack: async (runtime) => {
      const names = new Set<string>();
      let lost = 0;
      const stop = await runtime.onPermission(
        (event) => {
          if (event.decision === 'deny')
            names.add(`${typeof event.resource} ${Object.getPrototypeOf(event) === Object.prototype}`);
        },
        (count) => {
          lost += count;
        },
      );
      await runtime.exec(`import fs from 'node:fs';
for (const name of ['__proto__', '\\n\\x1b[2J', '\\ud800', "';drop", '\${x}', '%s%n', 'x'.repeat(200)])
  for (let n = 0; n < 200; n++) try { fs.statSync('secret/' + name + n); } catch {}`);
      await stop();
      return `${[...names].join()} ${lost}`;
    },
    expected: 'string true 0',
  },
  {
    name: 'permissions: a flood of decisions delays no call and is counted',
    attack: async (runtime) => {
      let seen = 0;
      let lost = 0;
      const stop = await runtime.onPermission(
        () => {
          seen++;
        },
        (count) => {
          lost += count;
        },
      );
      const { stdout } = await runtime.exec(`import fs from 'node:fs';
for (let n = 0; n < 20000; n++) fs.existsSync('/workspace/' + n);
console.log('ran');`);
      await stop();
      return `${stdout.trim()} ${seen + lost >= 20_000}`;
    },
    expected: 'ran true',
  },
];
