// Downloads hosts with npm into a folder outside the checkout: COLDFRAME_HOSTS, or
// `~/.cache/coldframe/hosts`. npm checks the content of each package.

import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { run } from '../build/run.mjs';

/** Returns the folder of all downloads. */
export const downloadsDir = () =>
  process.env.COLDFRAME_HOSTS || join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'coldframe', 'hosts');

/**
 * Installs `packages` (`name@version`) with npm into the folder `name` of the downloads, unless the
 * folder exists. Returns the path of its `node_modules`.
 */
export async function download(name, packages) {
  const folder = join(downloadsDir(), name);
  if (!existsSync(folder)) {
    mkdirSync(downloadsDir(), { recursive: true });
    // A download that fails leaves no folder with the final name.
    const part = mkdtempSync(join(downloadsDir(), '.part-'));
    try {
      writeFileSync(join(part, 'package.json'), '{ "private": true }\n');
      const options = ['--prefix', part, '--ignore-scripts', '--no-audit', '--no-fund'];
      await run('npm', ['install', ...options, ...packages]);
      renameSync(part, folder);
    } catch (error) {
      rmSync(part, { recursive: true, force: true });
      if (!existsSync(folder)) throw error;
    }
  }
  return join(folder, 'node_modules');
}

/** Downloads a host. Returns the path of its program. */
export async function downloadHost({ package: name, version, program }) {
  const modules = await download(`${name.replace('/', '+')}@${version}`, [`${name}@${version}`]);
  return join(modules, name, program);
}
