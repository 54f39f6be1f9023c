// A release raises every copy of the version, and its workflow builds every platform package.

import { expect, test } from 'vitest';
import { allPlatformManifests, mainManifest } from '../pack/manifests.mjs';
import { RUNNER_PLATFORMS, SIDECAR_PLATFORMS } from '../pack/platforms.mjs';
import { inOrder } from '../release/publish.mjs';
import { withCrateVersions, withVersion } from '../release/version.mjs';
import { readJson, readText } from './tree.mjs';

test('a release replaces the version and no other text', () => {
  const text = "/** Text. */\nexport const VERSION = '0.1.0';\n";
  const pattern = /(export const VERSION = ')[^']+(')/;
  expect(withVersion(text, pattern, '1.2.3')).toBe(text.replace('0.1.0', '1.2.3'));
  expect(() => withVersion('no version', pattern, '1.2.3')).toThrow(/expected a version/);
});

test('a release replaces the versions of the crates of the workspace', () => {
  const lock = readText('packages/sidecar/Cargo.lock');
  const raised = withCrateVersions(lock, '9.8.7');
  const changed = raised.split('\n').filter((line, index) => line !== lock.split('\n')[index]);
  expect(new Set(changed)).toEqual(new Set(['version = "9.8.7"']));
  expect(changed).toHaveLength(lock.match(/^name = "coldframe-/gm).length);
});

test('a release publishes every package after its dependencies', () => {
  const manifests = [
    mainManifest('server'),
    mainManifest('sdk'),
    mainManifest('runner'),
    ...allPlatformManifests(),
    mainManifest('sidecar'),
    mainManifest('python'),
  ];
  const packages = manifests.map((manifest) => ({ manifest }));
  const published = inOrder(packages, mainManifest('sdk').version).map(({ manifest }) => manifest);
  expect(published).toHaveLength(13);
  for (const [index, { dependencies, optionalDependencies }] of published.entries()) {
    const earlier = published.slice(0, index).map(({ name }) => name);
    const own = Object.keys({ ...dependencies, ...optionalDependencies }).filter(
      (name) => name === 'coldframe' || name.startsWith('@coldframe/'),
    );
    expect(own.filter((name) => !earlier.includes(name))).toEqual([]);
  }
});

test('a release without one of its packages is refused', () => {
  const packages = allPlatformManifests().map((manifest) => ({ manifest }));
  const { version } = mainManifest('sdk');
  expect(() => inOrder(packages.slice(1), version)).toThrow(/expected one tarball of @coldframe\/runner-linux-x64, found 0/);
  expect(() => inOrder(packages, '9.9.9')).toThrow(/expected version 9.9.9/);
});

test('changesets raise all published packages to one version', () => {
  const { fixed } = readJson('.changeset/config.json');
  expect(fixed).toEqual([['coldframe', '@coldframe/sidecar', '@coldframe/runner', '@coldframe/server', '@coldframe/python']]);
});

test('the release workflow builds every platform package', () => {
  const workflow = readText('.github/workflows/release.yml');
  for (const { name } of SIDECAR_PLATFORMS) expect(workflow).toContain(`platform: ${name}`);
  for (const { name } of RUNNER_PLATFORMS) expect(workflow).toContain(`images: ${name},`);
});
