// Every promise in the specification has its own number and names the test or benchmark that keeps
// the promise.

import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fromRoot } from '../build/paths.mjs';
import { readText } from './tree.mjs';

/**
 * The rows of all tables that begin with a promise's number: `| C1 | promise | number | kept by |`.
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

test('finds the targets of the matrix in the specification', () => {
  const judged = promises
    .filter(({ id }) => /^(S|M)\d+$/.test(id) && !['M4', 'M5'].includes(id))
    .map(({ number }) => bound(number));
  const targets = readText('packages/benchmarks/src/report/targets.ts');
  const calls = [...targets.matchAll(/\bms\((?:'[^']+'|"[^"]+"), ([\d.]+)|\bbound: ([\d.]+)/g)].map(([, ms, other]) =>
    Number(ms ?? other),
  );
  expect(calls.sort()).toEqual(judged.sort());
});

/** Returns `[number, target]` of each `target('C1', 'title', 2, 'ms', …)` in a benchmark. */
const targetsIn = (path) =>
  [...readText(path).matchAll(/\btarget\(\s*'([A-Z]+\d+)',\s*(?:'[^']+'|"[^"]+"),\s*([\d._]+)/g)].map(([, id, number]) => [
    id,
    Number(number.replaceAll('_', '')),
  ]);

test.each([
  ['C', 'packages/benchmarks/src/lifecycle/targets.ts'],
  ['D', 'packages/benchmarks/src/density/targets.ts'],
  ['W', 'packages/benchmarks/src/pool/targets.ts'],
])('finds the targets of %s in %s', (letter, path) => {
  const judged = promises.filter(({ id, number }) => id.replace(/\d+/, '') === letter && /\d/.test(number));
  const promised = judged.map(({ id, number }) => [id, bound(number)]);
  expect(targetsIn(path)).toEqual(promised);
  expect(promised.length).toBeGreaterThan(3);
});

const bound = (number) => Number(/[\d.,]+/.exec(number)[0].replace(',', ''));
