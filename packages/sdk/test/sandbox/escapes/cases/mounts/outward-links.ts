// Follows links of the host machine that lead out of a mounted folder, and opens special files, in
// each kind of mount.

import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { EscapeCase } from '../../harness/case.js';
import { KINDS, type Kind, mounted, unchanged } from './kinds.js';

const OUT: Record<string, (outside: string) => string> = {
  absolute: (outside) => `${outside}/protected`,
  relative: () => '../outside/protected',
  through: () => 'dir/../../outside/protected',
  winding: () => 'dir/deep/../../dir/deep/../../../outside/protected',
  magic: () => '/proc/self/root/etc/hostname',
  descriptor: () => '/proc/self/fd/0',
  root: () => '/',
  climbing: () => '../'.repeat(64),
};

/** Returns a program that makes fifteen calls with a path and prints their results. */
const everyCall = (path: string): string => `
const path = '${path}';
const calls = [
  () => fs.readFileSync(path), () => fs.openSync(path, 'w'), () => fs.statSync(path), () => fs.realpathSync.native(path),
  () => fs.readdirSync(path), () => fs.truncateSync(path), () => fs.copyFileSync(path, '/tmp/copy'),
  () => fs.chmodSync(path, 0o777), () => fs.utimesSync(path, 1, 1), () => fs.watch(path), () => fs.accessSync(path),
  () => fs.statSync(path + '/x'), () => process.chdir(path), () => fs.openSync(path + '/new', 'w'),
  () => fs.mkdirSync(path + '/new')
];
say(distinct(calls.map(tried)));`;

const links = (kind: Kind): EscapeCase[] =>
  Object.entries(OUT).map(([name, target]) => {
    const outside = unchanged();
    return {
      name: `${kind}: a link that leads out is refused, ${name}`,
      options: mounted(kind),
      prepare: (folders) => {
        symlinkSync(target(folders.outside), join(folders.inside, name));
        outside.remember(folders);
      },
      program: everyCall(`/m/${name}`),
      expected: 'EACCES',
      after: outside.after,
    };
  });

const special = (kind: Kind): EscapeCase => ({
  name: `${kind}: a named pipe of the host machine is not opened`,
  options: mounted(kind),
  prepare: ({ inside }) => void execFileSync('mkfifo', [join(inside, 'pipe')]),
  program: `
say(fs.lstatSync('/m/pipe').isFIFO());
say(distinct(['r', 'w', 'r+', 'a'].map((flags) => tried(() => fs.openSync('/m/pipe', flags)))));
say(await later(() => fs.promises.readFile('/m/pipe')), tried(() => fs.copyFileSync('/m/pipe', '/tmp/copy')));`,
  expected: kind === 'read-only' ? /^true\nEACCES( EROFS)?\nEACCES EACCES$/ : 'true\nEACCES\nEACCES EACCES',
});

const upwards = (kind: Kind): EscapeCase => ({
  name: `${kind}: dots above the folder lead into the guest's tree`,
  options: mounted(kind),
  program: `
process.chdir('/m/dir/deep');
say(
  fs.readdirSync('../../..').includes('workspace'),
  distinct([
    '../../../outside/protected', '/m/../outside/protected', '/m/dir/../../outside/protected', '/m/../../outside/protected'
  ].map((path) => tried(() => fs.readFileSync(path)))),
  process.cwd()
);`,
  expected: 'true ENOENT /m/dir/deep',
});

export const leadingOut: EscapeCase[] = KINDS.flatMap((kind) => [...links(kind), special(kind), upwards(kind)]);
