// Tests the resource snapshot of a runtime before, during and after programs, and the warnings
// before a limit.

import { describe, expect, test } from 'vitest';
import type { LimitWarning, NodeRuntime } from '../../src/index.js';
import { MODES, withMode, withRuntime } from './modes.js';

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Reads a value until `isExpected` accepts it, and returns the last value. */
async function eventually<T>(read: () => Promise<T> | T, isExpected: (value: T) => boolean): Promise<T> {
  for (let tries = 0; ; tries++) {
    const value = await read();
    if (isExpected(value) || tries === 200) return value;
    await sleep(25);
  }
}

const BUSY = `
  import fs from 'node:fs';
  import net from 'node:net';
  import { spawn } from 'node:child_process';
  const files = Array.from({ length: 5 }, () => fs.openSync('/etc/hosts'));
  fs.writeFileSync('/tmp/data', Buffer.alloc(100_000));
  const server = net.createServer().listen(0);
  fs.watch('/tmp', () => {});
  const child = spawn('node', ['-e', 'setTimeout(() => {}, 60_000)']);
  child.stdin.write('x'.repeat(1_000));
  setTimeout(() => {}, 60_000);
  const end = Date.now() + 20; while (Date.now() < end);
  console.log('ready');`;

describe.each(MODES)('$name', (mode) => {
  test('a resource snapshot shows the use of programs during and after their run', () =>
    withRuntime(mode, { limits: { sockets: 7 } }, async (runtime) => {
      const before = await runtime.getResourceSnapshot();
      const none = { processes: 0, descriptors: 0, pipes: 0, sockets: 0, watches: 0, operations: 0, timers: 0, bufferedBytes: 0 };
      expect(before).toMatchObject({ ...none, memoryBytes: 0, filesystemBytes: 0, inodes: 0, cpuMs: 0 });
      expect(before.limits.sockets).toEqual({ used: 0, high: 0, max: 7 });

      let ready = () => {};
      const begun = new Promise<void>((resolve) => {
        ready = resolve;
      });
      const busy = await runtime.spawn(BUSY, { onStdout: () => ready() });
      await begun;
      const during = await eventually(
        () => runtime.getResourceSnapshot(),
        ({ timers }) => timers >= 2,
      );
      expect(during).toMatchObject({ processes: 2, sockets: 1, watches: 1, inodes: 1, filesystemBytes: 100_000, timers: 2 });
      expect(during.pipes).toBe(4); // three for the child, and one for the program's own stdin
      expect(during.descriptors).toBeGreaterThanOrEqual(3 + 5 + 1 + 3 + 3);
      expect(during.bufferedBytes).toBeGreaterThanOrEqual(1_000);
      expect(during.cpuMs).toBeGreaterThan(0);
      expect(during.memoryBytes).toBeGreaterThan(during.limits.memoryBytes.used);
      expect(during.limits.totalMemoryBytes.used).toBe(during.memoryBytes);
      expect(during.limits.descriptors.used).toBeLessThan(during.descriptors);
      expect(during.sidecar.processes).toBe(2);

      await busy.kill();
      await busy.wait();
      const after = await eventually(
        () => runtime.getResourceSnapshot(),
        ({ processes, memoryBytes }) => processes + memoryBytes === 0,
      );
      expect(after).toMatchObject({ ...none, memoryBytes: 0, filesystemBytes: 100_000, inodes: 1 });
      for (const { used, high, max } of Object.values(after.limits)) {
        expect(used).toBeLessThanOrEqual(high);
        // 0 means no limit.
        if (max > 0) expect(high).toBeLessThanOrEqual(max);
      }
      expect(after.limits).toMatchObject({
        processes: { high: 2 },
        pipes: { high: 4 },
        sockets: { high: 1 },
        watches: { high: 1 },
      });
      expect(after.limits.descriptors.high).toBe(during.limits.descriptors.high);
      expect(after.limits.memoryBytes.high).toBeGreaterThanOrEqual(during.limits.memoryBytes.used);
      expect(after.cpuMs).toBeGreaterThanOrEqual(during.cpuMs);
    }));

  test('each runtime counts its own use', () =>
    withMode(mode, async (provisioning) => {
      const [one, other] = await Promise.all([provisioning.create(), provisioning.create()]);
      await one.exec(`import fs from 'node:fs'; fs.writeFileSync('a', 'xyz')`);
      expect((await one.getResourceSnapshot()).filesystemBytes).toBe(3);
      expect((await other.getResourceSnapshot()).filesystemBytes).toBe(0);
      await Promise.all([one.dispose(), other.dispose()]);
    }));

  const warned = async (limits: object, work: (runtime: NodeRuntime) => Promise<unknown>, count = 1): Promise<LimitWarning[]> => {
    const warnings: LimitWarning[] = [];
    await withRuntime(mode, { limits, onLimitWarning: (warning) => warnings.push(warning) }, async (runtime) => {
      await work(runtime);
      await eventually(
        () => warnings,
        ({ length }) => length >= count,
      );
    });
    return warnings;
  };

  test('warns once for a limit until the use has fallen', async () => {
    const code = `
      import fs from 'node:fs';
      for (let n = 0; n < 10; n++) fs.writeFileSync('/tmp/' + n, 'x'.repeat(1_000));
      for (let n = 0; n < 5; n++) fs.rmSync('/tmp/' + n);
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      for (let n = 0; n < 5; n++) fs.writeFileSync('/tmp/' + n, 'x'.repeat(1_000));`;
    const warnings = await warned({ filesystemBytes: 10_000 }, (runtime) => runtime.exec(code), 2);
    const warning = { limit: 'filesystemBytes', used: 8_000, max: 10_000 };
    expect(warnings).toEqual([warning, warning]);
  });

  test('a warning of a limit of each process has the pid', async () => {
    let pid = 0;
    const warnings = await warned(
      { descriptors: 10, cpuMs: 400 },
      async (runtime) => {
        const child = await runtime.spawn(`
        import fs from 'node:fs'; for (let n = 0; n < 7; n++) fs.openSync('/etc/hosts');
        for (;;);`);
        pid = child.pid;
        await child.wait();
      },
      2,
    );
    expect(warnings[0]).toEqual({ limit: 'descriptors', used: 8, max: 10, pid });
    expect(warnings[1]).toMatchObject({ limit: 'cpuMs', max: 400, pid });
  });

  test('warns about files of the app, and an error of the listener is an uncaught exception', () =>
    withMode(mode, async (provisioning) => {
      const thrown = new Error('not today');
      const others = process.listeners('uncaughtException');
      process.removeAllListeners('uncaughtException');
      const uncaught = new Promise((resolve) => process.once('uncaughtException', resolve));
      try {
        const runtime = await provisioning.create({
          limits: { inodes: 5 },
          onLimitWarning: () => {
            throw thrown;
          },
        });
        for (let n = 0; n < 4; n++) await runtime.writeFile(`/tmp/${n}`, '');
        expect(await uncaught).toBe(thrown);
        expect((await runtime.exec('console.log(1)')).stdout).toBe('1\n');
        await runtime.dispose();
      } finally {
        process.removeAllListeners('uncaughtException');
        for (const other of others) process.on('uncaughtException', other);
      }
    }));
});
