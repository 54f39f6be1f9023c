// Runs the examples for Python: the agent with a model that is a list of cells, and the pipeline.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pythonDir } from '../../../../packages/python/dist/index.js';
import { analyse } from '../../analysis.mjs';
import { runPipeline } from '../../pipeline.mjs';

const isBuilt = pythonDir() !== undefined;

describe.skipIf(!isBuilt)('the examples for Python', () => {
  test('the agent sees values, output and errors, and cannot change the data', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'analysis-'));
    try {
      writeFileSync(join(folder, 'sales.csv'), 'region,amount\nnorth,10\nsouth,25\nnorth,7\n');
      const cells = [
        'import csv\nfrom collections import Counter\nrows = list(csv.DictReader(open("sales.csv")))\nlen(rows)',
        'total = Counter()\nfor row in rows:\n    total[row["region"]] += int(row["amount"])\nprint(total["north"])',
        'rows[9]',
        'open("sales.csv", "w")',
      ];
      const model = async (messages) => {
        const code = cells[(messages.length - 1) / 2];
        return code === undefined ? { answer: `south: ${messages.length}` } : { code };
      };
      const { answer, messages } = await analyse('Which region sold the most?', { model, folder });
      expect(answer).toBe('south: 9');
      const replies = messages.filter(({ role }) => role === 'tool');
      expect(replies.slice(0, 2)).toEqual([
        { role: 'tool', value: '3', html: [] },
        { role: 'tool', output: '17\n', html: [] },
      ]);
      expect(replies[2].failure).toContain('IndexError: list index out of range');
      expect(replies[3].failure).toContain('Read-only file system');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('the pipeline passes data from Node to Python and back', async () => {
    expect(await runPipeline()).toEqual(['book 12.00', 'pen 7.50', 'ink 1.00']);
  });
});
