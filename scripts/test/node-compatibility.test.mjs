// docs/node-compatibility.md equals the page that its sources generate.

import { expect, test } from 'vitest';
import { makePage } from '../conformance/page.mjs';
import { readText } from './tree.mjs';

test('docs/node-compatibility.md is up to date: node scripts/conformance/page.mjs', () => {
  expect(readText('docs/node-compatibility.md')).toBe(makePage());
});
