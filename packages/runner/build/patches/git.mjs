// Runs git in a tree of the engine, without the user's configuration: equal patches make equal
// commits and equal diffs everywhere. Only the commands for developers need git; the build applies
// patches without git (series.mjs).
import { execFileSync } from 'node:child_process';

const MAX_OUTPUT = 256 << 20;

/** Runs git in `dir` and returns its standard output. */
export function git(dir, args, { input } = {}) {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  // Removes variables that git sets if this command runs in a hook of another repository.
  for (const name of ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE']) delete env[name];
  const stdio = ['pipe', 'pipe', 'pipe'];
  try {
    return execFileSync('git', args, { cwd: dir, env, input, stdio, encoding: 'utf8', maxBuffer: MAX_OUTPUT });
  } catch (error) {
    if (error.code === 'ENOENT') throw new Error(`git cannot run in ${dir}: git or the folder is missing`);
    throw new Error(`git ${args[0]} failed in ${dir}:\n${error.stderr}`);
  }
}

/** Returns the name of the tag of the unchanged sources. */
export const tagOf = (version) => `quickjs-ng-${version}`;
