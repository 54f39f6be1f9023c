// Applies our changes to the engine's sources. Each file in `engine/patches` is one change with a reason:
//   export default { title, why, edits: [{ file, find, replace, count = 1 }] }
// `find` is text, or a regular expression with the flag g; it must match exactly `count` times, otherwise the engine has changed under us
// and the build stops with the place. Patches apply in the order of their names.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { patchesDir } from './paths.mjs';

/** @returns {Promise<{ name: string, title: string, why: string, edits: object[] }[]>} */
export async function loadPatches(dir = patchesDir) {
  const names = readdirSync(dir)
    .filter((name) => name.endsWith('.mjs'))
    .sort();
  return Promise.all(names.map(async (name) => ({ name, ...(await import(pathToFileURL(join(dir, name)))).default })));
}

/** @param {Map<string, string>} files  changed in place */
export function applyPatches(files, patches) {
  for (const patch of patches) {
    for (const edit of patch.edits) applyEdit(files, patch, edit);
  }
  return files;
}

function applyEdit(files, patch, { file, find, replace, count = 1 }) {
  const text = files.get(file);
  if (text === undefined) throw new Error(`patch ${patch.name}: there is no file ${file}`);
  const pieces = typeof find === 'string' ? text.split(find).length - 1 : [...text.matchAll(find)].length;
  if (pieces !== count) {
    throw new Error(
      `patch ${patch.name} ("${patch.title}") does not fit ${file}:\n` +
        `expected ${count} match(es), found ${pieces}, of\n${indent(String(find))}`,
    );
  }
  files.set(file, typeof find === 'string' ? text.split(find).join(replace) : text.replace(find, replace));
}

function indent(text) {
  return text
    .split('\n')
    .map((line) => `    | ${line}`)
    .join('\n');
}
