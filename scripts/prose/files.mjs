// Lists the files that the prose linter reads, and determines the kind of each file.
//
// The linter skips programs and records that are test data, because their text is input and not
// prose of the project. Next: extract.mjs.

import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { extname, relative } from 'node:path';
import { fromRoot, root } from '../build/paths.mjs';

const KINDS = {
  '.md': 'markdown',
  '.rs': 'rust',
  '.c': 'c',
  '.h': 'c',
  '.ts': 'script',
  '.js': 'script',
  '.mjs': 'script',
  '.cjs': 'script',
  '.toml': 'hash',
  '.yaml': 'hash',
  '.yml': 'hash',
  '.sh': 'hash',
  '.patch': 'patch',
};

const KINDS_BY_NAME = { '.ci/run': 'hash', '.editorconfig': 'hash', '.gitignore': 'hash', '.gitattributes': 'hash' };

const DATA = [
  /(^|\/)(node_modules|dist|target)\//,
  /(^|\/)fixtures\/(?!README\.md$)/, // guest programs and recorded frames
  /^packages\/runner\/(test\/projects|npm-(table|clients)|engine\/reference)\//,
  /(^|\/)pnpm-lock\.yaml$/,
];

/** The glossary lists the words that do not stand for a concept. */
const EXEMPT = [['docs/glossary.md', 'words']];

/** Returns whether the whole file is exempt from `rule`. */
export const isExempt = (path, rule) => EXEMPT.some(([file, exempt]) => file === path && exempt === rule);

/** Returns the kind of a file by its path, or `undefined` if the linter does not read the file. */
export function kindOf(path) {
  if (DATA.some((pattern) => pattern.test(path))) return undefined;
  return KINDS_BY_NAME[path] ?? KINDS[extname(path)];
}

/** Lists all files of the repository that the linter reads, in order. */
export function allFiles() {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  const paths = listed.toString().split('\0').filter(Boolean);
  return paths.filter((path) => kindOf(path) && statSync(fromRoot(path), { throwIfNoEntry: false })?.isFile()).sort();
}

/** Returns `path` relative to the repository. */
export const fromRepository = (path) => relative(root, path);
