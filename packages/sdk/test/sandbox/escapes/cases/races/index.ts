// Races with the host: a name is a folder when it is looked at and a link out of the mount when it is used, or the other way round.
//
// Whatever a call answers, it is not what lies outside, and nothing outside is changed by it: the prey is as it was, and nobody else is there.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EscapeCase, Theme } from '../../harness/case.js';
import type { Place } from '../../harness/place.js';
import { prepareSwap, race, type Swap } from '../../harness/race.js';
import { type Kind, mounted } from '../mounts/kinds.js';

/** Calls that look: their answers are compared with what only the outside has. */
const LOOKS: Record<string, [Swap, string]> = {
  'reading a file below': ['directory', `return fs.readFileSync('/m/swapped/prey', 'utf8');`],
  'reading a file below, absolute link': ['absolute', `return fs.readFileSync('/m/swapped/prey', 'utf8');`],
  'reading the file itself': ['file', `return fs.readFileSync('/m/swapped-file', 'utf8');`],
  'reading through a link that stays inside': ['chain', `return fs.readFileSync('/m/swapped/prey', 'utf8');`],
  'opening, then reading': [
    'file',
    `const fd = fs.openSync('/m/swapped-file'); try { const b = Buffer.alloc(99); return b.toString('utf8', 0, fs.readSync(fd, b)); } finally { fs.closeSync(fd); }`,
  ],
  listing: ['directory', `return fs.readdirSync('/m/swapped').join();`],
  'listing with types and below': [
    'directory',
    `return fs.readdirSync('/m', { recursive: true }).filter((name) => name.endsWith('prey')).join();`,
  ],
  'the size of a file below': ['directory', `return fs.statSync('/m/swapped/prey').size;`],
  'the real path': ['directory', `return fs.realpathSync.native('/m/swapped/prey');`],
  'dots behind it': ['directory', `return fs.readFileSync('/m/swapped/../outside/prey', 'utf8');`],
  'dots behind a folder that is moved out': ['away', `return fs.readFileSync('/m/swapped/deep/../../prey', 'utf8');`],
  'standing in it': [
    'away',
    `process.chdir('/m/swapped/deep'); return distinct(['../prey', '../../prey', '../../../outside/prey'].map((path) => tried(() => fs.readFileSync(path, 'utf8'))));`,
  ],
  'promises and streams': [
    'directory',
    `const stream = fs.createReadStream('/m/swapped/prey', 'utf8'); let text = ''; for await (const part of stream) text += part; return text;`,
  ],
  'copying it into memory': [
    'file',
    `fs.copyFileSync('/m/swapped-file', '/tmp/copy'); return fs.readFileSync('/tmp/copy', 'utf8');`,
  ],
  'importing it': ['file', `return require('fs').readFileSync(require.resolve('/m/swapped-file'), 'utf8');`],
  'watching it': ['directory', `const watcher = fs.watch('/m/swapped'); watcher.on('error', () => {}); watcher.close();`],
};

/** Calls that change something. */
const CHANGES: Record<string, [Swap, string]> = {
  'writing the file itself': ['file', `fs.writeFileSync('/m/swapped-file', 'hostile');`],
  'writing a file below': ['directory', `fs.writeFileSync('/m/swapped/prey', 'hostile');`],
  'appending and cutting': ['file', `fs.appendFileSync('/m/swapped-file', 'hostile'); fs.truncateSync('/m/swapped-file', 1);`],
  'making a file below': ['absolute', `fs.writeFileSync('/m/swapped/new' + round, 'hostile', { flag: 'wx' });`],
  'making folders below': ['directory', `fs.mkdirSync('/m/swapped/made' + round + '/more', { recursive: true });`],
  'removing a file below': ['directory', `fs.unlinkSync('/m/swapped/prey');`],
  'removing everything below': [
    'chain',
    `fs.rmSync('/m/swapped/prey', { force: true }); fs.rmSync('/m/swapped/.', { recursive: true, force: true });`,
  ],
  'moving a file in and out': [
    'directory',
    `fs.writeFileSync('/m/x', 'hostile'); fs.renameSync('/m/x', '/m/swapped/prey'); fs.renameSync('/m/swapped/prey', '/m/x');`,
  ],
  'links below': [
    'directory',
    `fs.linkSync('/m/dir/file', '/m/swapped/hard' + round); fs.symlinkSync('x', '/m/swapped/soft' + round);`,
  ],
  'modes, owners and times': ['file', `fs.chmodSync('/m/swapped-file', 0o777); fs.utimesSync('/m/swapped-file', 1, 1);`],
  'copying over it': ['file', `fs.copyFileSync('/etc/hosts', '/m/swapped-file');`],
};

/** Only the prey lies outside, as it was; and what the swapping thread keeps there for a moment. */
function outsideIsWhole({ outside, ground }: Place): string | undefined {
  const others = readdirSync(outside).filter((name) => name !== 'prey' && name !== 'kept');
  if (others.length > 0) return `there is something outside: ${others}`;
  if (!existsSync(join(outside, 'prey'))) return 'the prey is gone';
  return readFileSync(join(outside, 'prey'), 'utf8') === ground.secret ? undefined : 'the prey was changed';
}

const attempt = (kind: Kind, name: string, [swap, step]: [Swap, string]): EscapeCase => ({
  name: `${kind}, ${swap} swapped: ${name}`,
  options: mounted(kind),
  prepare: (place) => prepareSwap(place, swap),
  attack: race(swap, step),
  // Anything but what only the outside has: its secret, its length, its names.
  expected: /^(?![\s\S]*(canary-|\b43\b|\bprey\b|nothing was swapped|ERR_TIMEOUT|ERR_ENGINE))/,
  after: outsideIsWhole,
});

export const races: Theme = {
  name: 'races',
  cases: [
    ...Object.entries(LOOKS).map(([name, how]) => attempt('read-only', name, how)),
    ...Object.entries(LOOKS)
      .slice(0, 4)
      .flatMap(([name, how]) => [attempt('writable', name, how), attempt('overlay', name, how)]),
    ...Object.entries(CHANGES).map(([name, how]) => attempt('writable', name, how)),
    ...Object.entries(CHANGES)
      .slice(0, 6)
      .map(([name, how]) => attempt('overlay', name, how)),
  ],
};
