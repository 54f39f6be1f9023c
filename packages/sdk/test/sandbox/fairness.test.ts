// Runs guests with endless loops. Programs of other runtimes must run in time, and `dispose()` must
// end all guests.

import { describe, expect, test } from 'vitest';
import { MODES, withMode } from './modes.js';

const SPINNERS = 8;
const ROUNDS = 15;
/** The CPU time after which a loop ends. A load of the machine slows the loops too. */
const LOOP_CPU_MS = 1_000;

describe.each(MODES.filter(({ name }) => name !== 'owned'))('$name', (mode) => {
  test(`${ROUNDS} programs end before ${SPINNERS} loops have computed for ${LOOP_CPU_MS} ms, and dispose() ends the loops`, () =>
    withMode(mode, async (provisioning) => {
      const quiet = await provisioning.create();
      const limits = { cpuMs: LOOP_CPU_MS };
      const spinning = await Promise.all(Array.from({ length: SPINNERS }, () => provisioning.create({ limits })));
      const endless = spinning.map((runtime) => runtime.exec('while (true);'));
      for (let round = 0; round < ROUNDS; round++) expect((await quiet.exec('console.log(1)')).stdout).toBe('1\n');
      await Promise.all(spinning.map((runtime) => runtime.dispose()));
      const results = await Promise.all(endless);
      expect(results.map(({ exitCode, error }) => [exitCode, error?.code])).toEqual(
        results.map(() => [137, 'ERR_RUNTIME_DISPOSED']),
      );
      expect((await quiet.exec('console.log(1)')).stdout).toBe('1\n');
      expect((await quiet.getResourceSnapshot()).sidecar.processes).toBe(0);
      await quiet.dispose();
    }));

  test('all guests make progress when each has an endless loop', () =>
    withMode(mode, async (provisioning) => {
      const runtimes = await Promise.all(Array.from({ length: SPINNERS }, () => provisioning.create()));
      const counts = runtimes.map(() => 0);
      const controller = new AbortController();
      const code = 'for (;;) { const end = Date.now() + 5; while (Date.now() < end); process.stdout.write("."); }';
      const running = runtimes.map((runtime, i) => {
        const onStdout = (chunk: Uint8Array): void => {
          counts[i] = (counts[i] ?? 0) + chunk.length;
        };
        return runtime.exec(code, { signal: controller.signal, onStdout }).catch((reason: unknown) => reason);
      });
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      controller.abort('enough');
      expect(await Promise.all(running)).toEqual(runtimes.map(() => 'enough'));
      await Promise.all(runtimes.map((runtime) => runtime.dispose()));
      const least = Math.min(...counts);
      const most = Math.max(...counts);
      expect(least, `steps made: ${counts}`).toBeGreaterThan(most / 4);
    }));
});
