// An app that runs programs uses no dependency until a call needs the dependency.

import { expect, test } from 'vitest';
import { dependenciesIn, loadedBy } from '../loaded-modules.js';

test('a program in an owned runtime runs without a module of a dependency', async () => {
  const app = new URL('../fixtures/first-program.mjs', import.meta.url).href;
  const urls = await loadedBy(app);
  expect(urls).toContain(app);
  expect(dependenciesIn(urls)).toEqual([]);
});
