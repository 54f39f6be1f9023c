// Tests the gate command on real sandboxes: the update, a run that passes, and a run that fails.
// The thresholds and values of the baseline are changed so that the noise of the machine cannot
// change a result.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Baseline, readBaseline, writeBaseline } from '../../src/gate/baseline.js';
import type { GateRun } from '../../src/gate/benchmark.js';
import { gateRows } from '../../src/gate/rows.js';
import { scale } from '../../src/statistics/statistics.js';
import type { Report } from '../../src/suite/report.js';
import { command } from '../helpers/command.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coldframe-bench-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const gate = (...args: string[]) =>
  command('gate', ['--quick', '--attempts', '1', '--baseline', join(folder, 'baseline.json'), ...args]);

/** Changes the baseline on disk. */
function change(edit: (row: Baseline['rows'][string]) => Baseline['rows'][string]): void {
  const path = join(folder, 'baseline.json');
  const baseline = readBaseline(path);
  if (!baseline) throw new Error('expected a baseline');
  const rows = Object.entries(baseline.rows).map(([name, row]) => [name, edit(row)] as const);
  writeBaseline(path, { ...baseline, rows: Object.fromEntries(rows) });
}

test('bench:gate writes a baseline, passes within the thresholds, and fails beyond the thresholds', async () => {
  const absent = await gate();
  expect(absent).toMatchObject({ code: 2, stdout: '' });
  expect(absent.stderr).toMatch(/baseline\.json: no baseline; measure the baseline with --update\n$/);

  expect((await gate('--update')).code).toBe(0);
  expect(Object.keys(readBaseline(join(folder, 'baseline.json'))?.rows ?? {})).toEqual(gateRows.map(({ name }) => name));

  change(({ value }) => ({ threshold: 1e6, value }));
  const out = join(folder, 'out.json');
  const passed = await gate('--only', 'exec', '--out', out);
  expect(passed.stderr).toContain('none has regressed');
  expect(passed.code).toBe(0);
  const { gate: results } = JSON.parse(readFileSync(out, 'utf8')) as Report<GateRun>;
  const chosen = gateRows.filter(({ name }) => name.includes('exec'));
  expect(results?.rows.map(({ name, runs }) => [name, runs.successRate])).toEqual(chosen.map(({ name }) => [name, 1]));

  // With 25 rounds, the noise is at most three quarters of the ratio, which is near a million.
  change(({ value }) => ({ threshold: 1.5, value: { ...scale(value, 1e-6), mad: 0 } }));
  const failed = await gate('--only', 'stat (memory)', '--rounds', '25');
  expect(failed.code).toBe(1);
  expect(failed.stderr).toMatch(/\nRegressed\n/);
  expect(failed.stderr).toMatch(/stat \(memory\), shared: regressed: [\d.]+ × its baseline/);
}, 120_000);
