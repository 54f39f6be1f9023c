// The pages of the recipes show the files of the recipes, and every recipe has a page.

import { expect, test } from 'vitest';
import { fencedBlocks } from './markdown.mjs';
import { readText, trackedFiles } from './tree.mjs';

const files = trackedFiles();
const pages = files.filter((path) => /^docs\/recipes\/.*\.md$/.test(path));
const recipes = files.filter((path) => /^examples\/recipes\/[^/]+\.mjs$/.test(path));

/** The blocks that name a file after the language, as in ` ```js examples/recipes/openai.mjs `. */
const shown = pages
  .flatMap((page) => fencedBlocks(readText(page)).map(({ flags: [file], text }) => ({ page, file, text })))
  .filter(({ file }) => file?.startsWith('examples/'));

test('every recipe is shown by one page', () => {
  expect(recipes).toContain('examples/recipes/run-javascript.mjs');
  expect(shown.map(({ file }) => file).sort()).toEqual(recipes);
});

test.each(shown)('$page shows $file', ({ file, text }) => {
  expect(text).toBe(readText(file));
});
