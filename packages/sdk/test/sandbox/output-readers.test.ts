// Tests that output reaches only the readers that asked for it. Output for another request would
// violate the protocol, and would end the connection.

import { describe, expect, test } from 'vitest';
import { MODES, withRuntime } from './modes.js';

// The child waits for a file, writes, and runs on until another file exists.
const WRITER = `
  const fs = require('node:fs');
  while (!fs.existsSync('/tmp/begin'));
  fs.writeSync(1, 'late');
  fs.writeFileSync('/tmp/written', '');
  while (!fs.existsSync('/tmp/end'));`;

describe.each(MODES)('$name', (mode) => {
  test('output of a child that outlives its streamed evaluation is captured by the next evaluation', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      const streamed: Uint8Array[] = [];
      await runner.exec(
        `const { spawn } = await import('node:child_process');
        spawn(process.execPath, ['-e', ${JSON.stringify(WRITER)}], { stdio: 'inherit' }).unref();`,
        { onStdout: (chunk) => void streamed.push(chunk) },
      );
      await runtime.writeFile('/tmp/begin', '');
      while (!(await runtime.exists('/tmp/written')));
      expect((await runner.exec('globalThis.n = 1')).stdout).toBe('late');
      expect(streamed).toEqual([]);
      await runtime.writeFile('/tmp/end', '');
      expect((await runner.exec('console.log(n)')).stdout).toBe('1\n');
    }));
});
