// Reads the series of patches in `engine/patches` and applies the series to the engine's sources.
// The files apply in the order of their numbers, which run from 0001 without a gap. A patch must
// fit exactly: if a hunk's place has another text, the build fails and names the place. No other
// place is searched, because a hunk could change the wrong function in another place. Next:
// ../compile.mjs, which compiles the result; engine-tree.mjs makes a git tree of the series for
// developers.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyPatch, parsePatch } from 'diff';
import { patchesDir } from '../paths.mjs';
import { parsePatchFile, patchFileName } from './format.mjs';

/**
 * Returns the patches in order, in the form of `parsePatchFile`. With `hasGaps`, numbers may be
 * missing.
 */
export function loadPatches(dir = patchesDir, { hasGaps = false } = {}) {
  const files = patchFiles(dir);
  const patches = files.map((file) => parsePatchFile(file, readFileSync(join(dir, file), 'utf8')));
  for (const [index, { file, name }] of patches.entries()) {
    const expected = patchFileName(hasGaps ? Number.parseInt(file, 10) - 1 : index, name);
    if (file !== expected) throw new Error(`patch ${file}: expected the file name ${expected}`);
  }
  return patches;
}

/** Returns the names of all patch files in a folder, in order. */
export const patchFiles = (dir) =>
  readdirSync(dir)
    .filter((file) => file.endsWith('.patch'))
    .sort();

/** @param {Map<string, string>} files  file name to text, changed in place */
export function applyPatches(files, patches) {
  for (const patch of patches) {
    for (const change of parsePatch(patch.diff)) applyChange(files, patch, change);
  }
  return files;
}

function applyChange(files, patch, change) {
  const name = change.newFileName?.replace(/^b\//, '');
  const source = files.get(name);
  if (source === undefined) throw new Error(`patch ${patch.file}: there is no file ${name}`);
  // Throws at the first line that differs. Without the error the library would search for another
  // place.
  const compareLine = (line, found, _operation, expected) => {
    if (found === expected) return true;
    throw new Error(
      `patch ${patch.file} ("${patch.subject}") does not fit ${name}, line ${line}:\n` +
        `expected | ${expected}\n   found | ${found ?? '(the end of the file)'}`,
    );
  };
  const changed = applyPatch(source, change, { fuzzFactor: 0, autoConvertLineEndings: false, compareLine });
  if (changed === false) throw new Error(`patch ${patch.file} ("${patch.subject}") does not fit the end of ${name}`);
  files.set(name, changed);
}
