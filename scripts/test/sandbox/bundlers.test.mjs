// An app in a bundle of esbuild runs sandboxes, with coldframe in the bundle and beside the bundle.
// A bundle without installed packages fails with one code. The long form is in
// bundlers-long.test.mjs.

import { copyFileSync, mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { fromRoot } from '../../build/paths.mjs';
import { readJson } from '../tree.mjs';
import { copyExample, linkColdframe, linkEsbuild, OUTPUT, remove, runNode } from './bundled-app.mjs';

const { build } = createRequire(fromRoot('packages/runner/package.json'))('esbuild');

// esbuild needs seconds on an idle machine.
vi.setConfig({ testTimeout: 300_000 });

let app;
let elsewhere;
beforeAll(() => {
  app = copyExample(tmpdir());
  linkColdframe(app);
  linkEsbuild(app);
  elsewhere = mkdtempSync(join(tmpdir(), 'coldframe-moved-'));
});
afterAll(() => {
  remove(app);
  remove(elsewhere);
});

const FORMATS = [
  { format: 'esm', extension: 'mjs' },
  { format: 'cjs', extension: 'cjs' },
];

async function bundle({ format, extension }, options = {}) {
  const outfile = join(app, `dist/app.${extension}`);
  const logOverride = { 'empty-import-meta': 'silent' }; // packages in node_modules cause no warning
  const common = { bundle: true, platform: 'node', target: 'node20.11', logLevel: 'error', logOverride };
  await build({ entryPoints: [join(app, 'app.mjs')], outfile, format, ...common, ...options });
  return outfile;
}

test('the example of esbuild runs', async () => {
  await runNode(['esbuild/build.mjs'], app);
  expect(await runNode(['esbuild/dist/app.mjs'], app)).toBe(OUTPUT);
});

test.each(FORMATS)('an app runs with coldframe in a bundle of format $format', async (format) => {
  expect(await runNode([await bundle(format, { minify: true })], elsewhere)).toBe(OUTPUT);
});

const IN_PROCESS = `
  import { NodeRuntime, Sidecar } from 'coldframe';
  Sidecar.embedded().then(async (sidecar) => {
    const runtime = await NodeRuntime.create({ sidecar });
    console.log((await runtime.exec('console.log(6 * 7)')).stdout.trim());
    await sidecar.dispose();
  });`;

test.each(FORMATS)('a bundle of format $format loads the addon', async (format) => {
  const stdin = { contents: IN_PROCESS, resolveDir: app };
  expect(await runNode([await bundle(format, { entryPoints: undefined, stdin })], elsewhere)).toBe('42\n');
});

const REPORTED = `
  import { NodeRuntime } from 'coldframe';
  NodeRuntime.create().catch((error) => console.log(JSON.stringify(error)));`;

test.each(FORMATS)('a bundle of format $format without installed packages names the packages and the remedy', async (format) => {
  const stdin = { contents: REPORTED, resolveDir: app };
  const moved = join(elsewhere, `app.${format.extension}`);
  copyFileSync(await bundle(format, { entryPoints: undefined, stdin }), moved);
  const error = JSON.parse(await runNode([moved], elsewhere));
  expect(error).toMatchObject({ code: 'ERR_PACKAGE_NOT_FOUND', package: '@coldframe/runner' });
  expect(error.searched).toContain(join(elsewhere, 'node_modules'));
  for (const line of ["esbuild: external: ['coldframe']", "Next.js: serverExternalPackages: ['coldframe']"]) {
    expect(error.message).toContain(line);
  }
});

test('the examples use the esbuild of the build and the coldframe of this version', () => {
  const { dependencies, devDependencies } = readJson('examples/bundlers/package.json');
  expect(devDependencies.esbuild).toBe(readJson('packages/runner/package.json').devDependencies.esbuild);
  expect(dependencies.coldframe).toBe(readJson('packages/sdk/package.json').version);
});
