// What a runtime has computed, across snapshots and rollbacks.

import { describe, expect, test } from 'vitest';
import { MODES, withRuntime } from './modes.js';
import { inFolderOfItsOwn, until } from './snapshot-helpers.js';

inFolderOfItsOwn();

const CHILD = "for (let n = 0; n < 1e7; n++); console.log('burnt'); setInterval(() => {}, 100000);";
const PARENT = `
  import { spawn } from 'node:child_process';
  const child = spawn('node', ['-e', ${JSON.stringify(CHILD)}]);
  child.stdout.pipe(process.stdout);
`;

describe.each(MODES)('$name', (mode) => {
  test('CPU time goes on where it was after a rollback, and a child is charged to its root once', () =>
    withRuntime(mode, {}, async (runtime) => {
      let written = '';
      await runtime.spawn(PARENT, {
        onStdout: (bytes) => {
          written += Buffer.from(bytes).toString();
        },
      });
      await until(() => written === 'burnt\n');
      const before = await runtime.getResourceSnapshot();
      expect(before.limits.cpuMs.used).toBeGreaterThan(0);
      for (let round = 0; round < 8; round++) await runtime.rollback(await runtime.snapshot());
      const after = await runtime.getResourceSnapshot();
      expect(after.processes).toBe(2);
      expect(after.limits.cpuMs.used).toBeLessThan(2 * before.limits.cpuMs.used);
      expect(after.cpuMs).toBeGreaterThanOrEqual(before.cpuMs);
    }));
});
