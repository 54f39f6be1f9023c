// The userland benchmark without a sandbox: what it sends, and what it makes of sides that agree, disagree and fail.

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { cases } from '../src/userland/cases.js';
import { makeProgram } from '../src/userland/program.js';
import { runUserland } from '../src/userland/run.js';
import type { Side } from '../src/userland/sides.js';

const SHAPE = { samples: 2, sampleMs: 1 };

const side = (name: Side['name'], run: Side['run']): Side => ({ name, run, close: () => Promise.resolve() });

const answering = (check: string, samples: number[]) => async () => JSON.stringify({ check, samples });

const runWith = (sandbox: Side['run'], node: Side['run']) =>
  runUserland(
    [{ name: 'a', operation: '1', check: 'result' }],
    { sandbox: side('sandbox', sandbox), node: side('node', node) },
    SHAPE,
    { starts: () => {} },
  );

test('the ratio is that of the medians', async () => {
  const [result] = await runWith(answering('x', [3, 2, 4]), answering('x', [1, 2, 1]));
  expect(result?.ratio).toBe(3);
  expect(result?.error).toBeUndefined();
});

test('a side that computes something else has no time', async () => {
  const [result] = await runWith(answering('x', [1]), answering('y', [1]));
  expect(result).toMatchObject({ sandbox: null, node: null, ratio: null, error: 'the sandbox computed "x", Node "y"' });
});

test('a side that fails is named', async () => {
  const [result] = await runWith(async () => Promise.reject(new Error('no sockets')), answering('y', [1]));
  expect(result?.error).toBe('sandbox: no sockets');
});

test('names are unique', () => {
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
});

test.each(cases.map((each) => [each.name, each] as const))('%s: runs in Node and samples what it checked', (_name, each) => {
  const program = makeProgram(each, SHAPE);
  const output = JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' }));
  expect(output.check).not.toBe('undefined');
  expect(output.samples).toHaveLength(SHAPE.samples);
});
