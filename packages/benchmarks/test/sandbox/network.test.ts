// Tests the network command on a row with both sides and on a row of the policy.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command } from '../helpers/command.js';

// A program cannot reach the loopback of the host machine.
const HAS_ADDRESS = Object.values(networkInterfaces())
  .flat()
  .some((one) => one?.family === 'IPv4' && !one.internal);

test.runIf(HAS_ADDRESS)('bench:network measures the sandbox and its floors', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'network-'));
  try {
    for (const [only, floor] of [
      ['the echo of one byte', 'Node'],
      ['one rule', 'ping'],
      ['two runtimes', 'own loopback'],
    ] as const) {
      const out = join(folder, 'out.json');
      const { code } = await command('network', ['--only', only, '--out', out]);
      expect(code).toBe(0);
      const { schema, results } = JSON.parse(readFileSync(out, 'utf8'));
      expect(schema).toBe('coldframe-network/1');
      expect(results).toEqual([expect.objectContaining({ floorName: floor, ratio: expect.any(Number) })]);
      expect(results[0].error).toBeUndefined();
      expect(results[0].sandbox.count).toBe(results[0].floor.count);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
