// Changes mounted folders from a guest, and makes links that would mislead programs of the host
// machine.

import { existsSync, lstatSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { EscapeCase } from '../../harness/case.js';
import type { CaseFolders } from '../../harness/folders.js';
import { mounted, unchanged } from './kinds.js';

const EVERYTHING = `
const calls = [
  () => fs.writeFileSync('/m/new', 'x'), () => fs.appendFileSync('/m/dir/file', 'x'), () => fs.mkdirSync('/m/made'),
  () => fs.rmSync('/m/dir', { recursive: true }), () => fs.renameSync('/m/dir/file', '/m/moved'),
  () => fs.symlinkSync('x', '/m/link'), () => fs.linkSync('/m/dir/file', '/m/hard'), () => fs.truncateSync('/m/dir/file'),
  () => fs.chmodSync('/m/dir/file', 0o777), () => fs.utimesSync('/m/dir/file', 1, 1), () => fs.unlinkSync('/m/dir/file'),
  () => fs.copyFileSync('/etc/passwd', '/m/copy'), () => fs.mkdtempSync('/m/t'),
  () => fs.cpSync('/m/dir', '/m/dir2', { recursive: true }), () => fs.lutimesSync('/m/dir', 1, 1),
  () => fs.chownSync('/m/dir', 1_000, 1_000)
];`;

/**
 * Returns whether the target of a link is outside of the folder on the host machine. Opens no file.
 */
function leavesFolder(folder: string, link: string): boolean {
  let at = resolve(link, '..');
  for (const part of readlinkSync(link).split('/')) {
    at = resolve(at, part);
    if (relative(folder, at).startsWith('..')) return true;
    try {
      if (lstatSync(at).isSymbolicLink()) at = resolve(at, '..', readlinkSync(at));
    } catch {
      // No file exists at the path, so the path itself is compared.
    }
    if (relative(folder, at).startsWith('..')) return true;
  }
  return false;
}

/** Returns every path below a folder, without following links. */
function pathsBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? [path, ...pathsBelow(path)] : [path];
  });
}

function outwardLinks({ inside }: CaseFolders): string | undefined {
  const all = pathsBelow(inside);
  const links = all.filter((path) => lstatSync(path).isSymbolicLink() && leavesFolder(inside, path));
  const described = links.map((path) => `${relative(inside, path)} → ${readlinkSync(path)}`);
  return links.length > 0 ? `links that lead out of the folder on the host machine: ${described}` : undefined;
}

const outwardLink = (name: string, program: string): EscapeCase => ({
  name: `writable: no link leads out on the host machine, ${name}`,
  options: mounted('writable'),
  program: `${program}\nsay('tried');`,
  expected: 'tried',
  after: outwardLinks,
});

const readOnly = unchanged('inside');
const overlay = unchanged('inside');

