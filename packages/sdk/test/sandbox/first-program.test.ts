// An app that runs programs uses few modules until a call needs more. The time to the end of the
// first program is mostly the time in which Node loads modules.

import { expect, test } from 'vitest';
import { builtinsLoadedBy, bundlesIn, dependenciesIn, loadedBy } from '../loaded-modules.js';

const APP = new URL('../fixtures/first-program.mjs', import.meta.url).href;

test('a program in an owned runtime runs with three modules of the package, and none of a dependency', async () => {
  const urls = await loadedBy(APP);
  expect(urls).toContain(APP);
  expect(bundlesIn(urls)).toEqual(['index.js', 'chunks/chunk.js', 'chunks/parts.js']);
  expect(dependenciesIn(urls)).toEqual([]);
});

test('the packages with native files have one module each', async () => {
  const urls = await loadedBy(APP);
  expect(urls.filter((url) => /\/packages\/(runner|sidecar)\//.test(url))).toHaveLength(2);
});

test('a program in an owned runtime needs only the modules of Node that start a process', async () => {
  const builtins = await builtinsLoadedBy(APP);
  expect(builtins).toContain('child_process');
  expect(builtins.filter((name) => !NEEDED.includes(name))).toEqual([]);
});

/** `child_process` and the modules that it loads, and `os`. */
const NEEDED = ['child_process', 'dgram', 'diagnostics_channel', 'net', 'os', 'stream', 'stream/promises', 'string_decoder'];
