// Tests the server command on a time, on a rate and on live sandboxes.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command } from '../helpers/command.js';

test('bench:serve measures a server, its floors and its live sandboxes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'serve-'));
  try {
    const out = join(folder, 'out.json');
    const measure = async (...words: string[]) => {
      const { code } = await command('serve', ['--samples', '3', '--share', '1', '--live', '3', '--out', out, ...words]);
      expect(code).toBe(0);
      return JSON.parse(readFileSync(out, 'utf8'));
    };
    const { schema, times } = await measure('--only', 'create, until');
    expect(schema).toBe('coldframe-serve/1');
    expect(times).toEqual([
      expect.objectContaining({ ratio: expect.any(Number), server: expect.objectContaining({ count: 3 }) }),
    ]);
    const { rates } = await measure('--only', 'first command and delete, 10');
    expect(rates).toEqual([expect.objectContaining({ total: 4, right: 4 })]);
    const { live } = await measure('--only', 'live');
    expect(live).toEqual([expect.objectContaining({ count: 3, live: 3, answered: 3 })]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
