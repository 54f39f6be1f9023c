// Tests the pool command on real pools: every row exists and is right, and no resource remains.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PoolRun } from '../../src/pool/benchmark.js';
import type { Report } from '../../src/suite/report.js';
import { command } from '../helpers/command.js';
import { isWellNested } from '../helpers/markup.js';

test('bench:pool measures pools, concurrent calls and checkouts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pool-'));
  try {
    const [out, page] = [join(folder, 'out.json'), join(folder, 'page.html')];
    const { code, stderr } = await command('pool', ['--quick', '--out', out, '--report', page]);
    const report = JSON.parse(readFileSync(out, 'utf8')) as Report<PoolRun>;
    expect(report.skipped).toEqual([]);
    expect([...report.amortised, ...report.crowds].map(({ successRate }) => successRate)).toEqual(
      [...report.amortised, ...report.crowds].map(() => 1),
    );
    expect(report.hygiene).toMatchObject({ successRate: 1, left: { runtimes: 0, processes: 0, files: 0 } });
    expect(report.targets.find(({ id }) => id === 'W9')).toMatchObject({ verdict: 'met' });
    expect(code).toBe(0);
    expect(stderr).toContain('Targets');
    expect(isWellNested(readFileSync(page, 'utf8'))).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 120_000);
