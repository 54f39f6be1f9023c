// Every command that the documents show exists as a script of the repository.

import { expect, test } from 'vitest';
import { fencedBlocks } from './markdown.mjs';
import { readJson, readText, trackedFiles } from './tree.mjs';

const PNPM_ITSELF = new Set(['install', 'exec', 'add']);

const documents = trackedFiles().filter((path) => path.endsWith('.md') && !path.includes('/fixtures/'));

/** Returns the scripts of package.json that a document names, in blocks and in paragraphs. */
function scriptsIn(markdown) {
  const text = [...fencedBlocks(markdown).map((block) => block.text), ...(markdown.match(/`[^`\n]+`/g) ?? [])].join('\n');
  const calls = text.matchAll(/\bpnpm(?:@10)? (?:run )?([a-z][a-z0-9:]*)/g);
  return [...calls].map(([, script]) => script).filter((script) => !PNPM_ITSELF.has(script));
}

const known = Object.keys(readJson('package.json').scripts);

test.each(documents)('commands in %s', (document) => {
  expect(scriptsIn(readText(document)).filter((script) => !known.includes(script))).toEqual([]);
});

test("README names the two commands, each with nothing but Node's own tools", () => {
  const shown = fencedBlocks(readText('README.md'))
    .map((block) => block.text)
    .join('\n');
  expect(shown).toContain('npx --yes pnpm@10 quickstart');
  expect(shown).toContain('npx --yes pnpm@10 test');
});

test('.ci/run calls the test command of the README', () => {
  expect(readText('.ci/run')).toMatch(/^npx --yes pnpm@10 test$/m);
});
