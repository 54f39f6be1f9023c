// Every promise in the specification has its own id and names the test or benchmark that checks the
// promise. The targets of the benchmarks have the numbers of the specification.

import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { benchmarks } from '../../packages/benchmarks/src/benchmarks.ts';
import { targetsOf } from '../../packages/benchmarks/src/suite/targets.ts';
import { fromRoot } from '../build/paths.mjs';
import { readText } from './tree.mjs';

/**
 * Returns the rows of all tables whose first cell is a promise's number: `| C1 | promise | number |
 * kept by |`.
 */
const promises = readText('docs/specification.md')
  .split('\n')
  .map((line) => /^\| ([A-Z]+\d+) \| (.+?) \| (.+?) \| (.+?) \|$/.exec(line))
  .filter(Boolean)
  .map(([, id, promise, number, keptBy]) => ({
    id,
    promise,
    number,
    keepers: [...keptBy.matchAll(/`([^`]+)`/g)].map(([, path]) => path),
  }));

test('finds promises, each with its own number', () => {
  expect(promises.length).toBeGreaterThan(20);
  expect(new Set(promises.map(({ id }) => id)).size).toBe(promises.length);
});

test.each(promises)('$id: $promise', ({ keepers }) => {
  expect(keepers.length).toBeGreaterThan(0);
  expect(keepers.filter((path) => !existsSync(fromRoot(path)))).toEqual([]);
});

test('finds no malformed row', () => {
  const rows = readText('docs/specification.md')
    .split('\n')
    .filter((line) => /^\| [A-Z]+\d+ \|/.test(line));
  expect(rows.length).toBe(promises.length);
});

/**
 * Reads the third column: `≤ 0.15 ms`, `≥ 5,000 starts/s`, `100 %`, `0`. A percentage without a
 * sign is a lower bound.
 */
function boundOf(number) {
  const [, sign, digits, unit] = /^([≤≥]?) ?([\d.,]+) ?(.*)$/.exec(number) ?? [];
  const value = Number(digits?.replaceAll(',', ''));
  return { [sign === '≥' || (sign === '' && unit === '%') ? 'atLeast' : 'atMost']: value, unit };
}

const targets = benchmarks.flatMap((benchmark) => targetsOf(benchmark));
const judged = promises.filter(({ id }) => targets.some(({ promise }) => promise === id));

test.each(judged)('a benchmark judges $id by the number of the specification', ({ id, number }) => {
  for (const { promise, unit, atMost, atLeast } of targets) {
    const bound = atMost === undefined ? { atLeast } : { atMost };
    if (promise === id) expect({ ...bound, unit }).toEqual(boundOf(number));
  }
});

test('the specification contains the promise of every target', () => {
  const ids = promises.map(({ id }) => id);
  expect(targets.map(({ promise }) => promise).filter((promise) => !ids.includes(promise))).toEqual([]);
  expect(judged.length).toBeGreaterThan(60);
});

const isDeclaration = (path) => /^packages\/benchmarks\/src\/(?!suite\/)/.test(path);

test.each(promises.filter(({ keepers }) => keepers.some(isDeclaration)))(
  '$id is declared in the file that keeps it',
  ({ id, keepers }) => {
    expect(keepers.filter(isDeclaration).filter((path) => !readText(path).includes(`promise: '${id}'`))).toEqual([]);
  },
);
