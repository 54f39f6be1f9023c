// Tests the search for installed packages, in folders that this file makes.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { importInstalled, importOptional, requireInstalled, resolveInstalled } from '../../src/packages/installed.js';

let app: string;
const [, entry] = process.argv;
beforeEach(() => {
  app = realpathSync(mkdtempSync(join(tmpdir(), 'coldframe-installed-')));
  process.argv[1] = join(app, 'dist/app.mjs');
});
afterEach(() => {
  if (entry !== undefined) process.argv[1] = entry;
  rmSync(app, { recursive: true, force: true });
});

function install(path: string, text: string): string {
  const file = join(app, 'node_modules', path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

test('finds the dependencies of this package', () => {
  expect(resolveInstalled('@coldframe/sidecar')).toMatch(/sidecar\/dist\/index\.js$/);
  expect(resolveInstalled('undici/index.js')).toMatch(/undici\/index\.js$/);
});

test("finds a package beside the app's entry point", async () => {
  const file = install('beside-the-app/index.mjs', 'export const answer = 42;');
  install('beside-the-app/package.json', '{ "exports": "./index.mjs" }');
  expect(resolveInstalled('beside-the-app')).toBe(file);
  expect(await importInstalled('beside-the-app')).toMatchObject({ answer: 42 });
});

test('imports an optional package that is installed, and returns undefined for a missing package', async () => {
  expect(await importOptional('optional', 'dist/index.mjs')).toBeUndefined();
  install('optional/package.json', '{}');
  expect(await importOptional('optional', 'dist/index.mjs')).toBeUndefined();
  install('optional/dist/index.mjs', 'export const answer = 42;');
  expect(await importOptional('optional', 'dist/index.mjs')).toMatchObject({ answer: 42 });
  install('broken/index.mjs', "throw new Error('broken');");
  await expect(importOptional('broken', 'index.mjs')).rejects.toThrow('broken');
});

test('finds an optional package that is installed for the SDK of a bundle only', async () => {
  const sdk = install('.pnpm/coldframe/node_modules/coldframe/package.json', '{}');
  install('.pnpm/coldframe/node_modules/for-the-sdk/index.mjs', 'export const answer = 42;');
  symlinkSync(dirname(sdk), join(app, 'node_modules/coldframe'));
  expect(await importOptional('for-the-sdk', 'index.mjs')).toMatchObject({ answer: 42 });
});

test('loads a CommonJS module of a package by the name of its file', () => {
  install('beside-the-app/lib/part.js', 'module.exports = { part: true };');
  expect(requireInstalled('beside-the-app/lib/part.js')).toEqual({ part: true });
});

test("the error for a missing package has the package's name and the searched folders", () => {
  const thrown = (specifier: string): unknown => {
    try {
      return resolveInstalled(specifier);
    } catch (error) {
      return error;
    }
  };
  for (const [specifier, name] of [
    ['@nobody/nothing/lib/a.js', '@nobody/nothing'],
    ['nothing-at-all/index.js', 'nothing-at-all'],
  ] as const) {
    const searched = expect.arrayContaining([join(app, 'node_modules'), join(app, 'dist/node_modules')]);
    expect(thrown(specifier)).toMatchObject({ code: 'ERR_PACKAGE_NOT_FOUND', package: name, searched });
  }
});

test('an app without an entry point gets the folders of this package', () => {
  process.argv.splice(1, 1);
  try {
    expect(() => resolveInstalled('nothing-at-all')).toThrow(/The package nothing-at-all is not installed/);
    expect(resolveInstalled('@coldframe/runner')).toMatch(/runner\/dist\/index\.js$/);
  } finally {
    process.argv.splice(1, 0, entry ?? '');
  }
});
