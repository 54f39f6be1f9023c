// Tests the lifecycle command on real sandboxes, with the sizes of the form `--quick`.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LifecycleRun } from '../../src/lifecycle/benchmark.js';
import { OPERATION_NAMES } from '../../src/lifecycle/operations/index.js';
import { planRows } from '../../src/lifecycle/plan.js';
import type { Report } from '../../src/suite/report.js';
import { command } from '../helpers/command.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coldframe-bench-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('measures every operation with right copies, and leaves nothing behind', async () => {
  const [out, page] = [join(folder, 'out.json'), join(folder, 'page.html')];
  const { code, stdout, stderr } = await command('lifecycle', ['--quick', '--directory', folder, '--out', out, '--report', page]);
  const report = JSON.parse(readFileSync(out, 'utf8')) as Report<LifecycleRun>;
  expect(report.skipped).toEqual([]);
  expect(report.rows.map(({ operation, runs, notes }) => ({ operation, failures: runs.failures, notes }))).toEqual(
    planRows(OPERATION_NAMES, true).map(({ operation }) => ({ operation, failures: {}, notes: [] })),
  );
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  // In memory and in files, a snapshot reports the written bytes and little more.
  for (const asked of [2, 3]) {
    const dirty = report.rows.find(({ operation, megabytes }) => operation === 'snapshot' && megabytes === asked);
    expect(dirty?.facts['actual dirty MB']?.min).toBeGreaterThan(asked);
    expect(dirty?.facts['actual dirty MB']?.max).toBeLessThan(asked + 4);
  }
  expect(report.soak).toMatchObject({ cycles: 20, right: 20, left: { runtimes: 0, processes: 0, descriptors: 0, files: 0 } });
  expect(stderr).toContain('Published by others');
  expect(readFileSync(page, 'utf8')).not.toMatch(/NaN|undefined/);
  expect(readdirSync(folder).sort()).toEqual(['out.json', 'page.html']);
}, 120_000);

test('ends the command with one line for a wrong flag', async () => {
  const { code, stdout, stderr } = await command('lifecycle', ['--only', 'snapshot,fork']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toBe(`--only: expected names out of ${OPERATION_NAMES.join(', ')}, got "fork"\n`);
});
