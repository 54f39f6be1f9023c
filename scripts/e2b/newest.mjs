// `pnpm e2b --newest`: installs the newest clients from the registries, runs a few calls of each
// client against the server, and returns the versions.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BuildFailure } from '../build/failure.mjs';
import { fromRoot } from '../build/paths.mjs';
import { mustRun, runToEnd } from './run.mjs';
import { startServer } from './server.mjs';

const NPM = ['e2b', '@e2b/code-interpreter', '@e2b/cli'];
const PYPI = ['e2b', 'e2b-code-interpreter'];

/** Returns `[{ registry, name, version }]`. Fails if a call of a client fails. */
export async function runNewest(work) {
  const folder = join(work, 'newest');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  mustRun(
    'npm',
    ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', ...NPM.map((name) => `${name}@latest`)],
    folder,
  );
  mustRun('python3', ['-m', 'venv', '.venv'], folder);
  mustRun('.venv/bin/pip', ['install', '--quiet', ...PYPI], folder);
  const server = await startServer();
  try {
    await mustPass(process.execPath, 'smoke.mjs', folder, server.environment);
    await mustPass(join(folder, '.venv/bin/python'), 'smoke.py', folder, server.environment);
  } finally {
    await server.close();
  }
  const { dependencies } = JSON.parse(mustRun('npm', ['ls', '--json', '--depth=0'], folder));
  const installed = JSON.parse(mustRun('.venv/bin/pip', ['list', '--format=json'], folder));
  return [
    ...NPM.map((name) => ({ registry: 'npm', name, version: dependencies[name].version })),
    ...PYPI.map((name) => ({ registry: 'PyPI', name, version: installed.find((one) => one.name === name).version })),
  ];
}

// The calls run in a process of their own, because this process has the server.
async function mustPass(program, file, cwd, environment) {
  const code = await runToEnd(program, [fromRoot('scripts/e2b', file)], { cwd, environment });
  if (code !== 0) throw new BuildFailure(`e2b: ${file} ended with ${code}`);
}
