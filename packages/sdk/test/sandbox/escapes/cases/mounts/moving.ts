// The host moves and removes what the guest is standing in.

import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeRuntime } from '../../../../../src/index.js';
import type { EscapeCase } from '../../harness/case.js';
import type { Place } from '../../harness/place.js';
import { KINDS, type Kind, mounted } from './kinds.js';

/** Starts a program that says when it stands somewhere, changes the host, and lets it go on. */
const meanwhile =
  (before: string, change: (place: Place) => void, after: string) =>
  async (runtime: NodeRuntime, place: Place): Promise<string> => {
    const code = `
import fs from 'node:fs';
const tried = (work) => { try { return String(work() ?? 'done'); } catch (error) { return error.code ?? error.name; } };
${before}
console.log('ready');
await new Promise((resolve) => process.stdin.once('data', resolve));
${after}
process.exit();`;
    const child = await runtime.spawn(code, { timeout: 10_000 });
    for await (const _ready of child.stdout) break;
    change(place);
    await child.writeStdin('go');
    const { stdout, stderr } = await child.result;
    return stdout.replace('ready\n', '').trim() + stderr;
  };

const moving = (kind: Kind): EscapeCase[] => [
  {
    name: `${kind}: a working directory that the host moves out of the folder`,
    options: mounted(kind),
    attack: meanwhile(
      `process.chdir('/m/dir/deep');`,
      ({ inside, outside }) => renameSync(join(inside, 'dir'), join(outside, 'dir')),
      `console.log([...new Set(['../../prey', '../../../outside/prey', './../..//prey', 'x'].map((path) => tried(() => fs.readFileSync(path, 'utf8'))))].join());`,
    ),
    expected: 'ENOENT',
  },
  {
    name: `${kind}: an open directory that the host replaces by a link out of the folder`,
    options: mounted(kind),
    attack: meanwhile(
      `const fd = fs.openSync('/m/dir', 'r'); const listing = fs.opendirSync('/m/dir'); process.chdir('/m/dir');`,
      ({ inside, outside }) => {
        renameSync(join(inside, 'dir'), join(inside, 'was'));
        symlinkSync(outside, join(inside, 'dir'));
      },
      `const names = []; tried(() => { for (let entry; (entry = listing.readSync()); ) names.push(entry.name); });
console.log(names.includes('prey'), [...new Set(['prey', '/proc/self/fd/' + fd + '/prey', '/m/dir/prey', '/proc/self/cwd/prey'].map((path) => tried(() => fs.readFileSync(path, 'utf8'))))].sort().join());`,
    ),
    expected: /^false (EACCES|ENOENT|EACCES,ENOENT|ENOTDIR|EACCES,ENOTDIR)$/,
  },
  {
    name: `${kind}: a watched folder that becomes a link tells nothing of where it leads`,
    options: mounted(kind),
    attack: meanwhile(
      `const told = []; fs.watch('/m/dir', (kind, name) => told.push(name));`,
      ({ inside, outside }) => {
        renameSync(join(inside, 'dir'), join(inside, 'was'));
        symlinkSync(outside, join(inside, 'dir'));
        writeFileSync(join(outside, 'told-by-mistake'), '');
      },
      `await new Promise((resolve) => setTimeout(resolve, 50)); console.log(told.includes('told-by-mistake'));`,
    ),
    expected: 'false',
  },
  {
    name: `${kind}: a folder that the host removes while it is used`,
    options: mounted(kind),
    attack: meanwhile(
      `process.chdir('/m/dir/deep'); const fd = fs.openSync('/m/dir/file');`,
      ({ inside }) => rmSync(join(inside, 'dir'), { recursive: true }),
      `console.log([tried(() => fs.readFileSync('x')), tried(() => fs.readFileSync(fd, 'utf8')), tried(() => fs.readdirSync('.')), tried(() => fs.statSync('../../..').isDirectory())].join());`,
    ),
    expected: /^ENOENT,inside,(ENOENT|),(true|ENOENT)$/,
  },
];

export const moved: EscapeCase[] = KINDS.flatMap(moving);
