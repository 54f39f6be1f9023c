// Tests the conversion of typed snippets to modules, by running the modules in Node.

import { expect, test } from 'vitest';
import { moduleFor, needsMore, SHOW } from '../../src/command/repl-source.js';

/** Runs snippets one after another and returns the shown values. */
async function shown(...snippets: string[]): Promise<unknown[]> {
  const values: unknown[] = [];
  const scope = globalThis as unknown as Record<string, unknown>;
  const before = new Set(Object.keys(scope));
  scope[SHOW] = (value: unknown) => values.push(value);
  try {
    for (const snippet of snippets) {
      await import(`data:text/javascript,${encodeURIComponent(moduleFor(snippet, false))}`);
    }
    return values;
  } finally {
    for (const name of Object.keys(scope)) if (!before.has(name)) delete scope[name];
  }
}

test('declarations of a snippet exist in the next snippet', async () => {
  expect(await shown('const { a, b: [c], ...rest } = { a: 1, b: [2], d: 3 }; let e', '[a, c, rest, e]')).toEqual([
    undefined,
    [1, 2, { d: 3 }, undefined],
  ]);
});

test('functions, classes and imports exist in the next snippet', async () => {
  const snippets = [
    'g(); function g() { return f }; function f() { return 1 }',
    'class A { n = f() }',
    'import os, { cpus as c } from "node:os"',
  ];
  const values = await shown(...snippets, '[g() === f, new A().n, typeof os.cpus, typeof c]');
  expect(values.at(-1)).toEqual([true, 1, 'function', 'function']);
});

test('a name can be declared again, and assigned without a declaration', async () => {
  expect(await shown('const x = 1', 'const x = 2', 'y = z = x', '[x, y, z]')).toEqual([undefined, undefined, 2, [2, 2, 2]]);
});

test('the last expression is shown, and an object needs no parentheses', async () => {
  expect(await shown('1; 2', '{ a: 1 }', 'await 3', '{ let b = 1 }', '4 // comment')).toEqual([2, { a: 1 }, 3, undefined, 4]);
});

test('a snippet with wrong syntax is returned unchanged', () => {
  expect(moduleFor(')', false)).toBe(')');
});

test.each(['function f() {', 'f(', '[1,', 'const a =', '`a', '/* a', 'if (a) {', 'a +'])('%j needs more lines', (text) => {
  expect(needsMore(text)).toBe(true);
});

test.each(['1', ')', 'const a = 1', '"a', 'function f() {}', '{ a: 1 }', 'return'])('%j needs no more lines', (text) => {
  expect(needsMore(text)).toBe(false);
});
