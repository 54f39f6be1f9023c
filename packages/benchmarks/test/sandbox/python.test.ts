// Tests the command for Python: each part on few samples.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pythonDir } from '../../../python/dist/index.js';
import { command } from '../helpers/command.js';

const isBuilt = pythonDir() !== undefined;

test.skipIf(!isBuilt)('bench:python measures starts, memory, clones, endings and programs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'python-'));
  try {
    const out = join(folder, 'out.json');
    const measure = async (...words: string[]) => {
      const sizes = ['--samples', '2', '--live', '2', '--clones', '2', '--cache', ''];
      const { code, stderr } = await command('python', [...sizes, '--out', out, ...words]);
      expect(code, stderr).toBe(0);
      return JSON.parse(readFileSync(out, 'utf8'));
    };
    const { schema, starts, memory, clones } = await measure('--parts', 'starts,memory,clones');
    expect(schema).toBe('coldframe-python/1');
    expect(starts[0].rows.map((row: { times: { count: number } }) => row.times.count)).toEqual(Array(7).fill(2));
    expect(memory.map((row: { live: number }) => row.live)).toEqual([2, 2]);
    expect(clones).toEqual([expect.objectContaining({ count: 2, right: 2 })]);
    const { endings } = await measure('--parts', 'endings', '--only', 'a wait');
    expect(endings).toEqual([expect.objectContaining({ kill: expect.objectContaining({ count: 3 }) })]);
    const { programs } = await measure('--parts', 'programs', '--only', 'coroutines');
    expect(programs).toEqual([expect.objectContaining({ name: 'coroutines', ratio: expect.any(Number) })]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
