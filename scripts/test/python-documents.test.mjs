// The page of Python shows the files of its examples, and the page of CPython's tests has the state
// of its report.

import { expect, test } from 'vitest';
import { compare, pageOf, readReport } from '../conformance/python/report.mjs';
import { outcomesOf } from '../conformance/python/sides.mjs';
import { fencedBlocks } from './markdown.mjs';
import { readText } from './tree.mjs';

const shown = fencedBlocks(readText('docs/python.md'))
  .map(({ flags: [file], text }) => ({ file, text }))
  .filter(({ file }) => file?.startsWith('examples/'));

test('docs/python.md shows its examples', () => {
  expect(shown.map(({ file }) => file)).toEqual(['examples/python/analysis.mjs', 'examples/python/pipeline.mjs']);
  for (const { file, text } of shown) expect(text).toBe(readText(file));
});

test('the page of the tests has the state of the report', () => {
  expect(readText('docs/python-conformance.md')).toBe(pageOf(readReport()));
});

const line = (...parts) => `\n@@ ${JSON.stringify(parts)}\n`;

test('a module counts the tests that pass on both sides', () => {
  const all = ['a', 'b', 'c'].map((name) => line(`test.test_x.T.${name}`, 'pass', '')).join('');
  const native = outcomesOf(all + line('', 'end', ''));
  const box = outcomesOf(`${line('test.test_x.T.a', 'pass', '')}noise${line('test.test_x.T.b', 'fail', 'OSError: x')}`);
  expect(compare(native, { ...box, reason: 'the program ran too long' }, undefined)).toEqual({
    native: 3,
    both: 1,
    extensions: 0,
    unfinished: 'the program ran too long',
    failures: [
      ['T.b', 'OSError: x'],
      ['T.c', 'did not run'],
    ],
  });
});

test('without a native Python, the earlier count of native passes stays', () => {
  const box = outcomesOf(line('test.test_x.T.a', 'pass', '') + line('', 'end', ''));
  expect(compare(undefined, box, { native: 4 })).toEqual({ native: 4, both: 1, extensions: 0, failures: [] });
});
