// Makes the patch files in `engine/patches` from the commits in a tree of the engine
// (engine-tree.mjs). The commit's message becomes the header, and the position of the commit
// becomes the number. An unchanged commit makes the patch file from which the commit was made.
//
//   pnpm engine:patches [DIR]      (default: .build/engine-tree)
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { patchesDir } from '../paths.mjs';
import { say } from '../progress.mjs';
import { ENGINE_VERSION, readEngineFiles } from '../sources.mjs';
import { defaultTreeDir } from './engine-tree.mjs';
import { formatPatchFile, parseMessage, patchFileName } from './format.mjs';
import { git, tagOf } from './git.mjs';
import { patchFiles } from './series.mjs';

// The options for settings that a user's configuration could change. With the options, equal
// commits make equal files.
const DIFF_OPTIONS = ['-p', '--unified=3', '--diff-algorithm=histogram', '--no-renames', '--no-color', '--no-ext-diff'];

/** Returns the patch files that the commits of the tree in `dir` make, in order. */
export function readEngineTree(dir, { sources = readEngineFiles(), version = ENGINE_VERSION } = {}) {
  const base = tagOf(version);
  checkTree(dir, base, sources);
  const names = new Set();
  return commitsAfter(dir, base).map(({ id, message, changes }, index) => {
    const { name } = parseMessage(`commit ${id}`, message);
    if (names.has(name)) throw new Error(`commit ${id}: another patch has the name ${name}`);
    names.add(name);
    return { file: patchFileName(index, name), text: formatPatchFile({ message, diff: plainDiff(id, changes) }) };
  });
}

/**
 * Replaces the patch files of a folder and returns the names of the files that were written or
 * removed.
 */
export function writePatchFiles(files, dir = patchesDir) {
  const changed = [];
  for (const { file, text } of files) {
    const path = join(dir, file);
    if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
    writeFileSync(path, text);
    changed.push(file);
  }
  const kept = new Set(files.map(({ file }) => file));
  for (const file of patchFiles(dir).filter((name) => !kept.has(name))) {
    rmSync(join(dir, file));
    changed.push(file);
  }
  return changed;
}

function checkTree(dir, base, sources) {
  if (git(dir, ['status', '--porcelain']) !== '') throw new Error(`${dir} has changes that are not committed`);
  if (git(dir, ['tag', '--list', base]) === '') throw new Error(`${dir} has no tag ${base}: run pnpm engine:tree`);
  const listed = git(dir, ['ls-tree', '-r', base]).split('\n').filter(Boolean).sort();
  const pinned = [...sources].map(([name, text]) => `100644 blob ${blobId(text)}\t${name}`).sort();
  if (listed.join('\n') !== pinned.join('\n')) throw new Error(`${base} in ${dir} is not the pinned sources`);
  if (git(dir, ['rev-list', '--count', `HEAD..${base}`]).trim() !== '0')
    throw new Error(`${dir}: HEAD is not based on ${base}; rebase the patches first`);
}

/** Returns git's id of a file with this text. */
const blobId = (text) =>
  createHash('sha1')
    .update(`blob ${Buffer.byteLength(text)}\0${text}`)
    .digest('hex');

function commitsAfter(dir, base) {
  const format = '--format=%x00%H%x00%P%x00%B%x00';
  const [, ...fields] = git(dir, ['log', '--reverse', format, ...DIFF_OPTIONS, `${base}..HEAD`]).split('\0');
  return Array.from({ length: fields.length / 4 }, (_, index) => {
    const [id, parents, message, changes] = fields.slice(4 * index, 4 * index + 4);
    if (parents.includes(' ')) throw new Error(`commit ${id} in ${dir} is a merge; the series is a line of commits`);
    return { id, message, changes: changes.replace(/^\n+/, '') };
  });
}

/** Returns the diff of a commit without the ids of blobs, which have no meaning for readers. */
function plainDiff(id, changes) {
  return changes
    .split(/^diff --git .*\n/m)
    .filter(Boolean)
    .map((change) => {
      const diff = change.replace(/^index [0-9a-f]+\.\.[0-9a-f]+ 100644\n/, '');
      if (!diff.startsWith('--- a/')) throw new Error(`commit ${id}: a patch only changes the text of existing files`);
      return diff;
    })
    .join('');
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    const files = readEngineTree(resolve(process.argv[2] ?? defaultTreeDir));
    const changed = writePatchFiles(files);
    say(`${files.length} patches, changed: ${changed.join(', ') || 'none'}`);
  } catch (error) {
    say(error.message);
    process.exitCode = 1;
  }
}
