// The files that a shell runs before its script: `/etc/profile` and a profile of the user for a
// login shell, `~/.bashrc` or `$ENV` for an interactive shell. Next: run-script.js.

import fs from 'node:fs';
import { runSafely } from './run-script.js';

const PROFILES = ['.bash_profile', '.bash_login', '.profile'];

const isFile = (path) => fs.statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

function filesOf({ isLogin, isInteractive, name, noProfile, noRc, rcFile }, env) {
  const home = env.get('HOME');
  const own = (file) => (home === undefined ? [] : [`${home}/${file}`]);
  const isBash = name === 'bash';
  if (isLogin) {
    if (noProfile) return [];
    const profiles = (isBash ? PROFILES : ['.profile']).flatMap(own);
    return ['/etc/profile', ...profiles.filter(isFile).slice(0, 1)];
  }
  if (!isInteractive) return isBash && env.get('BASH_ENV') ? [env.get('BASH_ENV')] : [];
  if (!isBash) return env.get('ENV') ? [env.get('ENV')] : [];
  return noRc ? [] : rcFile === undefined ? ['/etc/bash.bashrc', ...own('.bashrc')] : [rcFile];
}

/**
 * Runs the files that `start` of the command line selects. Missing files are left out. Returns
 * whether a file has ended the shell.
 */
export async function runStartUpFiles(interpreter, start) {
  const { state } = interpreter.ctx;
  if (start.isInteractive) state.shoptOptions.expand_aliases = true;
  for (const path of filesOf(start, state.env).filter(isFile))
    if ((await runSafely(interpreter, () => interpreter.runCommand('.', [path], [false], '', true), true)) === 'end') return true;
  return false;
}
