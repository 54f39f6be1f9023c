// Tests the cold-start command on real sandboxes, and the comparison of two runs of the command.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ColdstartRun } from '../../src/coldstart/benchmark.js';
import type { Report } from '../../src/suite/report.js';
import { command } from '../helpers/command.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coldframe-bench-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SMALL = { BENCH_BATCH_SIZES: '1,4', BENCH_ITERATIONS: '3', BENCH_DENSITY: '40', BENCH_FLOOR_SAMPLES: '4' };

test('measures every scenario right, with JSON on stdout, the page on disk and progress on stderr', async () => {
  const page = join(folder, 'report.html');
  const { code, stdout, stderr } = await command('coldstart', ['--report', page], SMALL);
  const report = JSON.parse(stdout) as Report<ColdstartRun>;
  expect(report.skipped).toEqual([]);
  expect(code).toBe(0);
  expect(report.results).toHaveLength(5 * 2 * 2);
  for (const row of report.results) {
    expect(row.runs).toMatchObject({ total: 2 * 3 * row.batchSize, right: 2 * 3 * row.batchSize });
    expect(row.coldStart?.p50).toBeGreaterThan(0);
    expect(row.warmStart?.p50).toBeGreaterThan(0);
    expect(Object.keys(row.phases)).toEqual(
      expect.arrayContaining(['vm_create', 'runtime_create_total', 'guest_start', 'guest_run']),
    );
  }
  const owned = report.results.find((row) => row.scenario === 'owned-sidecar');
  expect(Object.keys(owned?.phases ?? {})).toEqual(expect.arrayContaining(['sidecar_spawn', 'session_open', 'first_exec']));
  const resident = report.results.find((row) => row.scenario === 'resident-runner');
  expect(Object.keys(resident?.phases ?? {})).toEqual(expect.arrayContaining(['resident_runner_create', 'resident_first_exec']));
  expect(Object.keys(report.floors)).toEqual(['bin_true', 'node_e_pinned', 'node_e_host', 'worker_threads', 'socket_ping']);
  expect(Object.values(report.floors).map(({ successRate }) => successRate)).toEqual([1, 1, 1, 1, 1]);
  expect(report.targets.filter(({ verdict }) => verdict === 'unmeasured')).toEqual([]);
  expect(report.starts.map((row) => ('error' in row ? row.error : row.successRate))).toEqual([1, 1, 1, 1, 1, 1]);
  expect(report.density).toMatchObject([
    { kind: 'runtime', live: 40, successRate: 1 },
    { kind: 'resident-runner', live: 40, successRate: 1 },
  ]);
  expect(stderr).toContain('[20/20] ETA');
  expect(stderr).toContain('Targets');
  expect(readFileSync(page, 'utf8')).not.toMatch(/NaN|undefined/);
}, 120_000);

test('ends the command with one line for a wrong variable', async () => {
  const { code, stdout, stderr } = await command('coldstart', [], { BENCH_WARMUP: 'x' });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toBe('BENCH_WARMUP: expected a whole number from 0 to 1000, got "x"\n');
});

test('compares two runs in a table, and fails only when a given limit is exceeded', async () => {
  const [a, b] = [join(folder, 'a.json'), join(folder, 'b.json')];
  const few = { ...SMALL, BENCH_SCENARIOS: 'shared-sidecar', BENCH_BATCH_SIZES: '2', BENCH_DENSITY: '0' };
  await command('coldstart', ['--out', a], few);
  await command('coldstart', ['--out', b], few);
  const { code, stdout } = await command('compare', [a, b]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^row \(ms, unless it says KiB\) +A p50 +B p50 +B \/ A +± +verdict\n/);
  expect(stdout).toMatch(/shared-sidecar sequential 2 cold +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+ +(faster|slower|same)\n/);
  expect((await command('compare', [a, b, '--fail-above', '0.001'])).code).toBe(1);
  expect((await command('compare', [a, b, '--fail-above', '1000'])).code).toBe(0);
  expect((await command('compare', [a])).stderr).toContain('expected 2 arguments besides flags, got 1');
}, 120_000);
