// Installs the packages of a folder by its lockfile into a folder outside the tree, once per
// lockfile, when a test runs. The packages are not part of the workspace, so an install of the
// workspace does not wait for them. The folders are this folder and npm-clients. Next: run.mjs.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { folder as tableFolder } from './table.mjs';

const FILES = ['package.json', 'pnpm-lock.yaml', '.npmrc'];

const ARGS = ['--yes', 'pnpm@10', 'install', '--frozen-lockfile', '--ignore-workspace', '--ignore-scripts', '--prefer-offline'];

function place(folder) {
  const hash = createHash('sha256');
  for (const file of FILES) hash.update(readFileSync(join(folder, file)));
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return join(cache, 'coldframe', basename(folder), hash.digest('hex').slice(0, 16));
}

/** Installs the packages of `folder`, and returns the folder that contains `node_modules`. */
export function installed(folder = tableFolder) {
  const target = place(folder);
  if (existsSync(join(target, 'node_modules'))) return target;
  mkdirSync(dirname(target), { recursive: true });
  // Installs under another name until the folder is complete, so that a stopped run leaves no
  // incomplete folder.
  const work = mkdtempSync(`${target}.`);
  try {
    for (const file of FILES) cpSync(join(folder, file), join(work, file));
    const { status, stdout, stderr } = spawnSync('npx', ARGS, { cwd: work, encoding: 'utf8' });
    if (status !== 0) throw new Error(`the packages of ${basename(folder)} cannot be installed:\n${stdout}${stderr}`);
    renameSync(work, target);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return target;
}
