// Reads `/proc` and `/dev`, which must contain no fact of the host machine or of other runtimes.

import type { EscapeCase, Theme } from '../../harness/case.js';

const everyCall = `
const everyCall = (path) => [
  () => fs.readFileSync(path), () => fs.openSync(path, 'r+'), () => fs.readdirSync(path), () => fs.readlinkSync(path)
].map(tried);`;

const ABSENT = [
  'self/mem',
  'self/pagemap',
  'self/clear_refs',
  'self/ns',
  'self/task',
  'self/map_files',
  'self/mountinfo',
  'self/syscall',
  'self/stack',
  'self/setgroups',
  'self/oom_score_adj',
  'self/attr/current',
  'thread-self',
  'kcore',
  'kallsyms',
  'kmsg',
  'sysrq-trigger',
  'keys',
  'sys/kernel/core_pattern',
  'sys/fs',
  'sys/vm/drop_caches',
  'bus',
  'net/route',
  'net/arp',
  'net/raw',
  'net/packet',
  'self/net/dev',
  'modules',
  'partitions',
  'config.gz',
];

export const proc: Theme = {
  name: 'proc',
  cases: [
    {
      name: 'files that expose memory or the kernel are missing',
      program: `${everyCall} say(distinct(${JSON.stringify(ABSENT)}.flatMap((name) => everyCall('/proc/' + name))));`,
      expected: /^ENOENT( ENOTDIR)?$/,
    },
    {
      name: 'the lists of sockets have no socket of the host machine and of other runtimes',
      program: `
const lists = ['tcp', 'tcp6', 'udp', 'udp6', 'unix'].map((name) => fs.readFileSync('/proc/net/' + name, 'latin1'));
say(lists.map((text) => text.trimEnd().split('\\n').length - 1).join(' '));`,
      expected: '0 0 0 0 0',
    },
    {
      name: 'no entry can be written, removed or moved',
      program: `
const names = [
  '/proc/version', '/proc/self/comm', '/proc/self/environ', '/proc/sys/kernel/hostname', '/proc/self/fd/0', '/proc/self', '/proc'
];
const calls = (path) => [
  () => fs.unlinkSync(path), () => fs.rmdirSync(path), () => fs.renameSync(path, '/tmp/x'), () => fs.mkdirSync(path + '/x'),
  () => fs.symlinkSync('/tmp', path + 'x'), () => fs.chmodSync(path, 0o777)
];
say(distinct(names.flatMap(calls).map(tried)));`,
      expected: /^(?!.*done)[A-Z ]+$/,
    },
    {
      name: 'process 1 and unused pids are missing',
      program: `${everyCall}
const pids = ['1', '0', '-1', '00', '01', '4294967296', '4294967298', '99999', ' 2', '2 ', '+2', '0x2', '2.0', '1e0'];
say(distinct(pids.flatMap((pid) => ['', '/environ', '/cwd/x', '/root' + '/etc/shadow', '/fd/0', '/exe', '/cmdline']
  .flatMap((name) => everyCall('/proc/' + pid + name)))));`,
      expected: 'ENOENT',
    },
    {
      name: 'the pids of the sidecar and of the app are unused',
      program: `
say(distinct([${process.pid}, ${process.ppid}].flatMap((pid) =>
  [tried(() => fs.readFileSync('/proc/' + pid + '/environ')), tried(() => fs.readdirSync('/proc/' + pid + '/fd'))])));`,
      expected: 'ENOENT',
    },
    {
      name: 'only processes of the runtime are listed',
      program: `
const { spawn } = require('child_process');
const child = spawn('node', ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
const pids = fs.readdirSync('/proc').filter((name) => /^\\d/.test(name)).map(Number);
say(pids.sort().join() === [process.pid, child.pid].sort().join()); child.kill();`,
      expected: 'true',
    },
    {
      name: 'no pid leads to the environment, files or descriptors of the neighbour',
      program: `
let found = 0; let text = '';
for (let pid = 1; pid < 2_000; pid++) for (const name of ['environ', 'cmdline', 'fd/3', 'cwd/neighbour-secret.txt'])
  try { text += fs.readFileSync('/proc/' + pid + '/' + name); found++; } catch {}
say(found, text.includes('SECRET='));`,
      expected: '2 false',
    },
    {
      name: 'links of /proc lead to their targets in the guest',
      program: `
say(fs.readlinkSync('/proc/self/root'), fs.realpathSync('/proc/self/root/proc/self/cwd'), fs.readlinkSync('/proc/self/exe'));
say(
  tried(() => fs.readFileSync('/proc/self/root/../../etc/shadow')),
  fs.readdirSync('/proc/self/root').includes('workspace'),
  tried(() => fs.readFileSync('/proc/self/exe').length < 100)
);`,
      expected: '/ /workspace /usr/local/bin/node\nENOENT true true',
    },
    {
      name: "a child's descriptors cannot be opened through its links",
      program: `
const { spawn } = require('child_process');
const child = spawn('node', ['-e', 'setInterval(() => {}, 1000)'], { stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
say(distinct([0, 1, 2, 3].flatMap((fd) => ['r', 'w'].map((flags) => tried(() =>
  fs.openSync('/proc/' + child.pid + '/fd/' + fd, flags))))));
child.kill();`,
      expected: 'EACCES',
    },
    {
      name: 'internal names of the kernel cannot be opened',
      program: `
const names = [
  '2/fd\\0/0', 'self/fd\\0/1', 'self/fd/00', 'self/fd/-1', 'self/fd/4294967296', 'self/fd/0/x', 'self/fd/999', 'self/fd/+0'
];
say(distinct(names.map((name) => tried(() => fs.openSync('/proc/' + name)))));`,
      expected: /^(?!.*\d)[A-Z_ ]+$/,
    },
    {
      name: 'the list of mounts has no host path',
      options: ({ inside }) => ({ mounts: [{ guestPath: '/m', hostPath: inside }] }),
      program: `
const text = ['/proc/mounts', '/proc/self/mounts', '/etc/mtab'].map((path) => fs.readFileSync(path, 'utf8')).join('');
console.log(text); say(text.includes('/m '), tried(() => fs.readFileSync('/proc/self/mountinfo')));`,
      expected: /true ENOENT$/,
    },
    {
      name: 'the memory map has no address of the host machine',
      program: `
say([...fs.readFileSync('/proc/self/maps', 'utf8').matchAll(/^([0-9a-f]+)-([0-9a-f]+)/gm)].every(([, from, to]) =>
  parseInt(to, 16) <= 2 ** 31));`,
      expected: 'true',
    },
    {
      name: 'no text of /proc contains a fact of the host machine',
      program: `
const walk = (folder) => {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const path = folder + '/' + entry.name;
    if (entry.isDirectory()) walk(path);
    else if (entry.isFile()) console.log(path, tried(() => fs.readFileSync(path, 'utf8').slice(0, 4_000)));
  }
};
walk('/proc'); say('walked');`,
      expected: /walked$/,
    },
    {
      name: 'the usual devices exist and behave',
      program: `
say(fs.readdirSync('/dev').sort().join());
const zero = Buffer.alloc(1 << 20, 1);
const fd = fs.openSync('/dev/zero');
fs.readSync(fd, zero);
say(zero.every((byte) => byte === 0));
say(
  tried(() => fs.openSync('/dev/tty')), tried(() => fs.writeFileSync('/dev/full', 'x')),
  tried(() => fs.readFileSync('/dev/null').length), tried(() => fs.writeFileSync('/dev/new', ''))
);`,
      expected: 'fd,full,null,ptmx,pts,random,shm,stderr,stdin,stdout,tty,urandom,zero\ntrue\nENXIO ENOSPC 0 EACCES',
    },
    {
      name: 'endless devices are not read to their end',
      program: `
say(
  tried(() => fs.copyFileSync('/dev/zero', '/tmp/zero')),
  tried(() => fs.cpSync('/dev/zero', '/tmp/zero2')),
  tried(() => fs.readFileSync('/dev/zero').length)
);`,
      options: { limits: { memoryBytes: 64 << 20 } },
      expected: { error: /none|ERR_MEMORY_LIMIT/, stderr: /^(?!.*FATAL ERROR: engine)/ },
    },
  ] satisfies EscapeCase[],
};
