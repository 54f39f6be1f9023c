// Writes each package as it will be published into a folder of its own: the manifest, the built
// files, the licence and the notices.

import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BuildFailure } from '../build/failure.mjs';
import { listFiles } from '../build/inputs.mjs';
import { fromRoot } from '../build/paths.mjs';
import { EXECUTABLES, mainManifest, platformManifest } from './manifests.mjs';
import { PYTHON_PLATFORMS, platformOf, RUNNER_PLATFORMS, SIDECAR_PLATFORMS } from './platforms.mjs';

/** The folders of the published packages, each after the packages that it depends on. */
export const MAIN = ['runner', 'sidecar', 'python', 'sdk', 'server'];

/** The package whose declarations and modules are published, by folder. */
const PUBLISHED = {
  python: /^dist\/index\.(js|d\.ts)$/,
  runner: /^dist\/index\.(js|d\.ts)$/,
  sidecar: /^dist\/(index\.js|\w+\.d\.ts)$/,
  sdk: /^dist\/((check|check-worker|command|index|mcp|secure-exec)\.js|chunks\/[^/]+\.js|(?!command\/).+\.d\.ts)$/,
  server: /^dist\/(ui\/[^/]+|.+\.(js|d\.ts))$/,
};

/** The native files of a platform package, by folder. `LIBRARY` has the standard library. */
const NATIVE = {
  python: /^dist\/(python\.image|python-[0-9a-f]{16}\.cwasm)$/,
  runner: /^dist\/(guest\.image|shell\.image|guest-[0-9a-f]{16}\.cwasm)$/,
  sidecar: /^dist\/(coldframe-edge|coldframe-sidecar|coldframe\.node)$/,
};
const NATIVE_COUNT = { python: 2, runner: 3, sidecar: 3 };
const LIBRARY = { python: /^dist\/root\// };

function built(folder, pattern) {
  const prefix = `packages/${folder}/`;
  return listFiles([`${prefix}dist`], ['inputs', 'shell-inputs'])
    .map((path) => path.slice(prefix.length))
    .filter((path) => pattern.test(path));
}

function place(from, to, mode = 0o644) {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
  chmodSync(to, mode);
}

function writePackage(into, manifest, readme) {
  mkdirSync(into, { recursive: true });
  writeFileSync(join(into, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(into, 'README.md'), readme);
  for (const file of ['LICENSE', 'NOTICE']) place(fromRoot(file), join(into, file));
}

function stageMain(folder, into) {
  writePackage(into, mainManifest(folder), readFileSync(fromRoot('packages', folder, 'README.md'), 'utf8'));
  const files = built(folder, PUBLISHED[folder]);
  if (files.length === 0) throw new BuildFailure(`packages/${folder}/dist has no modules: run \`pnpm build\``);
  for (const path of files) place(fromRoot('packages', folder, path), join(into, path));
}

function platformReadme({ name, description }, { tested }) {
  const state = tested ? '' : '\nThe release workflow builds and tests this package. The tests of a checkout do not run it.\n';
  const use = 'Install the package `coldframe`, which installs the platform packages that it needs.';
  return `# ${name}\n\n${description}. ${use}\n${state}`;
}

function stagePlatform(folder, platform, into) {
  const manifest = platformManifest(folder, platform);
  writePackage(into, manifest, platformReadme(manifest, platform));
  const files = built(folder, NATIVE[folder]);
  if (files.length !== NATIVE_COUNT[folder]) {
    throw new BuildFailure(`packages/${folder}/dist has ${files.join(', ') || 'no native files'}: run \`pnpm build\``);
  }
  const library = folder in LIBRARY ? built(folder, LIBRARY[folder]) : [];
  for (const path of [...files, ...library]) {
    const file = path.slice('dist/'.length);
    place(fromRoot('packages', folder, path), join(into, file), EXECUTABLES[folder].includes(file) ? 0o755 : undefined);
  }
}

/**
 * Lists the packages that `machine` can pack: `name`, and `stage(into)`. Python's platform package
 * is left out if its image has not been built (`pnpm build --python`).
 */
export function packagesFor(machine) {
  const hasPython = existsSync(fromRoot('packages/python/dist/python.image'));
  const platforms = {
    runner: platformOf(RUNNER_PLATFORMS, machine),
    sidecar: platformOf(SIDECAR_PLATFORMS, machine),
    python: hasPython ? platformOf(PYTHON_PLATFORMS, machine) : undefined,
  };
  const native = Object.entries(platforms)
    .filter(([, platform]) => platform !== undefined)
    .map(([folder, platform]) => ({
      name: platformManifest(folder, platform).name,
      stage: (into) => stagePlatform(folder, platform, into),
    }));
  const main = MAIN.map((folder) => ({ name: mainManifest(folder).name, stage: (into) => stageMain(folder, into) }));
  return [...native, ...main];
}

/** Stages a package in a new folder. Returns the folder. */
export function stage({ name, stage }, root) {
  const into = join(root, name.replace('@', '').replace('/', '-'));
  rmSync(into, { recursive: true, force: true });
  stage(into);
  return into;
}
