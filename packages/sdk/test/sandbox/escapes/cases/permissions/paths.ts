// Names a denied file in many forms: links, dots, `/proc`, descriptors, working directories, forms
// of letters.

import type { EscapeCase } from '../../harness/case.js';
import { denied } from './denied.js';

/** Paths that lead to the denied file. Every call with them must fail. */
const FORMS: Record<string, string> = {
  'two slashes': `'//secret//key'`,
  'dots of the current directory': `'/./secret/./key'`,
  'dots from an allowed folder': `'/open/../secret/key'`,
  'dots in the denied folder': `'/secret/../secret/key'`,
  'a relative path': `'../secret/key'`,
  'a file URL': `new URL('file:///open/%2e%2e/secret/key')`,
  'a file URL with encoded letters': `new URL('file:///%73ecret/key')`,
  bytes: `Buffer.from('/secret/key')`,
  'the root of the process': `'/proc/self/root/secret/key'`,
  'the root of the root': `'/proc/self/root/proc/self/root/secret/key'`,
  'the working directory of the process': `'/proc/self/cwd/../secret/key'`,
  'the pid of the process': `'/proc/' + process.pid + '/cwd/../secret/key'`,
  'a descriptor of the root': `'/proc/self/fd/' + fs.openSync('/') + '/secret/key'`,
  'a descriptor of an allowed folder': `'/dev/fd/' + fs.openSync('/open') + '/../secret/key'`,
  'a link to the file': `(fs.symlinkSync('/secret/key', 'l'), 'l')`,
  'a link to the folder': `(fs.symlinkSync('/secret', 'l'), 'l/key')`,
  'a relative link': `(fs.symlinkSync('../secret/key', 'l'), '/open/l')`,
  'a chain of links': `(fs.symlinkSync('/secret', 'l0'),
    Array.from({ length: 30 }, (_, n) => fs.symlinkSync('l' + n, 'l' + (n + 1))), 'l30/key')`,
  'a link to a name of /proc': `(fs.symlinkSync('/proc/self/root/secret', 'l'), 'l/key')`,
  'a link with dots behind a link': `(fs.mkdirSync('d'), fs.symlinkSync('/open/d', 'l'), 'l/../../secret/key')`,
};

const CALLS = `
const path = PATH;
const calls = [
  () => fs.readFileSync(path), () => fs.openSync(path, 'r'), () => fs.openSync(path, 'w'), () => fs.openSync(path, 'a'),
  () => fs.statSync(path), () => fs.accessSync(path), () => fs.truncateSync(path),
  () => fs.copyFileSync(path, '/open/copy'), () => fs.copyFileSync('/open/file', path), () => fs.realpathSync.native(path),
  () => fs.watch(path), () => fs.chmodSync(path, 0o777), () => fs.utimesSync(path, 1, 1), () => fs.appendFileSync(path, 'x'),
() => fs.statfsSync(path)
];
const promised = await Promise.all([
  later(() => fs.promises.readFile(path)), later(() => fs.promises.open(path, 'r+')), later(() => fs.promises.stat(path)),
  event(fs.createReadStream(path), 'data', 'error'), event(fs.createWriteStream(path), 'open', 'error')
]);
say(distinct([...calls.map(tried), ...promised]), fs.existsSync(path));`;

const forms = Object.entries(FORMS).map(([name, path]) =>
  denied(`every call fails through ${name}`, CALLS.replace('PATH', path), 'EACCES false'),
);

