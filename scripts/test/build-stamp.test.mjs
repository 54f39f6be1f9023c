// When a build step runs again: changed, new and missing files do it, a changed time alone does not.

import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fromRoot } from '../build/paths.mjs';
import { dropStamp, saveStamp, staleReason, takeInputs } from '../build/stamp.mjs';

const folder = `.build/stamp-test-${process.pid}`;

const step = {
  name: `stamp-test-${process.pid}`,
  key: 'x',
  inputs: [`${folder}/in`],
  skip: ['test'],
  outputs: [`${folder}/out.txt`],
};

const write = (name, text) => writeFileSync(fromRoot(folder, name), text);

const build = () => {
  const inputs = takeInputs(step);
  write('out.txt', 'made');
  saveStamp(step, inputs);
};

beforeEach(() => {
  mkdirSync(fromRoot(folder, 'in/test'), { recursive: true });
  write('in/a.txt', 'a');
  build();
});

afterEach(() => {
  dropStamp(step);
  rmSync(fromRoot(folder), { recursive: true, force: true });
});

test('a finished step is up to date', () => {
  expect(staleReason(step)).toBeUndefined();
});

test('a step without a stamp is not', () => {
  dropStamp(step);
  expect(staleReason(step)).toBe('not built yet');
});

test.each([
  ['a changed input', () => write('in/a.txt', 'b'), 'in/a.txt has changed'],
  ['a new input', () => write('in/b.txt', 'b'), 'in/b.txt is new'],
  ['a removed input', () => rmSync(fromRoot(folder, 'in/a.txt')), 'in/a.txt is gone'],
  ['a missing output', () => rmSync(fromRoot(folder, 'out.txt')), 'out.txt is missing'],
  ['an output that something else wrote', () => write('out.txt', 'other'), 'out.txt has changed'],
])('%s is noticed', (_, change, reason) => {
  change();
  expect(staleReason(step)).toBe(`${folder}/${reason}`);
});

test('a file that is written anew with the same bytes is no change', () => {
  write('in/a.txt', 'a');
  utimesSync(fromRoot(folder, 'in/a.txt'), 1, 1);
  expect(staleReason(step)).toBeUndefined();
});

test('tests of a package are no input', () => {
  write('in/test/new.txt', 'x');
  expect(staleReason(step)).toBeUndefined();
});

test('an input that changes while the step runs makes it stale', () => {
  const inputs = takeInputs(step);
  write('in/a.txt', 'changed meanwhile');
  saveStamp(step, inputs);
  expect(staleReason(step)).toBe(`${folder}/in/a.txt has changed`);
});

test('a step that did not make what it says fails', () => {
  rmSync(fromRoot(folder, 'out.txt'));
  expect(() => saveStamp(step, takeInputs(step))).toThrow(/ended without making .*out\.txt/);
});
