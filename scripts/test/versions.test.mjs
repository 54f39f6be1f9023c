// Dependencies have exact versions, and no dependency has two versions. No package of the workspace
// runs code at installation.

import { expect, test } from 'vitest';
import { readJson, readText, trackedFiles } from './tree.mjs';

const manifests = trackedFiles()
  .filter((path) => /^((packages|examples)\/[^/]+\/)?package\.json$/.test(path))
  .map((path) => ({ path, manifest: readJson(path) }));

const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies'];

const wanted = manifests.flatMap(({ path, manifest }) =>
  KINDS.flatMap((kind) => Object.entries(manifest[kind] ?? {}).map(([name, version]) => ({ path, name, version }))),
);

/** The version of each package of this workspace. Examples outside the workspace name versions. */
const own = new Map(manifests.map(({ manifest: { name, version } }) => [name, version]));

test('every dependency has an exact version or is in this workspace', () => {
  const loose = wanted.filter(({ version }) => !/^((npm:[\w-]+@)?\d+\.\d+\.\d+(-[\w.-]+)?|workspace:\*)$/.test(version));
  expect(loose).toEqual([]);
});

test('no dependency has two versions', () => {
  const byName = new Map();
  for (const { name, version } of wanted) {
    const exact = version === 'workspace:*' ? own.get(name) : version;
    byName.set(name, new Set([...(byName.get(name) ?? []), exact]));
  }
  expect([...byName].filter(([, set]) => set.size > 1)).toEqual([]);
});

test('published packages have one version and one licence', () => {
  const published = manifests.filter(({ manifest }) => !manifest.private);
  expect(published.map(({ manifest }) => manifest.name).sort()).toEqual([
    '@coldframe/python',
    '@coldframe/runner',
    '@coldframe/server',
    '@coldframe/sidecar',
    'coldframe',
  ]);
  expect(new Set(published.map(({ manifest }) => manifest.version)).size).toBe(1);
  expect(new Set(published.map(({ manifest }) => manifest.license))).toEqual(new Set(['Apache-2.0']));
  const crates = /^version = "([^"]+)"/m.exec(readText('packages/sidecar/Cargo.toml'))?.[1];
  expect(published[0].manifest.version).toBe(crates);
});

test('no package of the workspace runs code at installation', () => {
  const scripts = manifests.flatMap(({ path, manifest }) =>
    Object.keys(manifest.scripts ?? {}).map((script) => ({ path, script })),
  );
  expect(scripts.filter(({ script }) => /^(pre|post)?(install|prepare)$/.test(script))).toEqual([]);
});

test('the manifest names no package manager', () => {
  expect(readJson('package.json')).not.toHaveProperty('packageManager');
});
