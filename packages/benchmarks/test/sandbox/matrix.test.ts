// Tests the matrix command on real sandboxes, with some operations of each group.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { MatrixRun } from '../../src/matrix/benchmark.js';
import type { Report } from '../../src/suite/report.js';
import { command } from '../helpers/command.js';
import { isWellNested } from '../helpers/markup.js';

test('bench:matrix measures operations in each mode and in Node', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'coldframe-bench-'));
  try {
    const [out, page] = [join(folder, 'out.json'), join(folder, 'page.html')];
    const chosen = 'execFile,stdin,fetch,readFile,binding,stat (';
    const { code, stderr } = await command('matrix', ['--quick', '--only', chosen, '--out', out, '--report', page]);
    const { rows, skipped } = JSON.parse(readFileSync(out, 'utf8')) as Report<MatrixRun>;
    expect(skipped).toEqual([]);
    expect(rows.map(({ operation }) => operation)).toEqual([
      'execFile',
      'a line to stdin and back',
      'fetch',
      'readFile 4 KiB',
      'binding',
      'stat (memory)',
      'stat (mount)',
      'stat (app fs)',
    ]);
    for (const { operation, cells, notes } of rows) {
      expect({ operation, notes }).toEqual({ operation, notes: [] });
      expect([...new Set(cells.map(({ side }) => side))]).toEqual(['owned', 'shared', 'resident', 'embedded', 'node']);
      expect(cells).toHaveLength(5 * 3);
      expect(cells.filter(({ runs, statistics }) => runs.right < runs.total || statistics === null)).toEqual([]);
    }
    expect(code).toBe(0);
    expect(stderr).toContain('[8/8] ETA');
    expect(stderr).toContain('resident / node');
    const text = readFileSync(page, 'utf8');
    expect(text).not.toMatch(/NaN|undefined/);
    expect(isWellNested(text)).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 120_000);