export const paths: EscapeCase[] = [
  ...forms,
  denied(
    'other letters and forms of letters are other names',
    `
const names = ['/SECRET/key', '/Secret/key', '/\\uff53ecret/key', '/se\\u0301cret/key', '/secret\\u200b/key', '/secret /key',
'/secret./key'];
say(distinct(names.map((name) => tried(() => fs.readFileSync(name)))));`,
    'ENOENT',
  ),
  denied(
    'a NUL and escapes in a name do not end the name',
    `
const names = ['/open\\0/../secret/key', '/secret\\0', '/open/..%2fsecret/key', '/open/..\\\\secret/key',
'/open/\\x2e\\x2e%00/secret/key'];
say(distinct(names.map((name) => tried(() => fs.readFileSync(name)))));`,
    'ENOENT ERR_INVALID_ARG_VALUE',
  ),
  denied(
    'a hard link does not name a denied file',
    `say(distinct([
  tried(() => fs.linkSync('/secret/key', '/open/x')), tried(() => fs.linkSync('/proc/self/root/secret/key', '/open/x')),
  tried(() => fs.linkSync('/open/file', '/secret/x'))
]), fs.readdirSync('/open'));`,
    'EACCES file',
  ),
  denied(
    'a rename moves nothing out of or into the folder',
    `say(distinct([
  tried(() => fs.renameSync('/secret/key', '/open/x')), tried(() => fs.renameSync('/secret', '/open/x')),
  tried(() => fs.renameSync('/open/file', '/secret/key')), tried(() => fs.renameSync('/open', '/secret'))
]), fs.readdirSync('/open'));`,
    'EACCES file',
  ),
  {
    name: 'permissions: a parent of a denied file cannot be moved',
    options: {
      files: { '/workspace/a/b/secret/key': 'top-secret' },
      permissions: { fs: { default: 'allow', rules: [{ mode: 'deny', paths: ['/workspace/a/b/secret'] }] } },
    },
    program: `
say(distinct(['a', 'a/b', 'a/b/secret'].map((name) => tried(() => fs.renameSync(name, 'moved')))), fs.existsSync('a/b'),
  tried(() => fs.cpSync('a', 'copy', { recursive: true })), tried(() => fs.readFileSync('copy/b/secret/key', 'utf8')));`,
    expected: 'EACCES true EACCES ENOENT',
  },
  denied(
    'no call lists the names',
    `
say(distinct([
  () => fs.readdirSync('/secret'), () => fs.opendirSync('/secret'),
  () => fs.globSync('/secret/*').join(), () => fs.globSync('/*/key').join(), () => fs.cpSync('/secret', '/open/x',
{ recursive: true })
].map(tried).filter((text) => !/^\\d*$/.test(text))), fs.existsSync('/open/x'));`,
    'EACCES false',
  ),
  denied(
    'no call enters the folder',
    `
const { spawnSync } = require('child_process');
say(distinct([
  tried(() => process.chdir('/secret')), tried(() => process.chdir('/open/../secret')),
  spawnSync('node', ['-p', '1'], { cwd: '/secret' }).error?.code,
  spawnSync('cat', ['key'], { cwd: '/proc/self/root/secret' }).error?.code
]), process.cwd());`,
    'EACCES /open',
  ),
  denied(
    'no call removes, makes or changes names in the folder',
    `
say(distinct([
  () => fs.rmSync('/secret', { recursive: true }), () => fs.rmdirSync('/secret'), () => fs.unlinkSync('/secret/key'),
  () => fs.mkdirSync('/secret/d'), () => fs.mkdtempSync('/secret/t'), () => fs.symlinkSync('x', '/secret/l'),
  () => fs.writeFileSync('/secret/new', 'x'), () => fs.chmodSync('/secret', 0), () => fs.lutimesSync('/secret', 1, 1),
  () => fs.lchownSync('/secret', 1000, 1000), () => fs.readlinkSync('/secret/key')
].map(tried)));`,
  ),
  denied(
    'a socket cannot be bound or reached in the folder',
    `
const net = require('net');
say(await event(net.createServer().listen('/secret/s'), 'listening', 'error'), await event(net.connect('/secret/s'), 'connect',
'error'));`,
    'EACCES EACCES',
  ),
  denied(
    'a missing and an existing name fail alike',
    `
say(distinct(['key', 'none', 'key/x', 'none/x', '../secret/none', 'x/../../open/file'].flatMap((name) =>
  [tried(() => fs.statSync('/secret/' + name)), tried(() => fs.readFileSync('/secret/' + name))])));`,
  ),
];
