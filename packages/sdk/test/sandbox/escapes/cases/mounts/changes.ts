// What a guest can change in a mounted folder, and traps that it could lay there for programs of the host.

import { existsSync, lstatSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { EscapeCase } from '../../harness/case.js';
import type { Place } from '../../harness/place.js';
import { mounted, unchanged } from './kinds.js';

const EVERYTHING = `
const calls = [
  () => fs.writeFileSync('/m/new', 'x'), () => fs.appendFileSync('/m/dir/file', 'x'), () => fs.mkdirSync('/m/made'), () => fs.rmSync('/m/dir', { recursive: true }),
  () => fs.renameSync('/m/dir/file', '/m/moved'), () => fs.symlinkSync('x', '/m/link'), () => fs.linkSync('/m/dir/file', '/m/hard'), () => fs.truncateSync('/m/dir/file'),
  () => fs.chmodSync('/m/dir/file', 0o777), () => fs.utimesSync('/m/dir/file', 1, 1), () => fs.unlinkSync('/m/dir/file'), () => fs.copyFileSync('/etc/passwd', '/m/copy'),
  () => fs.mkdtempSync('/m/t'), () => fs.cpSync('/m/dir', '/m/dir2', { recursive: true }), () => fs.lutimesSync('/m/dir', 1, 1), () => fs.chownSync('/m/dir', 1_000, 1_000),
];`;

/** Follows a link as the host would, without touching anything: whether it ends outside of the folder. */
function leavesAsTheHostSeesIt(folder: string, link: string): boolean {
  let at = resolve(link, '..');
  for (const part of readlinkSync(link).split('/')) {
    at = resolve(at, part);
    if (relative(folder, at).startsWith('..')) return true;
    try {
      if (lstatSync(at).isSymbolicLink()) at = resolve(at, '..', readlinkSync(at));
    } catch {
      // Nothing is there yet: only its name counts.
    }
    if (relative(folder, at).startsWith('..')) return true;
  }
  return false;
}

/** Every path below a folder, links not followed. */
function everythingIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? [path, ...everythingIn(path)] : [path];
  });
}

function trapIn({ inside }: Place): string | undefined {
  const all = everythingIn(inside);
  const traps = all.filter((path) => lstatSync(path).isSymbolicLink() && leavesAsTheHostSeesIt(inside, path));
  return traps.length > 0
    ? `links that lead out of the folder on the host: ${traps.map((path) => `${relative(inside, path)} → ${readlinkSync(path)}`)}`
    : undefined;
}

const trap = (name: string, program: string): EscapeCase => ({
  name: `writable: no link for the host to fall into, ${name}`,
  options: mounted('writable'),
  program: `${program}\nsay('tried');`,
  expected: 'tried',
  after: trapIn,
});

const readOnly = unchanged('inside');
const overlay = unchanged('inside');

export const changes: EscapeCase[] = [
  {
    name: 'read-only: nothing changes, whatever is called',
    options: mounted('read-only'),
    prepare: readOnly.remember,
    program: `${EVERYTHING}\nsay(distinct(calls.map(tried)));`,
    expected: 'EROFS',
    after: readOnly.after,
  },
  {
    name: 'overlay: the guest changes everything, the host sees nothing of it',
    options: mounted('overlay'),
    prepare: overlay.remember,
    program: `${EVERYTHING}\nfor (const call of calls) tried(call);\nfs.rmSync('/m/dir', { recursive: true, force: true }); say(fs.existsSync('/m/dir'), fs.existsSync('/m/new'));`,
    expected: 'false true',
    after: overlay.after,
  },
  {
    name: 'writable: no set-id bits, no owner but the own',
    options: mounted('writable'),
    program: `
fs.writeFileSync('/m/tool', 'x', { mode: 0o6777 }); fs.chmodSync('/m/tool', 0o6777); fs.mkdirSync('/m/made', 0o7777); fs.chmodSync('/m/made', 0o7777);
const fd = fs.openSync('/m/tool', 'r+'); fs.fchmodSync(fd, 0o7777);
say(tried(() => fs.chownSync('/m/tool', 0, 0)), tried(() => fs.fchownSync(fd, 0, 0)));`,
    expected: /^(EPERM|done) (EPERM|done)$/,
    after: ({ inside }) =>
      ['tool', 'made'].some((name) => statSync(join(inside, name)).mode & 0o6000) ? 'set-id bits are set on the host' : undefined,
  },
  {
    name: 'writable: files go neither out of the folder nor in from memory by their names',
    options: mounted('writable'),
    program: `
fs.writeFileSync('/tmp/mine', 'x');
say(distinct([tried(() => fs.renameSync('/m/dir/file', '/tmp/x')), tried(() => fs.renameSync('/tmp/mine', '/m/x')), tried(() => fs.linkSync('/m/dir/file', '/tmp/x')), tried(() => fs.linkSync('/tmp/mine', '/m/y'))]),
  distinct([tried(() => fs.renameSync('/m', '/n')), tried(() => fs.rmdirSync('/m')), tried(() => fs.renameSync('/m/dir', '/m/../../outside/dir'))]));`,
    expected: /^EXDEV [A-Z ]+$/,
  },
  trap(
    'absolute, relative, through dots',
    `for (const target of ['/etc', '..', '../outside', 'dir/../..', 'dir/deep/../../../x', '../inside/../outside']) tried(() => fs.symlinkSync(target, '/m/dir/l' + Math.random())), tried(() => fs.symlinkSync(target, '/m/l' + Math.random()));`,
  ),
  trap(
    'through a link to the folder itself',
    `tried(() => fs.symlinkSync('.', '/m/s')); tried(() => fs.symlinkSync('s/s/s/../../../outside/prey', '/m/evil')); tried(() => fs.symlinkSync('../m2/../..', '/m/dir/evil'));`,
  ),
  trap(
    'a link that is moved up',
    `tried(() => fs.symlinkSync('../../file', '/m/dir/deep/l')); tried(() => fs.renameSync('/m/dir/deep/l', '/m/l'));`,
  ),
  trap(
    'a link that gets a second name further up',
    `tried(() => fs.symlinkSync('../../file', '/m/dir/deep/l')); tried(() => fs.linkSync('/m/dir/deep/l', '/m/l'));`,
  ),
  trap(
    'a folder with a link in it that is moved up',
    `tried(() => fs.symlinkSync('../../file', '/m/dir/deep/l')); tried(() => fs.renameSync('/m/dir/deep', '/m/deep'));`,
  ),
  trap(
    'a folder on the way that becomes a link',
    `tried(() => fs.symlinkSync('dir/deep/../../file', '/m/l')); tried(() => fs.rmSync('/m/dir', { recursive: true })); tried(() => fs.symlinkSync('.', '/m/dir')); tried(() => fs.mkdirSync('/m/deep'));`,
  ),
  {
    // Three gigabytes of nothing: enough to see that the end of its time ends it, and not enough to fill a disk when it does not.
    name: 'writable: a copy of a large file ends when the program must end',
    options: mounted('writable'),
    program: `
fs.writeFileSync('/m/large', 'x'); fs.truncateSync('/m/large', 3 * 2 ** 30);
fs.copyFileSync('/m/large', '/m/copy');`,
    how: { timeout: 300 },
    expected: { error: 'ERR_TIMEOUT' },
    after: ({ inside }) => {
      const copied = existsSync(join(inside, 'copy')) ? statSync(join(inside, 'copy')).size : 0;
      for (const name of ['large', 'copy']) rmSync(join(inside, name), { force: true });
      return copied > 2 ** 31 ? `the copy has written ${copied} bytes` : undefined;
    },
  },
];
