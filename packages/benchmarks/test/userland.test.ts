// Tests the userland benchmark without a sandbox: its programs, and its results when the two runs
// agree, disagree or fail.

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { measureBenchmark } from '../src/suite/measure.js';
import { userland } from '../src/userland/benchmark.js';
import { makeProgram } from '../src/userland/program.js';
import { userlandRows } from '../src/userland/rows.js';
import type { Side } from '../src/userland/sides.js';
import { silent } from './helpers/conditions.js';

const SHAPE = { samples: 2, sampleMs: 1 };

const side = (name: Side['name'], run: Side['run']): Side => ({ name, run, close: () => Promise.resolve() });

const answering = (check: string, samples: number[]) => async () => JSON.stringify({ check, samples });

async function runWith(sandbox: Side['run'], node: Side['run']) {
  const setup = {
    rows: [{ name: 'a', operation: '1', check: 'result' }],
    sides: { sandbox: side('sandbox', sandbox), node: side('node', node) },
    shape: SHAPE,
  };
  return (await measureBenchmark(userland, { only: '' }, setup, silent)).results;
}

test('divides the medians of both sides', async () => {
  const [result] = await runWith(answering('x', [3, 2, 4]), answering('x', [1, 2, 1]));
  expect(result?.ratio).toBe(3);
  expect(result?.error).toBeUndefined();
});

test('has no time when both sides computed different values', async () => {
  const [result] = await runWith(answering('x', [1]), answering('y', [1]));
  expect(result).toMatchObject({ sandbox: null, node: null, ratio: null, error: 'the sandbox computed "x", Node "y"' });
});

test('names the side that fails', async () => {
  const [result] = await runWith(async () => Promise.reject(new Error('no sockets')), answering('y', [1]));
  expect(result?.error).toBe('sandbox: no sockets');
});

test('names every row uniquely', () => {
  expect(new Set(userlandRows.map(({ name }) => name)).size).toBe(userlandRows.length);
});

test.each(userlandRows.map((row) => [row.name, row] as const))('%s: runs in Node and prints samples', (_name, row) => {
  const program = makeProgram(row, SHAPE);
  const output = JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' }));
  expect(output.check).not.toBe('undefined');
  expect(output.samples).toHaveLength(SHAPE.samples);
});
