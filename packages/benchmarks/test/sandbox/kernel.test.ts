// Tests the kernel command on some rows, the comparison of a figure with its bound, and the count
// of resources that remain after many processes.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sidecar } from 'coldframe';
import { expect, test } from 'vitest';
import { measureLeaks } from '../../src/kernel/leaks.js';
import { judge } from '../../src/suite/targets.js';
import { command } from '../helpers/command.js';

test('bench:kernel measures both sides and judges the sandbox', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kernel-'));
  try {
    const out = join(folder, 'out.json');
    const { code } = await command('kernel', ['--only', 'stat:', '--out', out]);
    expect(code).toBe(0);
    const { schema, results, leaks } = JSON.parse(readFileSync(out, 'utf8'));
    expect({ schema, leaks }).toEqual({ schema: 'coldframe-kernel/1', leaks: null });
    expect(results.map(({ bound, error }: { bound: number; error?: string }) => ({ bound, error }))).toEqual([
      { bound: 2, error: undefined },
      { bound: null, error: undefined },
    ]);
    for (const { sandbox, node } of results) {
      expect(sandbox.count).toBe(node.count);
      expect(sandbox.p50).toBeGreaterThan(0);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('judges a figure by its bound', () => {
  expect([judge(2, 2), judge(2.1, 2), judge(undefined, 2), judge(9, undefined)]).toEqual(['met', 'missed', 'unmeasured', null]);
});

test('leaves nothing behind after the processes of a long life', async () => {
  const sidecar = await Sidecar.spawn();
  try {
    const result = await measureLeaks(sidecar, { processes: 60, warmup: 40, width: 4, boundKib: 16_384 });
    expect(result).toMatchObject({ right: 60, leftProcesses: 0, verdict: 'met' });
    expect(result.leftDescriptors).toBeLessThanOrEqual(0);
  } finally {
    await sidecar.dispose();
  }
}, 60_000);
