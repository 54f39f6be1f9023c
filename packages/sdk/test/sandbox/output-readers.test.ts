// Tests that output reaches only the readers that asked for it. Output for another request would
// violate the protocol, and would end the connection.

import { describe, expect, test } from 'vitest';
import { MODES, withMode, withRuntime } from './modes.js';

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

  test.each(['lives', 'has ended'])('a slow reader of a restored program that %s receives output beyond the window', (state) =>
    withMode(mode, async ({ create }) => {
      const source = await create();
      const running = source.exec(`
        import fs from 'node:fs';
        process.stdout.write('x'.repeat(900_000));
        fs.writeFileSync('/tmp/written', '');
        while (!fs.existsSync('/tmp/end')) await new Promise((resolve) => setTimeout(resolve, 1));
        console.log('end');`);
      while (!(await source.exists('/tmp/written')));
      const snapshot = await source.snapshot();
      const restored = await create({ snapshot });
      const [entry] = await restored.processes();
      if (state === 'has ended') {
        await restored.writeFile('/tmp/end', '');
        while ((await restored.processes()).length > 0);
      }
      const lengths: number[] = [];
      const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
      const program = await entry?.attach({
        onStdout: async ({ length }) => {
          await turn();
          lengths.push(length);
        },
      });
      await restored.writeFile('/tmp/end', '');
      const { exitCode, stdout } = (await program?.result) ?? {};
      expect([exitCode, stdout?.length, lengths.reduce((sum, length) => sum + length, 0)]).toEqual([0, 900_004, 900_004]);
      await source.writeFile('/tmp/end', '');
      await running;
      await Promise.all([source.dispose(), restored.dispose()]);
    }),
  );
});
