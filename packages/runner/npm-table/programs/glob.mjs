// glob: files of a tree by pattern.

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { glob, globSync } from 'glob';

const cwd = mkdtempSync(join(tmpdir(), 'glob-'));
for (const folder of ['a/b', 'c', '.hidden']) mkdirSync(join(cwd, folder), { recursive: true });
for (const file of ['a/one.js', 'a/b/two.js', 'c/three.ts', 'c/[x].md', '.hidden/four.js']) writeFileSync(join(cwd, file), '');
console.log((await glob('**/*.js', { cwd })).sort(), globSync('{a,c}/*.{js,ts}', { cwd }).sort());
console.log(
  globSync('**/*.js', { cwd, dot: true, ignore: 'a/**' }).sort(),
  globSync('c/\\[x\\].md', { cwd }),
  globSync('*/', { cwd }).sort(),
);
