// Tests the reasons to run a build step again. Changed, new and missing files are reasons. A
// changed time without changed content is no reason.

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

test('takes a finished step as up to date', () => {
  expect(staleReason(step)).toBeUndefined();
});

test('takes a step without a stamp as not built', () => {
  dropStamp(step);
  expect(staleReason(step)).toBe('not built yet');
});

test.each([
  ['a changed input', () => write('in/a.txt', 'b'), 'in/a.txt has changed'],
  ['a new input', () => write('in/b.txt', 'b'), 'in/b.txt is new'],
  ['a removed input', () => rmSync(fromRoot(folder, 'in/a.txt')), 'in/a.txt is gone'],
  ['a missing output', () => rmSync(fromRoot(folder, 'out.txt')), 'out.txt is missing'],
  ['an output that another program wrote', () => write('out.txt', 'other'), 'out.txt has changed'],
])('notices %s', (_, change, reason) => {
  change();
  expect(staleReason(step)).toBe(`${folder}/${reason}`);
});

test('ignores a file that is written again with equal bytes', () => {
  write('in/a.txt', 'a');
  utimesSync(fromRoot(folder, 'in/a.txt'), 1, 1);
  expect(staleReason(step)).toBeUndefined();
});

test('ignores the tests of a package', () => {
  write('in/test/new.txt', 'x');
  expect(staleReason(step)).toBeUndefined();
});

test('notices an input that changes while the step runs', () => {
  const inputs = takeInputs(step);
  write('in/a.txt', 'changed meanwhile');
  saveStamp(step, inputs);
  expect(staleReason(step)).toBe(`${folder}/in/a.txt has changed`);
});

test('fails when a step has not made its outputs', () => {
  rmSync(fromRoot(folder, 'out.txt'));
  expect(() => saveStamp(step, takeInputs(step))).toThrow(/ended without making .*out\.txt/);
});
