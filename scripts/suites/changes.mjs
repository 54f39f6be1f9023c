// Finds the changed files of the checkout, and the tests near the changed files.

import { execFileSync } from 'node:child_process';
import { root } from '../build/paths.mjs';
import { cargoCalls } from './names.mjs';

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);

/**
 * Lists the files that differ from commit `since`, and files that git does not track. Omits deleted
 * files. Without `since`, lists the changes since the last commit, or the last commit's changes if
 * the checkout has no change.
 */
export function changedFiles(since) {
  const differing = (commit) => git('diff', '--name-only', '--diff-filter=d', '-z', commit);
  if (since) return [...differing(since), ...git('ls-files', '-z', '--others', '--exclude-standard')].sort();
  const present = [...differing('HEAD'), ...git('ls-files', '-z', '--others', '--exclude-standard')];
  return (present.length > 0 ? present : differing('HEAD~1')).sort();
}

const CRATE_FILE = /^packages\/sidecar\/crates\/[\w-]+\/(src|tests)\/(.+)\.rs$/;

/** Returns the prefix of the tests near a Rust file: the tests of its module's folder. */
function nearbyTests(folder, path) {
  const parts = path.split('/');
  const name = parts.pop();
  if (folder === 'tests' || (parts.length === 0 && ['lib', 'main'].includes(name))) return '';
  return parts.length === 0 ? `${name}::` : `${parts.join('::')}::`;
}

/**
 * Returns the cargo calls for changed Rust files: `{ crate, target, filters }`. A file below `src`
 * selects the tests of its folder; a file of a test target selects the target. Without filters a
 * call runs all tests of its target.
 */
export function rustCalls(files) {
  const wanted = files.flatMap((file) => {
    const [, folder, path] = CRATE_FILE.exec(file) ?? [];
    return folder ? [{ path: file, filter: nearbyTests(folder, path) }] : [];
  });
  return cargoCalls(wanted).map((call) => ({ ...call, filters: call.filters.includes('') ? [] : call.filters }));
}

const isTestFile = (file) => /(^|\/)(test|tests|fixtures|benches)\//.test(file);

/**
 * Returns whether a file is part of a sidecar, an image or the SDK. A test that runs programs can
 * detect bugs only in such files.
 */
export const isProduct = (file) =>
  !isTestFile(file) && /^packages\/(sdk|sidecar|runner)\/.*\.(ts|js|mjs|cjs|rs|c|h|toml|patch)$/.test(file);

/** Returns whether vitest can find the tests that import a file. */
export const isScript = (file) => /^(packages|scripts)\/.*\.(ts|mjs)$/.test(file) && !/\/fixtures\//.test(file);

/**
 * Returns whether a file belongs to packages/runner, except the packages and projects that only the
 * tests of the sandbox run.
 */
export const isGuest = (file) =>
  /^packages\/runner\//.test(file) && !/^packages\/runner\/(npm-table|npm-clients|test\/projects)\//.test(file);
