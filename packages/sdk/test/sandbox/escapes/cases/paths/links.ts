// Follows links in the guest's tree, and tries to change system files of the guest.

import type { EscapeCase } from '../../harness/case.js';

export const links: EscapeCase[] = [
  {
    name: 'circular links fail',
    program: `
fs.symlinkSync('a', 'b'); fs.symlinkSync('b', 'a'); fs.symlinkSync('self/self', 'self'); fs.symlinkSync('.', 'here');
for (let i = 0; i < 60; i++) fs.symlinkSync('c' + (i + 1), 'c' + i);
fs.writeFileSync('c60', '');
const paths = ['a', 'self', 'self/', 'here/'.repeat(41) + 'c60', 'c0'];
say(
  distinct(paths.flatMap((path) =>
    [tried(() => fs.statSync(path)), tried(() => fs.realpathSync.native(path)), tried(() => fs.openSync(path, 'w'))])),
  tried(() => fs.statSync('here/'.repeat(40) + 'c60').size)
);`,
    expected: 'EISDIR ELOOP 0',
  },
  {
    name: 'links with many names in their targets do not block the thread',
    program: `
fs.mkdirSync('d');
for (let i = 0; i < 39; i++) fs.symlinkSync('d/../'.repeat(800) + 'l' + (i + 1), 'l' + i);
const began = performance.now();
say(tried(() => fs.statSync('l0')), performance.now() - began < 2_000);`,
    expected: 'ELOOP true',
  },
  {
    name: 'system files cannot be changed',
    program: `
const path = '/etc/passwd';
say(
  distinct([
    tried(() => fs.writeFileSync(path, '')), tried(() => fs.appendFileSync('/bin/sh', '')), tried(() => fs.unlinkSync(path)),
    tried(() => fs.renameSync(path, '/tmp/p')), tried(() => fs.truncateSync(path)), tried(() => fs.mkdirSync('/etc/x')),
    tried(() => fs.symlinkSync('/tmp', '/usr/x')), tried(() => fs.writeFileSync('/x', '')), tried(() => fs.openSync(path, 'r+')),
    tried(() => fs.rmdirSync('/var/tmp')), tried(() => fs.copyFileSync(path, '/etc/shadow'))
  ]),
  distinct([
    tried(() => fs.chmodSync(path, 0o777)), tried(() => fs.chownSync(path, 1_000, 1_000)), tried(() => fs.utimesSync(path, 0, 0)),
    tried(() => fs.lchownSync('/usr/bin/env', 0, 0))
  ])
);`,
    expected: 'EACCES EPERM',
  },
  {
    name: 'no file grants the rights of the administrator',
    program: `
fs.writeFileSync('mine', '#!/bin/sh\\nid -u\\n'); fs.chmodSync('mine', 0o6755);
say(
  tried(() => fs.chownSync('mine', 0, 0)),
  tried(() => require('child_process').execFileSync('./mine')).trim(),
  tried(() => fs.linkSync('/bin/sh', 'shell')),
  tried(() => fs.writeFileSync('shell', 'x'))
);`,
    expected: /^EPERM 1000 (done|EPERM) EACCES$|^EPERM 1000 EPERM done$/,
  },
  {
    name: "removing the whole tree removes only the guest's files, and the runtime works",
    program: `
say(
  tried(() => fs.rmSync('/', { recursive: true, force: true })),
  tried(() => fs.renameSync('/', '/tmp/x')),
  tried(() => fs.rmdirSync('/')),
  fs.existsSync('/bin/sh')
);`,
    expected: /^\w+ \w+ \w+ true$/,
  },
  {
    name: 'a directory cannot be moved or copied into itself',
    program: `
fs.mkdirSync('a/b', { recursive: true });
say(
  tried(() => fs.renameSync('a', 'a/b/c')),
  tried(() => fs.cpSync('a', 'a/b/c', { recursive: true })),
  tried(() => fs.cpSync('/', '/tmp/all', { recursive: true, force: true }))
);`,
    expected: /^EINVAL ERR_FS_CP_EINVAL \w+$/,
  },
  {
    name: 'templates of temporary folders cannot leave their folder',
    program: `
say(
  tried(() => fs.mkdtempSync('/etc/x')),
  tried(() => fs.mkdtempSync('../../../proc/x')),
  tried(() => fs.mkdtempSync('a\\0b'))
);`,
    expected: /^EACCES (EROFS|ENOENT|EACCES) ERR_INVALID_ARG_VALUE$/,
  },
  {
    name: 'directories without permission keep their contents',
    program: `
fs.mkdirSync('closed'); fs.writeFileSync('closed/file', 'x'); fs.chmodSync('closed', 0);
say(
  distinct([
    tried(() => fs.readFileSync('closed/file')), tried(() => fs.readdirSync('closed')), tried(() => process.chdir('closed')),
    tried(() => fs.statSync('closed/../closed/file'))
  ]),
  tried(() => fs.writeFileSync(['', 'root', 'file'].join('/'), 'x'))
);`,
    expected: 'EACCES EACCES',
  },
];