export const changes: EscapeCase[] = [
  {
    name: 'read-only: no call changes the folder',
    options: mounted('read-only'),
    prepare: readOnly.remember,
    program: `${EVERYTHING}\nsay(distinct(calls.map(tried)));`,
    expected: 'EROFS',
    after: readOnly.after,
  },
  {
    name: 'overlay: changes of the guest do not change the folder',
    options: mounted('overlay'),
    prepare: overlay.remember,
    program: `${EVERYTHING}
for (const call of calls) tried(call);
fs.rmSync('/m/dir', { recursive: true, force: true }); say(fs.existsSync('/m/dir'), fs.existsSync('/m/new'));`,
    expected: 'false true',
    after: overlay.after,
  },
  {
    name: 'writable: no set-id bits and no other owner',
    options: mounted('writable'),
    program: `
fs.writeFileSync('/m/tool', 'x', { mode: 0o6777 });
fs.chmodSync('/m/tool', 0o6777);
fs.mkdirSync('/m/made', 0o7777);
fs.chmodSync('/m/made', 0o7777);
const fd = fs.openSync('/m/tool', 'r+'); fs.fchmodSync(fd, 0o7777);
say(tried(() => fs.chownSync('/m/tool', 0, 0)), tried(() => fs.fchownSync(fd, 0, 0)));`,
    expected: /^(EPERM|done) (EPERM|done)$/,
    after: ({ inside }) =>
      ['tool', 'made'].some((name) => statSync(join(inside, name)).mode & 0o6000)
        ? 'set-id bits are set on the host machine'
        : undefined,
  },
  {
    name: 'writable: renames and links do not cross the mount',
    options: mounted('writable'),
    program: `
fs.writeFileSync('/tmp/mine', 'x');
say(
  distinct([
    tried(() => fs.renameSync('/m/dir/file', '/tmp/x')), tried(() => fs.renameSync('/tmp/mine', '/m/x')),
    tried(() => fs.linkSync('/m/dir/file', '/tmp/x')), tried(() => fs.linkSync('/tmp/mine', '/m/y'))
  ]),
  distinct([
    tried(() => fs.renameSync('/m', '/n')),
    tried(() => fs.rmdirSync('/m')),
    tried(() => fs.renameSync('/m/dir', '/m/../../outside/dir'))
  ])
);`,
    expected: /^EXDEV [A-Z ]+$/,
  },
  outwardLink(
    'absolute, relative and with dots',
    `
for (const target of ['/etc', '..', '../outside', 'dir/../..', 'dir/deep/../../../x', '../inside/../outside'])
  tried(() => fs.symlinkSync(target, '/m/dir/l' + Math.random())), tried(() => fs.symlinkSync(target, '/m/l' + Math.random()));`,
  ),
  outwardLink(
    'through a link to the folder itself',
    `
tried(() => fs.symlinkSync('.', '/m/s'));
tried(() => fs.symlinkSync('s/s/s/../../../outside/protected', '/m/evil'));
tried(() => fs.symlinkSync('../m2/../..', '/m/dir/evil'));`,
  ),
  outwardLink(
    'a link that is moved up',
    `tried(() => fs.symlinkSync('../../file', '/m/dir/deep/l')); tried(() => fs.renameSync('/m/dir/deep/l', '/m/l'));`,
  ),
  outwardLink(
    'a hard link to a link in a higher folder',
    `tried(() => fs.symlinkSync('../../file', '/m/dir/deep/l')); tried(() => fs.linkSync('/m/dir/deep/l', '/m/l'));`,
  ),
  outwardLink(
    'a folder with a link that is moved up',
    `tried(() => fs.symlinkSync('../../file', '/m/dir/deep/l')); tried(() => fs.renameSync('/m/dir/deep', '/m/deep'));`,
  ),
  outwardLink(
    'a parent folder that becomes a link',
    `
tried(() => fs.symlinkSync('dir/deep/../../file', '/m/l'));
tried(() => fs.rmSync('/m/dir', { recursive: true }));
tried(() => fs.symlinkSync('.', '/m/dir'));
tried(() => fs.mkdirSync('/m/deep'));`,
  ),
  {
    // The file is sparse and has three gigabytes. A copy takes longer than the timeout, and fits on
    // the disk if the timeout fails.
    name: 'writable: a copy of a large file ends at the timeout',
    options: mounted('writable'),
    program: `
fs.writeFileSync('/m/large', 'x'); fs.truncateSync('/m/large', 3 * 2 ** 30);
fs.copyFileSync('/m/large', '/m/copy');`,
    execOptions: { timeout: 300 },
    expected: { error: 'ERR_TIMEOUT' },
    after: ({ inside }) => {
      const copied = existsSync(join(inside, 'copy')) ? statSync(join(inside, 'copy')).size : 0;
      for (const name of ['large', 'copy']) rmSync(join(inside, name), { force: true });
      return copied > 2 ** 31 ? `the copy has written ${copied} bytes` : undefined;
    },
  },
];
