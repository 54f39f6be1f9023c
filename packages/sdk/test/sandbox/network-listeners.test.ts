// Tests waits for listening guests in every mode: waits before and after the listener starts,
// timeouts, signals, and the listening process.

import { describe, expect, test } from 'vitest';
import { MODES, withMode, withRuntime } from './modes.js';
import { codeOf, PORT, serve, tcpServer } from './network-helpers.js';

describe.each(MODES)('$name', (mode) => {
  test('a wait ends when a guest starts to listen, and at once when the guest listens already', () =>
    withRuntime(mode, {}, async (runtime) => {
      const [first, again, other] = [1, 2, 3].map((n) => runtime.waitForListener({ port: n === 3 ? 4000 : PORT }));
      expect(await runtime.findListener({ port: PORT })).toBeUndefined();
      const server = await runtime.spawn(
        `${tcpServer('')}; process.stdin.once('data', () => net.createServer().listen(4000, '127.0.0.1'))`,
      );
      const found = { processId: server.pid, host: '::', port: PORT };
      expect([await first, await again]).toEqual([found, found]);
      expect(await runtime.waitForListener({ port: PORT, host: '127.0.0.1' })).toEqual(found);
      await server.writeStdin('now');
      expect(await other).toEqual({ processId: server.pid, host: '127.0.0.1', port: 4000 });
      expect(await runtime.findListener({ port: 4000 })).toEqual(await other);
      expect(await runtime.findListener({ port: 4000, host: '::1' })).toBeUndefined();
      expect((await runtime.listeners()).map(({ port }) => port)).toEqual([PORT, 4000]);
      await server.kill('SIGKILL');
      await server.wait();
      expect(await runtime.listeners()).toEqual([]);
    }));

  test('a wait without a listener ends by its timeout, its signal and with the runtime', () =>
    withMode(mode, async (provisioning) => {
      const runtime = await provisioning.create();
      await expect(runtime.waitForListener({ port: 5 }, { timeoutMs: 30 })).rejects.toMatchObject({
        code: 'ERR_LISTENER_TIMEOUT',
        timeoutMs: 30,
        port: 5,
      });
      const controller = new AbortController();
      const aborted = runtime.waitForListener({ path: '/tmp/x' }, { signal: controller.signal });
      controller.abort('enough');
      await expect(aborted).rejects.toBe('enough');
      await expect(runtime.waitForListener({ port: 5 }, { signal: AbortSignal.abort('before') })).rejects.toBe('before');
      // The aborted waits are removed, so a later listener does not resolve them.
      await serve(runtime, tcpServer('', 5), 5);
      const disposed = codeOf(runtime.waitForListener({ port: 6 }));
      await runtime.dispose();
      expect(await disposed).toBe('ERR_RUNTIME_DISPOSED');
      expect(await codeOf(runtime.waitForListener({ port: 5 }))).toBe('ERR_RUNTIME_DISPOSED');
    }));

  test('reports a listening child as the listening process', () =>
    withRuntime(mode, {}, async (runtime) => {
      const parent = await runtime.spawn(`
        import { spawn } from 'node:child_process';
        spawn('node', ['-e', 'require("http").createServer((q, r) => r.end("child")).listen(${PORT})']);`);
      const { processId } = await runtime.waitForListener({ port: PORT });
      const child = (await runtime.processes()).find(({ ppid }) => ppid === parent.pid);
      expect(processId).toBe(child?.pid);
      expect((await runtime.fetch(PORT)).body).toBe('child');
    }));

  test('refuses wrong targets', () =>
    withRuntime(mode, {}, async (runtime) => {
      const option = (target: object) =>
        runtime.findListener(target).then(
          () => 'no error',
          (error) => error.option,
        );
      expect(await option({})).toBe('target');
      expect(await option({ port: 1, path: '/a' })).toBe('target');
      expect(await option({ port: 0 })).toBe('port');
      expect(await option({ port: 1, host: '10.0.0.1' })).toBe('host');
      expect(await option({ path: 'relative' })).toBe('path');
      expect(await option({ ports: 1 })).toBe('ports');
      expect(() => runtime.connect({ port: 70_000 })).toThrow('port');
      expect(await codeOf(runtime.fetch(PORT, { path: 'x' }))).toBe('ERR_INVALID_OPTION');
      expect(await codeOf(runtime.fetch(PORT, { headers: { 'bad name': 'x' } }))).toBe('ERR_INVALID_OPTION');
      await expect(runtime.fetch(PORT, { timeout: 3 } as object)).rejects.toThrow('timeoutMs');
    }));
});
