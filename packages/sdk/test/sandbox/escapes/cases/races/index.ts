// Races with the host machine: a name is a folder when it is checked and a link out of the mount
// when it is used, or the reverse.
//
// No call returns anything from outside of the mount or changes anything there: the protected file
// stays unchanged and stays the only file.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EscapeCase, Theme } from '../../harness/case.js';
import type { CaseFolders } from '../../harness/folders.js';
import { prepareSwap, race, type Swap } from '../../harness/race.js';
import { type Kind, mounted } from '../mounts/kinds.js';

/** Calls that read. No result may contain facts of the outside. */
const READS: Record<string, [Swap, string]> = {
  'reading a file below': ['directory', `return fs.readFileSync('/m/swapped/protected', 'utf8');`],
  'reading a file below through an absolute link': ['absolute', `return fs.readFileSync('/m/swapped/protected', 'utf8');`],
  'reading the file itself': ['file', `return fs.readFileSync('/m/swapped-file', 'utf8');`],
  'reading through a link that stays inside': ['chain', `return fs.readFileSync('/m/swapped/protected', 'utf8');`],
  'opening, then reading': [
    'file',
    `const fd = fs.openSync('/m/swapped-file'); try { const b = Buffer.alloc(99); return b.toString('utf8', 0, fs.readSync(fd, b)); } finally { fs.closeSync(fd); }`,
  ],
  listing: ['directory', `return fs.readdirSync('/m/swapped').join();`],
  'listing recursively': [
    'directory',
    `return fs.readdirSync('/m', { recursive: true }).filter((name) => name.endsWith('protected')).join();`,
  ],
  'the size of a file below': ['directory', `return fs.statSync('/m/swapped/protected').size;`],
  'the real path': ['directory', `return fs.realpathSync.native('/m/swapped/protected');`],
  'dots after it': ['directory', `return fs.readFileSync('/m/swapped/../outside/protected', 'utf8');`],
  'dots after a folder that is moved out': ['away', `return fs.readFileSync('/m/swapped/deep/../../protected', 'utf8');`],
  'working in it': [
    'away',
    `process.chdir('/m/swapped/deep'); return distinct(['../protected', '../../protected', '../../../outside/protected'].map((path) => tried(() => fs.readFileSync(path, 'utf8'))));`,
  ],
  'promises and streams': [
    'directory',
    `const stream = fs.createReadStream('/m/swapped/protected', 'utf8'); let text = ''; for await (const part of stream) text += part; return text;`,
  ],
  'copying it into memory': [
    'file',
    `fs.copyFileSync('/m/swapped-file', '/tmp/copy'); return fs.readFileSync('/tmp/copy', 'utf8');`,
  ],
  'importing it': ['file', `return require('fs').readFileSync(require.resolve('/m/swapped-file'), 'utf8');`],
  'watching it': ['directory', `const watcher = fs.watch('/m/swapped'); watcher.on('error', () => {}); watcher.close();`],
};

/** Calls that change files. */
const CHANGES: Record<string, [Swap, string]> = {
  'writing the file itself': ['file', `fs.writeFileSync('/m/swapped-file', 'hostile');`],
  'writing a file below': ['directory', `fs.writeFileSync('/m/swapped/protected', 'hostile');`],
  'appending and truncating': ['file', `fs.appendFileSync('/m/swapped-file', 'hostile'); fs.truncateSync('/m/swapped-file', 1);`],
  'making a file below': ['absolute', `fs.writeFileSync('/m/swapped/new' + round, 'hostile', { flag: 'wx' });`],
  'making folders below': ['directory', `fs.mkdirSync('/m/swapped/made' + round + '/more', { recursive: true });`],
  'removing a file below': ['directory', `fs.unlinkSync('/m/swapped/protected');`],
  'removing everything below': [
    'chain',
    `fs.rmSync('/m/swapped/protected', { force: true }); fs.rmSync('/m/swapped/.', { recursive: true, force: true });`,
  ],
  'moving a file in and out': [
    'directory',
    `fs.writeFileSync('/m/x', 'hostile'); fs.renameSync('/m/x', '/m/swapped/protected'); fs.renameSync('/m/swapped/protected', '/m/x');`,
  ],
  'links below': [
    'directory',
    `fs.linkSync('/m/dir/file', '/m/swapped/hard' + round); fs.symlinkSync('x', '/m/swapped/soft' + round);`,
  ],
  'modes, owners and times': ['file', `fs.chmodSync('/m/swapped-file', 0o777); fs.utimesSync('/m/swapped-file', 1, 1);`],
  'copying over it': ['file', `fs.copyFileSync('/etc/hosts', '/m/swapped-file');`],
};

/**
 * Asserts that the outside contains only the unchanged protected file, and the swapping thread's
 * `kept`.
 */
function outsideProblem({ outside, parent }: CaseFolders): string | undefined {
  const others = readdirSync(outside).filter((name) => name !== 'protected' && name !== 'kept');
  if (others.length > 0) return `other files outside: ${others}`;
  if (!existsSync(join(outside, 'protected'))) return 'the protected file is missing';
  return readFileSync(join(outside, 'protected'), 'utf8') === parent.secret ? undefined : 'the protected file was changed';
}

const attempt = (kind: Kind, name: string, [swap, step]: [Swap, string]): EscapeCase => ({
  name: `${kind}, ${swap} swapped: ${name}`,
  options: mounted(kind),
  prepare: (folders) => prepareSwap(folders, swap),
  attack: race(swap, step),
  // Everything except facts of the outside: its secret, its length, its names.
  expected: /^(?![\s\S]*(canary-|\b43\b|\bprey\b|nothing was swapped|ERR_TIMEOUT|ERR_ENGINE))/,
  after: outsideProblem,
});

export const races: Theme = {
  name: 'races',
  cases: [
    ...Object.entries(READS).map(([name, how]) => attempt('read-only', name, how)),
    ...Object.entries(READS)
      .slice(0, 4)
      .flatMap(([name, how]) => [attempt('writable', name, how), attempt('overlay', name, how)]),
    ...Object.entries(CHANGES).map(([name, how]) => attempt('writable', name, how)),
    ...Object.entries(CHANGES)
      .slice(0, 6)
      .map(([name, how]) => attempt('overlay', name, how)),
  ],
};
