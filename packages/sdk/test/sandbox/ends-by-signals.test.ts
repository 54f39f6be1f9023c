// Tests that the results of an exit and of an end by a signal differ.

import { describe, expect, test } from 'vitest';
import { MODES, withRuntime } from './modes.js';

describe.each(MODES)('$name', (mode) => {
  test('an exit code and a signal differ, also through the shell', () =>
    withRuntime(mode, {}, async (runtime) => {
      const kill = 'process.kill(process.pid, "SIGKILL")';
      expect(await runtime.exec('process.exit(137)')).toMatchObject({ exitCode: 137, signal: null });
      expect(await runtime.exec(kill)).toMatchObject({ exitCode: 137, signal: 'SIGKILL' });
      const sh = (line: string) => runtime.execCommand('sh', ['-c', line]);
      expect(await sh('exit 137')).toMatchObject({ exitCode: 137, signal: null });
      expect(await sh('kill -9 $$')).toMatchObject({ exitCode: 137, signal: 'SIGKILL' });
      expect(await sh('kill -TERM $$')).toMatchObject({ exitCode: 143, signal: 'SIGTERM' });
      expect(await sh(`node -e '${kill}'`)).toMatchObject({ exitCode: 137, signal: 'SIGKILL' });
      expect(await sh(`node -e '${kill}'; exit $?`)).toMatchObject({ exitCode: 137, signal: null });
      const spawned = await runtime.spawnCommand('sleep', ['100']);
      expect(spawned.signal).toBeUndefined();
      await spawned.kill();
      expect([await spawned.wait(), spawned.exitCode, spawned.signal]).toEqual([143, 143, 'SIGTERM']);
      expect(JSON.parse(JSON.stringify(spawned))).toEqual({ pid: spawned.pid, exitCode: 143, signal: 'SIGTERM' });
    }));

  test('a program that the sandbox ends has a signal, and an interrupted evaluation has none', () =>
    withRuntime(mode, { limits: { memoryBytes: 67_108_864 } }, async (runtime) => {
      expect(await runtime.exec('while (true);', { timeout: 100 })).toMatchObject({ exitCode: 124, signal: 'SIGKILL' });
      const fill = 'const all = []; for (;;) all.push(new Array(1_000).fill({}))';
      expect(await runtime.exec(fill)).toMatchObject({ exitCode: 134, signal: 'SIGABRT' });
      const runner = await runtime.createResidentRunner();
      expect(await runner.exec('await new Promise((resolve) => setTimeout(resolve, 60_000))', { timeout: 100 })).toMatchObject({
        exitCode: 124,
        signal: null,
      });
      expect(await runner.exec('process.exit(137)')).toMatchObject({ exitCode: 137, signal: null });
      const other = await runtime.createResidentRunner();
      expect(await other.exec('process.kill(process.pid, "SIGUSR1")')).toMatchObject({ exitCode: 138, signal: 'SIGUSR1' });
      const failed = runtime.exec('process.kill(process.pid)', { throwOnError: true });
      await expect(failed).rejects.toMatchObject({ code: 'ERR_PROGRAM_FAILED', exitCode: 143, signal: 'SIGTERM' });
    }));
});
