// Reads the repository for its tests: lists every file that git tracks or would add, and reads the
// text of a file.

import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { fromRoot, root } from '../build/paths.mjs';

/** Lists all files that git tracks or would add, in order. */
export function trackedFiles() {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  const paths = listed.toString().split('\0').filter(Boolean);
  return paths.filter((path) => statSync(fromRoot(path), { throwIfNoEntry: false })?.isFile()).sort();
}

export const readText = (path) => readFileSync(fromRoot(path), 'utf8');

export const readJson = (path) => JSON.parse(readText(path));

/** Returns whether the file contains bytes that are not text. */
export const isBinary = (path) => readFileSync(fromRoot(path)).subarray(0, 8192).includes(0);
