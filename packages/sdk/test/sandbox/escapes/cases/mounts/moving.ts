// Moves and removes folders on the host machine while the guest uses the folders.

import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeRuntime } from '../../../../../src/index.js';
import type { EscapeCase } from '../../harness/case.js';
import type { CaseFolders } from '../../harness/folders.js';
import { KINDS, type Kind, mounted } from './kinds.js';

/** Runs `before` in a program, changes the host machine, and runs `after` in the program. */
const meanwhile =
  (before: string, change: (folders: CaseFolders) => void, after: string) =>
  async (runtime: NodeRuntime, folders: CaseFolders): Promise<string> => {
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
    change(folders);
    await child.writeStdin('go');
    const { stdout, stderr } = await child.result;
    return stdout.replace('ready\n', '').trim() + stderr;
  };

const moving = (kind: Kind): EscapeCase[] => [
  {
    name: `${kind}: a working directory that the host machine moves out does not lead out`,
    options: mounted(kind),
    attack: meanwhile(
      `process.chdir('/m/dir/deep');`,
      ({ inside, outside }) => renameSync(join(inside, 'dir'), join(outside, 'dir')),
      `
console.log([...new Set(['../../protected', '../../../outside/protected', './../..//protected', 'x'].map((path) => tried(() =>
  fs.readFileSync(path, 'utf8'))))].join());`,
    ),
    expected: 'ENOENT',
  },
  {
    name: `${kind}: an open directory that the host machine replaces with an outward link does not lead out`,
    options: mounted(kind),
    attack: meanwhile(
      `const fd = fs.openSync('/m/dir', 'r'); const listing = fs.opendirSync('/m/dir'); process.chdir('/m/dir');`,
      ({ inside, outside }) => {
        renameSync(join(inside, 'dir'), join(inside, 'was'));
        symlinkSync(outside, join(inside, 'dir'));
      },
      `const names = []; tried(() => { for (let entry; (entry = listing.readSync()); ) names.push(entry.name); });
console.log(
  names.includes('protected'),
  [...new Set(['protected', '/proc/self/fd/' + fd + '/protected', '/m/dir/protected', '/proc/self/cwd/protected'].map((path) =>
    tried(() => fs.readFileSync(path, 'utf8'))))].sort().join()
);`,
    ),
    expected: /^false (EACCES|ENOENT|EACCES,ENOENT|ENOTDIR|EACCES,ENOTDIR)$/,
  },
  {
    name: `${kind}: a watched folder that becomes a link reports nothing of its target`,
    options: mounted(kind),
    attack: meanwhile(
      `const reported = []; fs.watch('/m/dir', (kind, name) => reported.push(name));`,
      ({ inside, outside }) => {
        renameSync(join(inside, 'dir'), join(inside, 'was'));
        symlinkSync(outside, join(inside, 'dir'));
        writeFileSync(join(outside, 'reported-by-mistake'), '');
      },
      `await new Promise((resolve) => setTimeout(resolve, 50)); console.log(reported.includes('reported-by-mistake'));`,
    ),
    expected: 'false',
  },
  {
    name: `${kind}: a used folder that the host machine removes is missing for the guest`,
    options: mounted(kind),
    attack: meanwhile(
      `process.chdir('/m/dir/deep'); const fd = fs.openSync('/m/dir/file');`,
      ({ inside }) => rmSync(join(inside, 'dir'), { recursive: true }),
      `
console.log([
  tried(() => fs.readFileSync('x')), tried(() => fs.readFileSync(fd, 'utf8')), tried(() => fs.readdirSync('.')),
  tried(() => fs.statSync('../../..').isDirectory())
].join());`,
    ),
    expected: /^ENOENT,inside,(ENOENT|),(true|ENOENT)$/,
  },
];

export const moved: EscapeCase[] = KINDS.flatMap(moving);
