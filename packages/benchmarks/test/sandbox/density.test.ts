// Tests the density command on real sandboxes: few runtimes of three kinds, which all reply twice.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { DensityRun } from '../../src/density/benchmark.js';
import type { Report } from '../../src/suite/report.js';
import { command } from '../helpers/command.js';

test('bench:density counts three kinds and probes every runtime again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'coldframe-bench-'));
  try {
    const [out, page] = [join(folder, 'out.json'), join(folder, 'page.html')];
    const { code, stderr } = await command('density', ['--quick', '--out', out, '--report', page]);
    const report = JSON.parse(readFileSync(out, 'utf8')) as Report<DensityRun>;
    expect(report.skipped).toEqual([]);
    expect([...report.rows, ...report.holds].map(({ kind, count, outcomes }) => [kind, count, outcomes.success])).toEqual([
      ...['idle', 'runner', 'clone'].flatMap((kind) => [1, 5, 20].map((count) => [kind, count, count])),
      ...['idle', 'runner', 'clone'].map((kind) => [kind, 20, 20]),
    ]);
    expect(report.bursts.flatMap(({ rows }) => rows.map(({ successRate }) => successRate))).toEqual([1, 1, 1, 1, 1, 1]);
    expect(code).toBe(0);
    // A live guest has pages and mappings of its own, and no descriptor.
    const runners = report.rows.find(({ kind, count }) => kind === 'runner' && count === 20);
    expect(runners?.privateKib).toBeGreaterThan(20);
    expect(runners?.mappings).toBeGreaterThan(1);
    expect(stderr).toContain('idle after one exec');
    expect(readFileSync(page, 'utf8')).not.toMatch(/NaN|undefined/);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 120_000);
