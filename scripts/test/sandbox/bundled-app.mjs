// Apps for the tests of bundlers: copies of examples/bundlers in folders with installed packages.

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { fromRoot } from '../../build/paths.mjs';

/** Runs `node ARGS`. A run that hangs ends as a failure. */
export async function runNode(args, cwd, env = {}) {
  const options = { cwd, env: { ...process.env, NO_COLOR: '1', ...env }, timeout: 900_000, killSignal: 'SIGKILL' };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  return stdout;
}

/** The output of the example's app. */
export const OUTPUT = '42\nhello from /sandbox\n';

/** Copies examples/bundlers into a new folder in `parent`. Returns the folder. */
export function copyExample(parent) {
  const folder = mkdtempSync(join(parent, 'coldframe-bundlers-'));
  cpSync(fromRoot('examples/bundlers'), folder, { recursive: true });
  mkdirSync(join(folder, 'node_modules'));
  return folder;
}

export const remove = (folder) => rmSync(folder, { recursive: true, force: true });

/**
 * Links coldframe into an app as pnpm does: only the direct dependency is in the app's
 * `node_modules`.
 */
export const linkColdframe = (folder) => symlinkSync(fromRoot('packages/sdk'), join(folder, 'node_modules/coldframe'));

/** Links the esbuild of the build into an app. */
export function linkEsbuild(folder) {
  const { resolve } = createRequire(fromRoot('packages/runner/package.json'));
  symlinkSync(dirname(resolve('esbuild/package.json')), join(folder, 'node_modules/esbuild'));
}

/**
 * Copies the files of the packages into an app as npm does: all packages are in the app's
 * `node_modules`. Dependencies must be installed in a folder above.
 */
export function copyColdframe(folder) {
  for (const [name, place] of [
    ['sdk', 'coldframe'],
    ['sidecar', '@coldframe/sidecar'],
    ['runner', '@coldframe/runner'],
  ]) {
    const target = join(folder, 'node_modules', place);
    cpSync(fromRoot('packages', name, 'package.json'), join(target, 'package.json'));
    const isPackaged = (path) => !/\/(inputs|shell-inputs)$|\.wasm$/.test(path);
    cpSync(fromRoot('packages', name, 'dist'), join(target, 'dist'), { recursive: true, filter: isPackaged });
  }
}
