// Runs a suite of a JavaScript client with vitest. The suite's own configuration needs a browser
// and packages for other runtimes, so the suite gets a configuration with the same projects.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { copyPackage, mustRun, runToEnd } from './run.mjs';

/** Packages that the tests import, and that are no dependencies of the client. */
const TEST_PACKAGES = ['vitest', 'msw', 'dotenv', 'error-stack-parser-es', '@types/node'];

const configOf = (projects) => `import { defineConfig } from 'vitest/config';
export default defineConfig({ test: { projects: ${JSON.stringify(projects)} } });
`;

/** Prepares a copy of the package in `folder`. `client` replaces the version of the client e2b. */
export function prepareJavaScript(folder, from, projects) {
  copyPackage(from, folder);
  const manifest = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'));
  const { dependencies = {}, devDependencies = {}, optionalDependencies = {} } = manifest;
  const forTests = Object.fromEntries(
    TEST_PACKAGES.filter((name) => name in devDependencies).map((name) => [name, devDependencies[name]]),
  );
  const own = {
    name: manifest.name,
    version: manifest.version,
    private: true,
    type: manifest.type,
    main: manifest.main,
    module: manifest.module,
  };
  const text = JSON.stringify({ ...own, dependencies: { ...dependencies, ...optionalDependencies, ...forTests } }, null, 2);
  const path = join(folder, 'package.json');
  const stamp = join(folder, '.installed');
  writeFileSync(path, text);
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== text) {
    mustRun('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--no-package-lock'], folder);
    writeFileSync(stamp, text);
  }
  for (const name of ['vitest.config.mts', 'vitest.config.ts']) rmSync(join(folder, name), { force: true });
  writeFileSync(join(folder, 'vitest.config.mjs'), configOf(projects));
  const versions = { [manifest.name]: manifest.version };
  const client = join(folder, 'node_modules/e2b/package.json');
  if (manifest.name !== 'e2b' && existsSync(client)) versions.e2b = JSON.parse(readFileSync(client, 'utf8')).version;
  return { versions, run: (options) => run(folder, options) };
}

async function run(folder, { jobs, files, environment }) {
  const output = join(folder, 'results.json');
  rmSync(output, { force: true });
  const args = [
    'node_modules/vitest/vitest.mjs',
    'run',
    `--maxWorkers=${jobs}`,
    '--reporter=json',
    `--outputFile=${output}`,
    ...files,
  ];
  await runToEnd(process.execPath, args, { cwd: folder, environment });
  const { testResults } = JSON.parse(readFileSync(output, 'utf8'));
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, status, failureMessages }) => ({
      file: relative(folder, name),
      name: fullName.trim(),
      status: status === 'passed' ? 'passed' : status === 'failed' ? 'failed' : 'skipped',
      message: failureMessages?.[0] ?? '',
    })),
  );
}
