// Every link between the repository's documents has an existing target.

import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { fromRoot } from '../build/paths.mjs';
import { anchors, links } from './markdown.mjs';
import { readText, trackedFiles } from './tree.mjs';

const documents = trackedFiles().filter((path) => path.endsWith('.md') && !path.includes('/fixtures/'));

test('finds documents to check', () => {
  expect(documents).toContain('README.md');
});

test.each(documents)('links in %s', (document) => {
  const broken = links(readText(document)).filter((target) => {
    if (/^[a-z]+:/.test(target)) return false;
    const [path, anchor] = target.split('#');
    const file = path ? normalize(join(dirname(document), path)) : document;
    if (!existsSync(fromRoot(file))) return true;
    return anchor !== undefined && !anchors(readText(file)).includes(anchor);
  });
  expect(broken).toEqual([]);
});
