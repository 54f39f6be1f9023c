// The manifests of the published packages agree with each other, and with the code that looks for
// the platform packages.

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { PLATFORMS as PYTHON } from '../../packages/python/src/index.ts';
import { PLATFORMS as IMAGES } from '../../packages/runner/src/index.ts';
import { PLATFORMS } from '../../packages/sidecar/src/platform.ts';
import { fromRoot } from '../build/paths.mjs';
import { allPlatformManifests, mainManifest } from '../pack/manifests.mjs';
import { PYTHON_PLATFORMS, platformOf, RUNNER_PLATFORMS, SIDECAR_PLATFORMS } from '../pack/platforms.mjs';
import { MAIN } from '../pack/stage.mjs';
import { readJson } from './tree.mjs';

const namesOf = (platforms) => platforms.map(({ name }) => name);

test('the packages look for the platforms that are packed', () => {
  expect(PLATFORMS).toEqual(namesOf(SIDECAR_PLATFORMS));
  expect(IMAGES).toEqual(namesOf(RUNNER_PLATFORMS));
  expect(PYTHON).toEqual(namesOf(PYTHON_PLATFORMS));
});

test('a machine has at most one platform', () => {
  for (const { name, ...machine } of SIDECAR_PLATFORMS) expect(platformOf(SIDECAR_PLATFORMS, machine).name).toBe(name);
  expect(platformOf(RUNNER_PLATFORMS, { os: 'linux', cpu: 'arm64', libc: 'musl' }).name).toBe('linux-arm64');
  expect(platformOf(SIDECAR_PLATFORMS, { os: 'darwin', cpu: 'arm64', libc: 'unknown' })).toBeUndefined();
});

test('a platform package is restricted to its machines', () => {
  const manifests = allPlatformManifests();
  expect(manifests).toHaveLength(8);
  for (const { name, os, cpu, libc } of manifests) {
    const [, platform] = /^@coldframe\/(?:sidecar|runner|python)-(.+)$/.exec(name);
    const [system, processor, library] = platform.split('-');
    expect({ os, cpu, libc }).toEqual({
      os: [system],
      cpu: [processor],
      libc: library === undefined ? undefined : [library === 'gnu' ? 'glibc' : library],
    });
  }
});

test('the main packages depend on this release of each other', () => {
  const { version, dependencies } = mainManifest('sdk');
  expect(dependencies).toMatchObject({ '@coldframe/runner': version, '@coldframe/sidecar': version });
  expect(mainManifest('server').dependencies).toMatchObject({ coldframe: version });
  for (const folder of ['python', 'runner', 'sidecar']) {
    const optional = mainManifest(folder).optionalDependencies;
    const made = allPlatformManifests().filter(({ name }) => name.startsWith(`@coldframe/${folder}-`));
    expect(optional).toEqual(Object.fromEntries(made.map((manifest) => [manifest.name, version])));
  }
});

test('npm refuses to pack a package from the checkout', () => {
  const scripts = MAIN.map((folder) => readJson(`packages/${folder}/package.json`).scripts.prepack);
  expect(new Set(scripts)).toEqual(new Set(['node ../../scripts/pack/refuse.mjs']));
  const options = { cwd: fromRoot('packages/sidecar'), stdio: 'pipe' };
  expect(() => execFileSync('npm', ['pack', '--dry-run', '--foreground-scripts'], options)).toThrow(/pack:all/);
});
