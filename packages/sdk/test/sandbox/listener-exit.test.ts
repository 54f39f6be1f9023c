// Tests that a wait for a listener ends when the program that was going to listen has ended. The
// waits have a timeout of ten minutes, so a wait that is not ended exceeds the time of its test.

import { describe, expect, test } from 'vitest';
import type { GuestProcess, NodeRuntime } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';
import { codeOf, PORT, tcpServer } from './network-helpers.js';

const timeoutMs = 600_000;
const CRASH = `console.error('first'); throw new Error('no database')`;
/** A program that ends when its stdin ends. */
const WAITING = 'process.stdin.resume()';
const crashed = {
  name: 'ColdframeError',
  code: 'ERR_PROGRAM_EXITED',
  exitCode: 1,
  port: PORT,
  stderr: expect.stringMatching(/^first\n.*Error: no database/s),
};

const wait = (runtime: NodeRuntime, process?: GuestProcess) =>
  runtime.waitForListener({ port: PORT }, process === undefined ? { timeoutMs } : { timeoutMs, process });

/** Returns a promise that settles as `waiting` does, without an unhandled rejection before. */
const kept = <T>(waiting: Promise<T>): Promise<T> => {
  waiting.catch(() => {});
  return waiting;
};

describe.each(MODES)('$name', (mode) => {
  test('the wait ends with the crash of a program before or during the wait', () =>
    withRuntime(mode, {}, async (runtime) => {
      const early = kept(wait(runtime));
      const program = await runtime.spawn(CRASH);
      await expect(early).rejects.toMatchObject({ ...crashed, pid: program.pid });
      await program.wait();
      await expect(wait(runtime)).rejects.toMatchObject({ ...crashed, pid: program.pid });
      await expect(wait(runtime, program)).rejects.toMatchObject({ ...crashed, pid: program.pid });
      await expect(runtime.waitForListener({ path: '/tmp/a.sock' }, { timeoutMs })).rejects.toMatchObject({
        code: 'ERR_PROGRAM_EXITED',
        path: '/tmp/a.sock',
        message: expect.stringMatching(
          /ended with exit code 1 before a process listened at \/tmp\/a\.sock\. Its last output:\nfirst/,
        ),
      });
    }));

  test.each([
    ['spawnCommand()', (runtime: NodeRuntime) => runtime.spawnCommand('sh', ['-c', 'echo first >&2; node crash.mjs'])],
    ['exec()', (runtime: NodeRuntime) => runtime.exec(CRASH)],
    ['execFile()', (runtime: NodeRuntime) => runtime.execFile('crash.mjs')],
    ['execCommand()', (runtime: NodeRuntime) => runtime.execCommand('node', ['crash.mjs'])],
  ])('the wait ends with the crash of a program of %s', (_, start) =>
    withRuntime(mode, { files: { '/workspace/crash.mjs': CRASH } }, async (runtime) => {
      const started = start(runtime);
      await expect(wait(runtime)).rejects.toMatchObject(crashed);
      await started;
    }),
  );

  test('the wait for a program ends with the program, although other programs live', () =>
    withRuntime(mode, {}, async (runtime) => {
      const other = await runtime.spawn(WAITING);
      const program = await runtime.spawn(WAITING);
      const [any, own] = [kept(wait(runtime)), kept(wait(runtime, program))];
      await program.kill('SIGTERM');
      await expect(own).rejects.toMatchObject({ exitCode: 143, signal: 'SIGTERM', pid: program.pid, stderr: '' });
      const ended = await runtime.spawn('');
      await expect(wait(runtime, ended)).rejects.toMatchObject({ exitCode: 0, pid: ended.pid });
      await other.kill('SIGKILL');
      await expect(any).rejects.toMatchObject({ exitCode: 137, signal: 'SIGKILL', pid: other.pid });
    }));

  test('the error has the reason if the sandbox ended the program', () =>
    withRuntime(mode, {}, async (runtime) => {
      const program = await runtime.spawn(`console.error('busy'); for (;;);`, { timeout: 50 });
      const error = await wait(runtime, program).catch((reason: unknown) => reason);
      expect(error).toMatchObject({
        code: 'ERR_PROGRAM_EXITED',
        exitCode: 124,
        reason: 'ERR_TIMEOUT',
        stderr: 'busy',
        cause: { code: 'ERR_TIMEOUT', timeoutMs: 50 },
      });
      expect(error).not.toHaveProperty('signal');
    }));

  test('the output of the program stays readable after the wait', () =>
    withRuntime(mode, {}, async (runtime) => {
      const program = await runtime.spawn(`console.log('out'); ${CRASH}`);
      await expect(wait(runtime, program)).rejects.toMatchObject(crashed);
      const chunks: Uint8Array[] = [];
      for await (const chunk of program.stdout) chunks.push(chunk);
      expect(Buffer.concat(chunks).toString()).toBe('out\n');
    }));

  test('a failure does not end the wait while another process lives or starts', () =>
    withRuntime(mode, {}, async (runtime) => {
      const server = await runtime.spawn(
        `import net from 'node:net'; process.stdin.once('data', () => net.createServer().listen(${PORT}))`,
      );
      const waiting = kept(wait(runtime));
      await (await runtime.spawn(CRASH)).wait();
      await server.writeStdin('go');
      expect(await waiting).toMatchObject({ processId: server.pid });
      await server.kill('SIGKILL');
      await server.wait();
      // The failure of the server is older than the next start, which is why the wait continues.
      const starting = runtime.spawn(tcpServer(''));
      expect(await wait(runtime)).toMatchObject({ processId: (await starting).pid });
    }));

  test('programs that succeeded, and calls that ended before, do not end the wait', () =>
    withRuntime(mode, {}, async (runtime) => {
      expect((await runtime.exec('process.exit(1)')).exitCode).toBe(1);
      const waiting = kept(wait(runtime));
      expect((await (await runtime.spawn('')).wait()) + (await runtime.exec('')).exitCode).toBe(0);
      const server = await runtime.spawn(tcpServer(''));
      expect(await waiting).toMatchObject({ processId: server.pid });
      expect(await wait(runtime, server)).toMatchObject({ processId: server.pid });
    }));

  test('a rollback and the disposal end the wait for their own reason', () =>
    withRuntime(mode, {}, async (runtime) => {
      const snapshot = await runtime.snapshot();
      await (await runtime.spawn(CRASH)).wait();
      await runtime.rollback(snapshot);
      const program = await runtime.spawn(WAITING);
      const rolledBack = codeOf(wait(runtime));
      const alsoRolledBack = codeOf(wait(runtime, program));
      await runtime.processes(); // this request is sent after the requests of the waits
      await runtime.rollback(snapshot);
      expect(await rolledBack).toBe('ERR_ROLLED_BACK');
      expect(await alsoRolledBack).toBe('ERR_ROLLED_BACK');
      const during = runtime.rollback(snapshot);
      const waits = [codeOf(wait(runtime)), codeOf(runtime.waitForListener({ path: '/tmp/a.sock' }, { timeoutMs }))];
      await during;
      expect(await Promise.all(waits)).toEqual(['ERR_ROLLED_BACK', 'ERR_ROLLED_BACK']);
      const disposed = codeOf(wait(runtime));
      await runtime.dispose();
      expect(await disposed).toBe('ERR_RUNTIME_DISPOSED');
    }));
});
