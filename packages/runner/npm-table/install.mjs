// Installs the packages of the table by the lockfile into a folder outside the tree, once per
// lockfile, when the test runs. They are not part of the workspace, so an install of the workspace
// does not wait for them. Next: run.mjs.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { folder } from './table.mjs';

const FILES = ['package.json', 'pnpm-lock.yaml', '.npmrc'];

const ARGS = ['--yes', 'pnpm@10', 'install', '--frozen-lockfile', '--ignore-workspace', '--ignore-scripts', '--prefer-offline'];

function place() {
  const hash = createHash('sha256');
  for (const file of FILES) hash.update(readFileSync(join(folder, file)));
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return join(cache, 'coldframe', 'npm-table', hash.digest('hex').slice(0, 16));
}

/** Returns the folder that contains `node_modules`. */
export function installed() {
  const target = place();
  if (existsSync(join(target, 'node_modules'))) return target;
  mkdirSync(dirname(target), { recursive: true });
  // Installs under another name until the folder is complete, so that a stopped run leaves no
  // incomplete folder.
  const work = mkdtempSync(`${target}.`);
  try {
    for (const file of FILES) cpSync(join(folder, file), join(work, file));
    const { status, stdout, stderr } = spawnSync('npx', ARGS, { cwd: work, encoding: 'utf8' });
    if (status !== 0) throw new Error(`the packages of the npm table cannot be installed:\n${stdout}${stderr}`);
    renameSync(work, target);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return target;
}
