// Runs the programs of the suites, and prepares their folders.

import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { BuildFailure } from '../build/failure.mjs';

/** The variables that decide where a client connects. */
const CLIENT_VARIABLES = /^E2B_/;
/** Minutes after which a suite is ended. */
const LONGEST_MINUTES = 40;

/** Returns this process's environment without the clients' variables, and with `own`. */
export function environmentWith(own) {
  const inherited = Object.entries(process.env).filter(([name]) => !CLIENT_VARIABLES.test(name));
  return { ...Object.fromEntries(inherited), ...own };
}

/** Runs a program to its end. Returns the exit code, which failed tests also change. */
export function runToEnd(command, args, { cwd, environment }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: environmentWith(environment), stdio: ['ignore', 'ignore', 'inherit'] });
    const timer = setTimeout(() => child.kill(), LONGEST_MINUTES * 60_000);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve(code);
    });
  });
}

/** Runs a program that must succeed. Returns its output. */
export function mustRun(command, args, cwd) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd, env: environmentWith({}), encoding: 'utf8' });
  if (error !== undefined || status !== 0) {
    throw new BuildFailure(`e2b: ${command} ${args.join(' ')} failed: ${error?.message ?? stderr.slice(-2_000)}`);
  }
  return stdout;
}

/** Copies a package of a suite, without the packages that are installed there. */
export function copyPackage(from, to) {
  if (!existsSync(from)) throw new BuildFailure(`e2b: ${from} is missing: pass the folder of the repository`);
  for (const name of ['src', 'tests']) rmSync(`${to}/${name}`, { recursive: true, force: true });
  cpSync(from, to, { recursive: true, filter: (path) => !/\/(node_modules|dist|\.venv|__pycache__)$/.test(path) });
}
