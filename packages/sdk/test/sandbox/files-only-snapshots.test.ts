// Tests snapshots without programs, and the boot id of restored runtimes, in every mode.

import { describe, expect, test } from 'vitest';
import { NodeRuntime } from '../../src/index.js';
import { MODES, withMode, withRuntime } from './modes.js';

const bootId = async (runtime: NodeRuntime) =>
  Buffer.from(await runtime.readFile('/proc/sys/kernel/random/boot_id'))
    .toString()
    .trim();

describe.each(MODES)('$name', (mode) => {
  test('a snapshot without programs has the files, and does not wait for a busy program', () =>
    withMode(mode, async ({ create }) => {
      const runtime = await create({ files: { '/workspace/f': 'x' } });
      await runtime.chmod('/workspace/f', 0o600);
      await runtime.chown('/workspace/f', 'root');
      await runtime.utimes('/workspace/f', 1_000, 2_000);
      const busy = await runtime.spawn(
        `
        import fs from 'node:fs';
        fs.unlinkSync((fs.writeFileSync('/tmp/unnamed', 'y'.repeat(100_000)), fs.openSync('/tmp/unnamed'), '/tmp/unnamed'));
        console.log('ready');
        for (;;);
      `,
        { onStdout: () => {} },
      );
      while ((await runtime.exists('/tmp/unnamed')) || (await runtime.processes()).length === 0)
        await new Promise((resolve) => setTimeout(resolve, 5));
      const began = performance.now();
      const snapshot = await runtime.snapshot({ memory: false, name: 'files' });
      expect(performance.now() - began).toBeLessThan(2_000);
      expect(snapshot.programs).toBe(0);
      await runtime.writeFile('/workspace/f', 'changed');
      const restored = await NodeRuntime.create({ snapshot });
      expect(await restored.processes()).toEqual([]);
      expect(Buffer.from(await restored.readFile('/workspace/f')).toString()).toBe('x');
      expect(await restored.stat('/workspace/f')).toMatchObject({ uid: 0, gid: 0, mode: 0o100600, mtimeMs: 2_000 });
      expect((await restored.exec('console.log(1)')).stdout).toBe('1\n');
      await busy.kill('SIGKILL');
      await restored.dispose();
      await runtime.rollback(snapshot);
      expect(Buffer.from(await runtime.readFile('/workspace/f')).toString()).toBe('x');
      await runtime.dispose();
    }));

  test('the boot id continues with the programs and is new without them', () =>
    withRuntime(mode, {}, async (runtime) => {
      const own = await bootId(runtime);
      expect(own).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect((await runtime.execCommand('cat', ['/proc/sys/kernel/random/boot_id'])).stdout.trim()).toBe(own);
      await runtime.pause();
      await runtime.resume();
      expect(await bootId(runtime)).toBe(own);
      const whole = await NodeRuntime.create({ snapshot: await runtime.snapshot() });
      expect(await bootId(whole)).toBe(own);
      const files = await NodeRuntime.create({ snapshot: await runtime.snapshot({ memory: false }) });
      const other = await bootId(files);
      expect(other).not.toBe(own);
      expect(await bootId(files)).toBe(other);
      const clone = await runtime.clone();
      expect(await bootId(clone)).toBe(own);
      await Promise.all([whole.dispose(), files.dispose(), clone.dispose()]);
    }));
});
