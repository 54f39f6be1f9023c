// Installs the package of a peer with npm, at its exact version, into a cache folder outside of the
// checkout. Scripts of packages do not run. A package that is in the cache is not installed again.

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { PeerPackage } from './catalogue.js';

const TIMEOUT_MS = 300_000;

/** Returns the default folder of the cache. */
export const peerCache = (env: NodeJS.ProcessEnv = process.env): string =>
  join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'coldframe', 'peers');

/** Runs npm in a folder. Rejects with the last lines of stderr. */
export type RunNpm = (args: readonly string[], folder: string) => Promise<void>;

const runNpm: RunNpm = (args, cwd) =>
  new Promise((done, reject) => {
    execFile('npm', [...args], { cwd, timeout: TIMEOUT_MS }, (error, _stdout, stderr) => {
      if (error) reject(new Error(lastLines(stderr) || error.message));
      else done();
    });
  });

const lastLines = (stderr: string): string =>
  stderr
    .split('\n')
    .filter((line) => /npm (error|ERR!) /.test(line))
    .map((line) => line.replace(/^npm (error|ERR!) /, '').trim())
    .filter((line) => line !== '' && !line.startsWith('A complete log'))
    .slice(0, 2)
    .join(' ');

/** Installs a package if it is missing. Resolves with the folder that contains `node_modules`. */
export async function installPeer({ name, version }: PeerPackage, cache: string, npm: RunNpm = runNpm): Promise<string> {
  const folder = join(resolve(cache), `${name.replaceAll('/', '+')}@${version}`);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const unfinished = mkdtempSync(join(cache, 'unfinished-'));
  try {
    writeFileSync(join(unfinished, 'package.json'), '{ "private": true }\n');
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--save-exact'];
    await npm(['install', ...quiet, `${name}@${version}`], unfinished);
    // Renaming is atomic, so that an interrupted installation is never used.
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(folder)) throw error; // another run has installed the package
  }
  return folder;
}
