// Attacks processes: signals to other processes, malformed programs, changes of the user.

import type { EscapeCase, Theme } from '../../harness/case.js';

export const processes: Theme = {
  name: 'processes',
  cases: [
    {
      name: 'signals do not reach processes of the host machine',
      program: `
const pids = [${process.pid}, ${process.ppid}, 1, 2 ** 22 + 5, 2 ** 31 - 1];
say(distinct(pids.flatMap((pid) => ['SIGKILL', 'SIGTERM', 0].map((signal) => tried(() => process.kill(pid, signal))))));`,
      expected: /^(EPERM ESRCH|EPERM|ESRCH)$/,
    },
    {
      name: 'signals to every number, to all and to groups stay in the runtime',
      program: `
for (let pid = 2; pid < 5_000; pid++) if (pid !== process.pid) tried(() => process.kill(pid, 'SIGKILL'));
for (let group = -5_000; group < -1; group++) if (-group !== process.pid) tried(() => process.kill(group, 'SIGKILL'));
say(tried(() => process.kill(-1, 'SIGKILL')));`,
      expected: /^(true|ESRCH|done)$/,
    },
    {
      name: 'values that are not signals fail',
      program: `
say(distinct([-1, 65, 1e9, 2 ** 40, '9', 'SIGNONE', {}, 1.5].map((signal) => tried(() => process.kill(process.pid, signal)))));`,
      expected: /^[A-Z_ ]+$/,
    },
    {
      name: 'no name starts a program of the host machine',
      program: `
const { spawnSync } = require('child_process');
const names = [
  '/usr/bin/id', ${JSON.stringify(process.execPath)}, '/proc/self/exe/../python3', '../../../../usr/bin/python3',
  '/lib64/ld-linux-x86-64.so.2', 'git', 'python3', 'perl', 'gcc', 'docker', '/bin/busybox', '/proc/self/root/usr/bin/gcc',
  '\\\\\\\\host\\\\share'
];
say(distinct(names.map((name) => {
  const { error, stdout } = spawnSync(name, ['--version']);
  return error ? error.code : /^(uid|id|v24|Python 3\\.13\\.15$)/m.test(String(stdout)) ? 'own' : String(stdout).slice(0, 40);
})));`,
      expected: /^(ENOENT|EACCES|ENOTDIR|own| )+$/,
    },
    {
      name: 'a forged program file starts a program of the sandbox or fails',
      program: `
const { spawnSync } = require('child_process');
const magic = fs.readFileSync('/usr/local/bin/node');
const run = (bytes) => {
  fs.writeFileSync('forged', bytes, { mode: 0o755 });
  const { error, status } = spawnSync('./forged', ['-p', '1']);
  return error ? error.code : 'ended ' + status;
};
const head = magic.subarray(0, magic.indexOf(0x6e, 10));
const with_ = (text) => Buffer.concat([Buffer.from('\\x7fCOLDFRAME '), Buffer.from(text)]);
say(
  distinct([
    'root\\n', 'shell ../../node\\n', 'shell \\n', 'shell ' + 'x'.repeat(1 << 16) + '\\n', '', '\\n', 'node\\0\\n', 'env',
    'shell no-such-command\\n', '../guest\\n'
  ].map((text) => run(with_(text)))),
  run(Buffer.from('7f454c4602010100', 'hex')),
  run(''),
  run(Buffer.alloc(1 << 20))
);`,
      expected: /^(?!.*ended 0)[A-Za-z0-9 ]+$/,
    },
    {
      name: 'circular, long and malformed interpreter lines fail',
      program: `
const { spawnSync } = require('child_process');
const write = (name, text) => fs.writeFileSync(name, text, { mode: 0o755 });
const run = (name) => { const { error, status } = spawnSync(name); return error ? error.code : 'ended'; };
write('self', '#!/workspace/self\\n');
write('a', '#!/workspace/b');
write('b', '#!/workspace/a');
write('long', '#!/' + 'x'.repeat(1 << 16));
write('empty', '#!');
write('none', '#!\\0\\n');
write('folder', '#!/tmp\\n');
write('host', '#!/usr/bin/perl\\n');
write('deep', '#!/usr/bin/env -S node --import=/etc/shadow\\n');
say(distinct(['self', 'a', 'long', 'empty', 'none', 'folder', 'host'].map((name) => run('./' + name))), run('./deep'));`,
      expected: /^(ELOOP|ENOENT|ENOEXEC|EACCES|ENAMETOOLONG|EINVAL| )+ended$/,
    },
    {
      name: 'no call changes the user',
      program: `
const { spawnSync } = require('child_process');
say(
  distinct([
    () => process.setuid(0), () => process.setgid(0), () => process.seteuid(0), () => process.setegid('root'),
    () => process.setgroups([0]), () => process.initgroups('root', 0)
  ].map(tried)),
  distinct([{ uid: 0 }, { gid: 0 }].map((options) => spawnSync('node', ['-p', '1'], options).error?.code)),
  process.getuid(),
  String(spawnSync('id', ['-u']).stdout).trim()
);`,
      expected: /^(EPERM|ERR_[A-Z_]+|TypeError|ENOSYS| )+ (EPERM|ENOTSUP|ERR_[A-Z_]+|ENOSYS) 1000 1000$/,
    },
    {
      name: 'a child cannot start in a directory that its parent cannot enter',
      program: `
const { spawnSync } = require('child_process');
fs.mkdirSync('closed', { mode: 0 });
say(distinct(['closed', '/none', '/etc/passwd', '/proc/1', '../../../../root', '/proc/self/fd/0'].map((cwd) =>
  spawnSync('node', ['-p', '1'], { cwd }).error?.code)));`,
      expected: /^(EACCES|ENOENT|ENOTDIR| )+$/,
    },
    {
      name: 'variables of dynamic linkers and interpreters have no effect',
      program: `
const { spawnSync } = require('child_process');
const env = {
  LD_PRELOAD: '/lib/evil.so', LD_LIBRARY_PATH: '/tmp', NODE_PATH: '/etc', SSLKEYLOGFILE: '/etc/keys', NODE_V8_COVERAGE: '/etc',
  NODE_REPL_EXTERNAL_MODULE: '/etc/shadow', MALLOC_TRACE: '/etc/x', TZ: '../../../../etc/shadow', LANG: '../../etc',
  HOME: '/root', PATH: '/usr/local/bin:/bin', NODE_DEBUG: ''
};
say(
  String(spawnSync('node', ['-p', '1'], { env }).stdout).trim(),
  fs.existsSync('/etc/keys'),
  tried(() => { process.env.TZ = '../../../../etc/shadow'; return new Date(0).getTimezoneOffset() === 0; })
);`,
      expected: '1 false true',
    },
    {
      name: 'detached children that ignore signals end with the runtime',
      attack: async (runtime) => {
        await runtime.exec(
          `
import { spawn } from 'node:child_process';
for (let i = 0; i < 5; i++)
  spawn(
    'node',
    ['-e', "for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, () => {}); setInterval(() => {}, 10)"],
    { detached: true, stdio: 'ignore' }
  ).unref();`,
        );
        const left = (await runtime.processes()).length;
        await runtime.dispose();
        return String(left);
      },
      expected: '5',
    },
    {
      name: 'malformed messages between parent and child fail',
      program: `
const { spawn } = require('child_process');
const child = spawn(
  'node',
  [
    '-e',
    "process.on('message', () => {}); process.on('disconnect', () => process.exit()); const fs = require('fs'); " +
      "for (const text of ['{', 'null\\\\n', '{\\"cmd\\":\\"NODE_HANDLE\\",\\"type\\":\\"net.Native\\"}\\\\n', " +
      "'{\\"cmd\\":\\"NODE_HANDLE\\"}\\\\n', '[]\\\\n', '{\\"cmd\\":\\"NODE_CLUSTER\\",\\"seq\\":1}\\\\n', " +
      "'x'.repeat(1 << 20)]) try { fs.writeSync(3, text); } catch {} process.exit();"
  ],
  { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] }
);
child.on('message', () => {});
child.on('error', () => {});
process.on('uncaughtException', () => {});
say(await event(child, 'exit'));`,
      expected: { error: 'none' },
    },
    {
      name: 'addons, workers, inspectors, clusters and reports reach no host',
      program: `
const answers = [
  tried(() => require('inspector').open(9_229, '0.0.0.0')),
  tried(() => process._debugProcess(1)),
  tried(() => require('cluster').fork().kill()),
  tried(() => new (require('worker_threads').Worker)('1', { eval: true })),
  tried(() => process.report.writeReport('/etc/report.json')),
  tried(() => require('v8').writeHeapSnapshot('/etc/heap')),
  tried(() => process.permission?.has('fs.read')),
  tried(() => require('wasi') && 'wasi'),
  tried(() => require('node:sqlite') && 'sqlite')
];
say(answers.length, fs.existsSync('/etc/report.json') || fs.existsSync('/etc/heap')); process.exit();`,
      execOptions: { execArgv: ['--no-warnings'] },
      expected: '9 false',
    },
    {
      name: 'wrong titles, exit codes and signals fail',
      program: `
const { spawnSync } = require('child_process');
process.title = 'x'.repeat(1 << 16) + '\\0';
const ends = [
  'process.exit(2 ** 31)', 'process.exitCode = -1', 'process.abort()', 'process.kill(process.pid, 9)', 'process.reallyExit(256)',
  'process.exit("7")', 'process.exit({})', 'process.exit(1.5)', 'throw null', 'throw undefined', 'Promise.reject(Symbol())',
  'throw new Proxy({}, { get() { throw 1 } })', 'process.on("exit", () => { throw 1 })'
].map((code) => { const { status, signal } = spawnSync('node', ['-e', code]); return signal ?? status; });
say(ends.every((end) => typeof end === 'string' || (end >= 0 && end < 256)));`,
      expected: 'true',
    },
  ] satisfies EscapeCase[],
};
