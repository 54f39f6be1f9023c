// Tests the peers command: peers that need no package are measured, and a package that cannot be
// installed is a row with the reason. The command runs with an `npm` that fails.

import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PeerRun } from '../../src/peers/benchmark.js';
import type { Report } from '../../src/suite/report.js';
import { command } from '../helpers/command.js';

test('bench:peers measures what is there, and names what is missing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'coldframe-bench-'));
  try {
    writeFileSync(join(folder, 'npm'), '#!/bin/sh\necho "npm error no network here" >&2\nexit 1\n');
    chmodSync(join(folder, 'npm'), 0o755);
    const [out, page] = [join(folder, 'out.json'), join(folder, 'page.html')];
    const chosen = ['--only', 'coldframe,node process,worker,vm', '--cache', join(folder, 'cache')];
    const { code, stderr } = await command('peers', ['--quick', ...chosen, '--out', out, '--report', page], {
      PATH: `${folder}:${process.env['PATH']}`,
    });
    const { peers, skipped } = JSON.parse(readFileSync(out, 'utf8')) as Report<PeerRun>;
    expect(skipped).toEqual([]);
    expect(peers?.results.map(({ name, error }) => [name, error])).toEqual([
      ['coldframe owned', undefined],
      ['coldframe shared', undefined],
      ['coldframe resident', undefined],
      ['coldframe embedded', undefined],
      ['node process', undefined],
      ['worker thread', undefined],
      ['node:vm', undefined],
      ['isolated-vm', 'not installed: no network here'],
      ['workerd process', 'not installed: no network here'],
    ]);
    for (const { name, cold, warm, computations, memory, runs, error } of peers?.results ?? []) {
      const figures = [cold, warm, computations.calls, computations.objects, memory];
      expect({ name, has: figures.map((each) => each !== null) }).toEqual({ name, has: figures.map(() => error === undefined) });
      expect({ name, failures: runs.failures }).toEqual({ name, failures: {} });
    }
    expect(code).toBe(0);
    expect(stderr).toContain('Peers without figures');
    expect(readFileSync(page, 'utf8')).not.toMatch(/NaN|undefined/);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 120_000);
