// `pnpm e2b --newest`: installs the newest clients from the registries, runs a few calls of each
// client against the server, and returns the versions.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromRoot } from '../build/paths.mjs';
import { mustRun, mustRunBeside } from './run.mjs';
import { startServer } from './server.mjs';

const NPM = ['e2b', '@e2b/code-interpreter', '@e2b/cli'];
const PYPI = ['e2b', 'e2b-code-interpreter'];

/** Returns `[{ registry, name, version }]`. Fails if a call of a client fails. */
export async function runNewest(work) {
  const folder = join(work, 'newest');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  mustRun('npm', ['install', '--silent', '--no-audit', '--no-fund', ...NPM.map((name) => `${name}@latest`)], folder);
  mustRun('python3', ['-m', 'venv', '.venv'], folder);
  mustRun('.venv/bin/pip', ['install', '--quiet', ...PYPI], folder);
  const server = await startServer();
  try {
    await mustRunBeside(process.execPath, [fromRoot('scripts/e2b/smoke.mjs')], folder, server.environment);
    await mustRunBeside(join(folder, '.venv/bin/python'), [fromRoot('scripts/e2b/smoke.py')], folder, server.environment);
  } finally {
    await server.close();
  }
  const ofNpm = NPM.map((name) => [
    name,
    JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version,
  ]);
  writeFileSync(join(folder, 'versions.py'), VERSIONS);
  mustRun('.venv/bin/python', ['versions.py', ...PYPI], folder);
  const ofPypi = Object.entries(JSON.parse(readFileSync(join(folder, 'versions.json'), 'utf8')));
  const entries = (registry, versions) => versions.map(([name, version]) => ({ registry, name, version }));
  return [...entries('npm', ofNpm), ...entries('PyPI', ofPypi)];
}

const VERSIONS = `import json, sys
from importlib.metadata import version
json.dump({name: version(name) for name in sys.argv[1:]}, open('versions.json', 'w'))
`;
