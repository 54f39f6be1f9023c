// Makes a git tree of the engine: the pinned sources, tagged with their version, and one commit for
// each patch. The commit's message is the patch's header. A developer reads, edits, reorders and
// bisects patches in the tree with git's own commands.
//
//   pnpm engine:tree [DIR]      (default: .build/engine-tree)
//
// If DIR is a tree of another version of the engine, the new sources are added to the tree, for
// `git rebase --onto`. Next: write-series.mjs, which makes patch files from the commits.
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageDir } from '../paths.mjs';
import { say } from '../progress.mjs';
import { ENGINE_VERSION, readEngineFiles } from '../sources.mjs';
import { git, tagOf } from './git.mjs';
import { applyPatches, loadPatches } from './series.mjs';

export const defaultTreeDir = join(packageDir, '..', '..', '.build', 'engine-tree');

const BRANCH = 'patches';
// The author, committer and date of all commits. The values are fixed, so that the commits of equal
// patches have equal ids on every machine.
const COMMITTER = 'Coldframe <engine@coldframe.invalid> 946684800 +0000';

/** Makes the tree in `dir`, a folder that is missing or empty. */
export function makeEngineTree(dir, { sources = readEngineFiles(), patches = loadPatches(), version = ENGINE_VERSION } = {}) {
  mkdirSync(dir, { recursive: true });
  if (readdirSync(dir).length > 0) throw new Error(`${dir} is not empty: remove the folder or name another one`);
  git(dir, ['init', '--quiet', `--initial-branch=${BRANCH}`]);
  const files = new Map(sources);
  const commits = [sourcesCommit(files, version)];
  for (const patch of patches) {
    const before = new Map(files);
    applyPatches(files, [patch]);
    const changed = [...files].filter(([name, text]) => before.get(name) !== text);
    commits.push(commit(`refs/heads/${BRANCH}`, patch.message, changed));
  }
  importCommits(dir, [...commits, tag(version)]);
  git(dir, ['checkout', '--quiet', BRANCH]);
}

/** Adds the pinned sources to a tree that was made of another version. */
export function addSources(dir, { sources = readEngineFiles(), version = ENGINE_VERSION } = {}) {
  const ref = `refs/heads/${tagOf(version)}`;
  importCommits(dir, [sourcesCommit(sources, version, ref), tag(version)]);
  git(dir, ['update-ref', '-d', ref]);
}

/** Returns the versions of the engine whose sources a tree has. */
export const versionsIn = (dir) =>
  git(dir, ['tag', '--list', tagOf('*')])
    .split('\n')
    .filter(Boolean)
    .map((name) => name.slice(tagOf('').length));

const sourcesCommit = (files, version, ref = `refs/heads/${BRANCH}`) =>
  commit(ref, `QuickJS-ng ${version}, unchanged\n`, [...files], 'mark :1\n');

// Returns a commit in the format of `git fast-import`, which writes all commits in one process.
const commit = (ref, message, files, mark = '') =>
  [
    `commit ${ref}\n${mark}committer ${COMMITTER}\n${data(message)}`,
    ...files.map(([name, text]) => `M 100644 inline ${name}\n${data(text)}`),
  ].join('');

const tag = (version) => `reset refs/tags/${tagOf(version)}\nfrom :1\n\n`;

const data = (text) => `data ${Buffer.byteLength(text)}\n${text}\n`;

const importCommits = (dir, commands) => git(dir, ['fast-import', '--quiet', '--date-format=raw'], { input: commands.join('') });

function main(dir) {
  if (!existsSync(join(dir, '.git'))) {
    makeEngineTree(dir);
    say(`${dir}: the branch ${BRANCH} has a commit for each patch, on ${tagOf(ENGINE_VERSION)}`);
    return;
  }
  const versions = versionsIn(dir);
  if (versions.length === 0 || versions.includes(ENGINE_VERSION))
    throw new Error(`${dir} is in use: remove the folder or name another one`);
  addSources(dir);
  say(`${dir}: added ${tagOf(ENGINE_VERSION)}; next, in that folder:`);
  say(`  git rebase --onto ${tagOf(ENGINE_VERSION)} ${tagOf(versions.at(-1))} ${BRANCH}`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    main(resolve(process.argv[2] ?? defaultTreeDir));
  } catch (error) {
    say(error.message);
    process.exitCode = 1;
  }
}
