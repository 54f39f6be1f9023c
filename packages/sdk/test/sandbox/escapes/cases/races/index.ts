// Races with the host machine, which replaces a folder with a link out of the mount, or the
// reverse, while a call uses the name.
//
// No call may read or change a file outside of the mount. The protected file must stay unchanged,
// and no call may make a file beside the protected file.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EscapeCase, Theme } from '../../harness/case.js';
import type { CaseFolders } from '../../harness/folders.js';
import { prepareSwap, race, type Swap } from '../../harness/race.js';
import { type Kind, mounted } from '../mounts/kinds.js';

/** Calls that read. No result may contain facts of the folder outside of the mount. */
const READS: Record<string, [Swap, string]> = {
  'reading a file below the swapped folder': ['directory', `return fs.readFileSync('/m/swapped/protected', 'utf8');`],
  'reading a file below the swapped folder through an absolute link': [
    'absolute',
    `return fs.readFileSync('/m/swapped/protected', 'utf8');`,
  ],
  'reading the swapped file': ['file', `return fs.readFileSync('/m/swapped-file', 'utf8');`],
  'reading through a link that stays inside': ['chain', `return fs.readFileSync('/m/swapped/protected', 'utf8');`],
  'opening the swapped file, then reading': [
    'file',
    `
const fd = fs.openSync('/m/swapped-file');
try { const b = Buffer.alloc(99); return b.toString('utf8', 0, fs.readSync(fd, b)); } finally { fs.closeSync(fd); }`,
  ],
  'listing the swapped folder': ['directory', `return fs.readdirSync('/m/swapped').join();`],
  'listing the mount recursively': [
    'directory',
    `return fs.readdirSync('/m', { recursive: true }).filter((name) => name.endsWith('protected')).join();`,
  ],
  'reading the size of a file below the swapped folder': ['directory', `return fs.statSync('/m/swapped/protected').size;`],
  'resolving the real path': ['directory', `return fs.realpathSync.native('/m/swapped/protected');`],
  'reading through dots after the swapped folder': [
    'directory',
    `return fs.readFileSync('/m/swapped/../outside/protected', 'utf8');`,
  ],
  'reading through dots after a folder that is moved out': [
    'away',
    `return fs.readFileSync('/m/swapped/deep/../../protected', 'utf8');`,
  ],
  'working in the swapped folder': [
    'away',
    `
process.chdir('/m/swapped/deep');
return distinct(['../protected', '../../protected', '../../../outside/protected'].map((path) => tried(() =>
  fs.readFileSync(path, 'utf8'))));`,
  ],
  'reading by promises and streams': [
    'directory',
    `
const stream = fs.createReadStream('/m/swapped/protected', 'utf8');
let text = '';
for await (const part of stream) text += part;
return text;`,
  ],
  'copying the swapped file into memory': [
    'file',
    `fs.copyFileSync('/m/swapped-file', '/tmp/copy'); return fs.readFileSync('/tmp/copy', 'utf8');`,
  ],
  'importing the swapped file': ['file', `return require('fs').readFileSync(require.resolve('/m/swapped-file'), 'utf8');`],
  'watching the swapped folder': [
    'directory',
    `const watcher = fs.watch('/m/swapped'); watcher.on('error', () => {}); watcher.close();`,
  ],
};

/** Calls that change files. */
const CHANGES: Record<string, [Swap, string]> = {
  'writing the swapped file': ['file', `fs.writeFileSync('/m/swapped-file', 'hostile');`],
  'writing a file below the swapped folder': ['directory', `fs.writeFileSync('/m/swapped/protected', 'hostile');`],
  'appending and truncating': ['file', `fs.appendFileSync('/m/swapped-file', 'hostile'); fs.truncateSync('/m/swapped-file', 1);`],
  'making a file below the swapped folder': [
    'absolute',
    `fs.writeFileSync('/m/swapped/new' + round, 'hostile', { flag: 'wx' });`,
  ],
  'making folders below the swapped folder': [
    'directory',
    `fs.mkdirSync('/m/swapped/made' + round + '/more', { recursive: true });`,
  ],
  'removing a file below the swapped folder': ['directory', `fs.unlinkSync('/m/swapped/protected');`],
  'removing everything below the swapped folder': [
    'chain',
    `fs.rmSync('/m/swapped/protected', { force: true }); fs.rmSync('/m/swapped/.', { recursive: true, force: true });`,
  ],
  'moving a file in and out': [
    'directory',
    `
fs.writeFileSync('/m/x', 'hostile');
fs.renameSync('/m/x', '/m/swapped/protected');
fs.renameSync('/m/swapped/protected', '/m/x');`,
  ],
  'making links below the swapped folder': [
    'directory',
    `fs.linkSync('/m/dir/file', '/m/swapped/hard' + round); fs.symlinkSync('x', '/m/swapped/soft' + round);`,
  ],
  'changing modes and times': ['file', `fs.chmodSync('/m/swapped-file', 0o777); fs.utimesSync('/m/swapped-file', 1, 1);`],
  'copying over the swapped file': ['file', `fs.copyFileSync('/etc/hosts', '/m/swapped-file');`],
};

/**
 * Returns a sentence about a problem of the outside folder, or `undefined`. The folder may contain
 * only the unchanged protected file and the entry `kept` of the swapping thread.
 */
function outsideProblem({ outside, parent }: CaseFolders): string | undefined {
  const others = readdirSync(outside).filter((name) => name !== 'protected' && name !== 'kept');
  if (others.length > 0) return `other files outside: ${others}`;
  if (!existsSync(join(outside, 'protected'))) return 'the protected file is missing';
  return readFileSync(join(outside, 'protected'), 'utf8') === parent.secret ? undefined : 'the protected file was changed';
}

const attempt = (kind: Kind, name: string, [swap, step]: [Swap, string]): EscapeCase => ({
  name: `${kind}: ${name} stays in the mount, with swaps of kind ${swap}`,
  options: mounted(kind),
  prepare: (folders) => prepareSwap(folders, swap),
  attack: race(swap, step),
  // Accepts everything except facts of the outside folder, a race without swaps, a timeout and an
  // engine fault.
  expected: /^(?![\s\S]*(canary-|\b43\b|\bprotected\b|nothing was swapped|ERR_TIMEOUT|ERR_ENGINE))/,
  after: outsideProblem,
});

export const races: Theme = {
  name: 'races',
  cases: [
    ...Object.entries(READS).map(([name, swapAndStep]) => attempt('read-only', name, swapAndStep)),
    ...Object.entries(READS)
      .slice(0, 4)
      .flatMap(([name, swapAndStep]) => [attempt('writable', name, swapAndStep), attempt('overlay', name, swapAndStep)]),
    ...Object.entries(CHANGES).map(([name, swapAndStep]) => attempt('writable', name, swapAndStep)),
    ...Object.entries(CHANGES)
      .slice(0, 6)
      .map(([name, swapAndStep]) => attempt('overlay', name, swapAndStep)),
  ],
};
