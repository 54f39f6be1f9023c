// Each public package contains the intended files: compares `npm pack --dry-run` with a list.
//
// npm compresses the images to find the size of the package, which takes up to 20 seconds.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { listFiles } from '../build/inputs.mjs';
import { fromRoot } from '../build/paths.mjs';

const runFile = promisify(execFile);

const MB = 1_000_000;

async function pack(name) {
  const { stdout } = await runFile('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: fromRoot('packages', name),
  });
  const [{ files }] = JSON.parse(stdout);
  return new Map(files.map(({ path, size }) => [path, size]));
}

/** Returns the declarations that `tsc` makes of the sources of a package. */
const declarations = (name) =>
  listFiles([`packages/${name}/src`])
    .filter((path) => path.endsWith('.ts'))
    .map((path) => `dist/${path.slice(`packages/${name}/src/`.length, -'.ts'.length)}.d.ts`);

const isMap = (path) => path.endsWith('.map');

test('packs only the bundles and the declarations into coldframe', async () => {
  const files = [...(await pack('sdk')).keys()].filter((path) => !isMap(path));
  expect(files.sort()).toEqual(
    ['LICENSE', 'NOTICE', 'README.md', 'package.json', 'dist/index.js', 'dist/secure-exec.js', ...declarations('sdk')].sort(),
  );
});

test('packs the binary and the addon into @coldframe/sidecar', async () => {
  const files = await pack('sidecar');
  expect([...files.keys()]).toEqual(expect.arrayContaining(['dist/coldframe-sidecar', 'dist/coldframe.node', 'NOTICE']));
  expect([...files.keys()].filter((path) => /\.(rs|toml|lock)$|test|fixtures/.test(path))).toEqual([]);
  expect(files.get('dist/coldframe-sidecar')).toBeLessThanOrEqual(5 * MB);
});

test('packs images and precompiled modules into @coldframe/runner, without their sources', async () => {
  const files = await pack('runner');
  expect([...files.keys()]).toEqual(expect.arrayContaining(['dist/guest.image', 'dist/shell.image', 'NOTICE']));
  for (const name of ['guest', 'shell']) {
    const modules = [...files.keys()].filter((path) => new RegExp(`^dist/${name}-[0-9a-f]{16}\\.cwasm$`).test(path));
    expect(modules, name).toHaveLength(1);
  }
  expect(files.get('dist/shell.image')).toBeLessThanOrEqual(26 * MB);
  expect([...files.keys()].filter((path) => /\.(c|h|patch|wasm)$|inputs|test|fixtures/.test(path))).toEqual([]);
});
