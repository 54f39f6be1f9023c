// Tests the userland command on one row: the sandbox and Node compute equal values, and the report
// has the ratio of their times.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command } from '../helpers/command.js';

test('bench:userland compares the sandbox with Node', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'userland-'));
  try {
    const out = join(folder, 'out.json');
    const { code, stderr } = await command('userland', ['--only', 'events', '--out', out]);
    expect(stderr).toContain('right: 100 %');
    expect(code).toBe(0);
    const { schema, runs, results } = JSON.parse(readFileSync(out, 'utf8'));
    expect({ schema, runs }).toEqual({ schema: 'coldframe-userland/1', runs: { right: 1, total: 1 } });
    expect(results[0].ratio).toBeGreaterThan(0);
    expect(results[0].sandbox.count).toBe(15);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
