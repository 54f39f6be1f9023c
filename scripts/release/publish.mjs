// Publishes the tarballs of a folder: first the platform packages, then the packages that depend on
// them. A package whose version is on the registry already is left out, so that a failed run can be
// repeated. The release workflow runs this script (.github/workflows/release.yml).
//
//   node scripts/release/publish.mjs DIR [--dry-run]

import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { BuildFailure } from '../build/failure.mjs';
import { run } from '../build/run.mjs';
import { runMain } from '../build.mjs';
import { allPlatformManifests, mainManifest } from '../pack/manifests.mjs';
import { MAIN } from '../pack/stage.mjs';

const manifestOf = (path) => JSON.parse(execFileSync('tar', ['-xOzf', path, 'package/package.json'], { encoding: 'utf8' }));

/** Returns the names of all packages of a release, each after its dependencies. */
export const releaseOrder = () => [
  ...allPlatformManifests().map(({ name }) => name),
  ...MAIN.map((folder) => mainManifest(folder).name),
];

/**
 * Returns `packages` in the order of publishing.
 * @throws when a package of the release is missing, or has another version.
 */
export function inOrder(packages, version) {
  return releaseOrder().map((name) => {
    const found = packages.filter(({ manifest }) => manifest.name === name);
    if (found.length !== 1) throw new BuildFailure(`expected one tarball of ${name}, found ${found.length}`);
    if (found[0].manifest.version !== version) {
      throw new BuildFailure(`${name}: expected version ${version}, found ${found[0].manifest.version}`);
    }
    return found[0];
  });
}

async function isPublished({ name, version }) {
  try {
    return (await run('npm', ['view', `${name}@${version}`, 'version'])).join('') === version;
  } catch (error) {
    if (/E404/.test(error.message)) return false; // the first release of this package
    throw error;
  }
}

async function main() {
  const { values, positionals } = parseArgs({ options: { 'dry-run': { type: 'boolean' } }, allowPositionals: true });
  if (positionals.length !== 1) throw new BuildFailure('expected the folder of the tarballs');
  const folder = resolve(positionals[0]);
  const tarballs = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  const packages = tarballs.map((name) => join(folder, name)).map((path) => ({ path, manifest: manifestOf(path) }));
  for (const { path, manifest } of inOrder(packages, mainManifest('sdk').version)) {
    const name = `${manifest.name}@${manifest.version}`;
    if (!values['dry-run'] && (await isPublished(manifest))) {
      process.stdout.write(`${name} is published already\n`);
      continue;
    }
    await run('npm', ['publish', path, '--provenance', ...(values['dry-run'] ? ['--dry-run'] : [])]);
    process.stdout.write(`${name}${values['dry-run'] ? ' can be published' : ' is published'}\n`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runMain(main);
