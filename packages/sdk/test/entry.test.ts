// Tests the entry point of the built package. An import loads few modules: its time is mostly the
// number and the size of the modules. Exports have their names. `require()` works where Node can
// require ES modules.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { builtinsLoadedBy, bundlesIn, dependenciesIn, loadedBy } from './loaded-modules.js';

const ENTRY = new URL('../dist/index.js', import.meta.url).href;

test('an import of the package loads two of its modules, and no module of a dependency', async () => {
  const urls = await loadedBy('coldframe');
  expect(bundlesIn(urls)).toEqual(['index.js', 'chunks/chunk.js']);
  expect(dependenciesIn(urls)).toEqual([]);
});

test('an import of the package makes Node load none of its modules, except small ones', async () => {
  expect((await builtinsLoadedBy('coldframe')).filter((name) => !['os', 'path', 'url'].includes(name))).toEqual([]);
});

test('the list of loaded modules of Node shows an import of a module', async () => {
  expect(await builtinsLoadedBy('node:net')).toEqual(expect.arrayContaining(['net', 'stream']));
});

test('the exports of the built package have their names', async () => {
  const exported: Record<string, unknown> = await import(ENTRY);
  expect(Object.keys(exported)).toContain('NodeRuntime');
  expect(Object.entries(exported).filter(([name, value]) => (value as { name?: unknown }).name !== name)).toEqual([]);
});

test.each(['undici', 'zod/mini', '@cfworker/json-schema'])('the list of loaded modules shows an import of %s', async (name) => {
  expect(dependenciesIn(await loadedBy('coldframe', name))).not.toEqual([]);
});

const FLAG = '--experimental-require-module';
const withoutSupport = process.allowedNodeEnvironmentFlags.has(FLAG) ? [FLAG.replace('--', '--no-')] : [];

test.each([[[]], [withoutSupport]])('`require()` of the package works or fails with one code, with %j', async (flags) => {
  const app = fileURLToPath(new URL('fixtures/require-app.cjs', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, app]);
  const { isSupported, result } = JSON.parse(stdout);
  expect(result).toBe(isSupported ? 'same' : 'ERR_REQUIRE_ESM');
});
