// Makes the manifests of the published packages. A manifest of the workspace has `workspace:*` and
// development dependencies, which npm cannot install. Platform packages have no folder in the
// workspace: their manifests are made of the main package's manifest and the platform.

import { readFileSync } from 'node:fs';
import { fromRoot } from '../build/paths.mjs';
import { PYTHON_PLATFORMS, RUNNER_PLATFORMS, SIDECAR_PLATFORMS } from './platforms.mjs';

const readManifest = (folder) => JSON.parse(readFileSync(fromRoot('packages', folder, 'package.json'), 'utf8'));

/** The packages that have platform packages, by folder. */
const PLATFORMS = { runner: RUNNER_PLATFORMS, sidecar: SIDECAR_PLATFORMS, python: PYTHON_PLATFORMS };

const platformNames = (folder) => PLATFORMS[folder].map(({ name }) => `@coldframe/${folder}-${name}`);

/** Replaces `workspace:*` by the exact version of this release. */
function exact(dependencies, version) {
  return Object.fromEntries(
    Object.entries(dependencies ?? {}).map(([name, wanted]) => [name, wanted.startsWith('workspace:') ? version : wanted]),
  );
}

/**
 * Returns the published manifest of the package in `packages/FOLDER`: with exact versions, with the
 * platform packages as optional dependencies, and without development dependencies and scripts.
 */
export function mainManifest(folder) {
  const { scripts: _scripts, devDependencies: _development, ...manifest } = readManifest(folder);
  const optional = folder in PLATFORMS ? platformNames(folder).map((name) => [name, manifest.version]) : [];
  return {
    ...manifest,
    ...(manifest.dependencies && { dependencies: exact(manifest.dependencies, manifest.version) }),
    ...(manifest.peerDependencies && { peerDependencies: exact(manifest.peerDependencies, manifest.version) }),
    ...(optional.length > 0 && { optionalDependencies: Object.fromEntries(optional) }),
  };
}

/** The files of a platform package that a user may run. */
export const EXECUTABLES = { python: [], runner: [], sidecar: ['coldframe-edge', 'coldframe-sidecar'] };

/** The contents of the platform packages, for their descriptions. */
const CONTENTS = {
  python: 'The image of Python and the standard library',
  runner: 'The images of the guest',
  sidecar: 'The sidecar, as a program and as a Node-API addon, and the edge process,',
};

/** Returns the manifest of the platform package of `packages/FOLDER` for `platform`. */
export function platformManifest(folder, platform) {
  const { version, license, homepage, repository, bugs, engines, publishConfig } = readManifest(folder);
  const { name, os, cpu, libc } = platform;
  const content = CONTENTS[folder];
  const executableFiles = EXECUTABLES[folder];
  return {
    name: `@coldframe/${folder}-${name}`,
    version,
    description: `${content} for ${name}; a part of @coldframe/${folder}`,
    license,
    homepage,
    repository,
    bugs,
    type: 'module',
    engines,
    os: [os],
    cpu: [cpu],
    ...(libc && { libc: [libc] }),
    // Yarn would otherwise keep the files in a zip archive, where they cannot be run or mapped.
    preferUnplugged: true,
    publishConfig: { ...publishConfig, ...(executableFiles.length > 0 && { executableFiles }) },
  };
}

/** Returns the manifests of all platform packages, whether or not this machine can build them. */
export const allPlatformManifests = () =>
  Object.entries(PLATFORMS).flatMap(([folder, platforms]) => platforms.map((platform) => platformManifest(folder, platform)));
