// Tests the processor time of a runtime across snapshots and rollbacks.

import { describe, expect, test } from 'vitest';
import { MODES, withRuntime } from './modes.js';
import { until, usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();

const CHILD = "for (let n = 0; n < 1e7; n++); console.log('computed'); setInterval(() => {}, 100000);";
const PARENT = `
  import { spawn } from 'node:child_process';
  const child = spawn('node', ['-e', ${JSON.stringify(CHILD)}]);
  child.stdout.pipe(process.stdout);
`;

describe.each(MODES)('$name', (mode) => {
  test('a rollback restores CPU time, and a child is charged to its root program once', () =>
    withRuntime(mode, {}, async (runtime) => {
      let written = '';
      await runtime.spawn(PARENT, {
        onStdout: (bytes) => {
          written += Buffer.from(bytes).toString();
        },
      });
      await until(() => written === 'computed\n');
      const before = await runtime.getResourceSnapshot();
      expect(before.limits.cpuMs.used).toBeGreaterThan(0);
      for (let round = 0; round < 8; round++) await runtime.rollback(await runtime.snapshot());
      const after = await runtime.getResourceSnapshot();
      expect(after.processes).toBe(2);
      expect(after.limits.cpuMs.used).toBeLessThan(2 * before.limits.cpuMs.used);
      expect(after.cpuMs).toBeGreaterThanOrEqual(before.cpuMs);
    }));
});
