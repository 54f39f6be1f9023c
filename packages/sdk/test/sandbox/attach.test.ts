// Tests further handles of programs in every mode: their output, their loss of output, their end,
// and the input through each handle.

import { describe, expect, test } from 'vitest';
import type { GuestProcess, NodeRuntime } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';
import { codeOf } from './network-helpers.js';
import { until, usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();

const ECHO = `process.stdin.on('data', (data) => process.stdout.write('got ' + data));
  process.stdin.on('end', () => process.exit(6));`;

/** Returns options with a handler that keeps the output, and a function that returns its text. */
function keeping() {
  let text = '';
  const onStdout = (chunk: Uint8Array): void => {
    text += Buffer.from(chunk).toString();
  };
  return { text: () => text, options: { onStdout } };
}

describe.each(MODES)('$name', (mode) => {
  test('every handle receives later output and the end, and can write input', () =>
    withRuntime(mode, {}, async (runtime) => {
      const [first, second, third] = [keeping(), keeping(), keeping()];
      const program = await runtime.spawn(`console.log('early'); ${ECHO}`, first.options);
      await until(() => first.text() === 'early\n');
      const attached = await runtime.attach(program.pid, second.options);
      expect(attached.pid).toBe(program.pid);
      await attached.writeStdin('one ');
      await until(() => second.text() === 'got one ');
      const [entry] = await runtime.processes();
      const late = (await entry?.attach(third.options)) as GuestProcess;
      await program.writeStdin('two ');
      await until(() => third.text() === 'got two ');
      await late.closeStdin();
      expect(await Promise.all([program.wait(), attached.wait(), late.wait()])).toEqual([6, 6, 6]);
      expect([first.text(), second.text(), third.text()]).toEqual(['early\ngot one got two ', 'got one got two ', 'got two ']);
      expect(await program.result).toMatchObject({ stdout: 'early\ngot one got two ' });
      expect(await attached.result).toMatchObject({ exitCode: 6, signal: null, stdout: '' });
      expect([await attached.kill(), await codeOf(attached.writeStdin('x'))]).toEqual([false, 'EPIPE']);
    }));

  test('a handle that does not read loses output, and the program continues', () =>
    withRuntime(mode, {}, async (runtime) => {
      const program = await runtime.spawn(
        `process.stdin.once('data', () => { process.stdout.write('x'.repeat(3_000_000)); process.exit(); })`,
      );
      const lost: number[] = [];
      const unread = await runtime.attach(program.pid, { onLost: (bytes) => lost.push(bytes) });
      const quick = keeping();
      const reader = await runtime.attach(program.pid, quick.options);
      await program.writeStdin('go');
      expect(await program.wait()).toBe(0);
      expect((await program.result).stdout.length).toBeGreaterThan(900_000);
      await reader.wait();
      expect(quick.text().length + reader.lostBytes).toBe(3_000_000);
      let read = 0;
      for await (const chunk of unread.stdout) read += chunk.length;
      await unread.wait();
      expect(unread.lostBytes).toBeGreaterThan(2_000_000);
      expect([read + unread.lostBytes, lost.reduce((sum, bytes) => sum + bytes, 0)]).toEqual([3_000_000, unread.lostBytes]);
    }));

  test('detach() and an aborted signal leave the program running', () =>
    withRuntime(mode, {}, async (runtime) => {
      const output = keeping();
      const program = await runtime.spawn(ECHO);
      const controller = new AbortController();
      const [one, two] = [
        await runtime.attach(program.pid, output.options),
        await runtime.attach(program.pid, { signal: controller.signal }),
      ];
      one.detach();
      one.detach();
      await expect(one.wait()).rejects.toMatchObject({ code: 'ERR_DETACHED', pid: program.pid });
      controller.abort(new Error('enough'));
      await expect(two.result).rejects.toThrow('enough');
      await one.writeStdin('x');
      program.detach();
      await expect(program.result).rejects.toMatchObject({ code: 'ERR_DETACHED' });
      const last = await runtime.attach(program.pid);
      await last.closeStdin();
      expect([await last.wait(), output.text()]).toEqual([6, '']);
    }));

  test('the end of a program is kept, also of a program without a handle', () =>
    withRuntime(mode, {}, async (runtime) => {
      const program = await runtime.spawn('process.kill(process.pid, "SIGKILL")');
      await program.wait();
      const ended = await runtime.attach(program.pid);
      expect([await ended.wait(), ended.signal, (await ended.result).stdout]).toEqual([137, 'SIGKILL', '']);
      const running = runtime.exec('setTimeout(() => process.exit(9), 100)');
      await until(async () => (await runtime.processes()).length > 0);
      const [entry] = await runtime.processes();
      expect((await running).exitCode).toBe(9);
      expect(await (await entry?.attach())?.wait()).toBe(9);
      expect(await codeOf(runtime.attach(4_000_000))).toBe('ESRCH');
      for (let count = 0; count < 64; count++) await runtime.exec('');
      expect(await codeOf(runtime.attach(program.pid))).toBe('ESRCH');
    }));

  test('children, runners and wrong arguments are refused, and a program without stdin takes no input', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      expect(await codeOf(runtime.attach(runner.pid))).toBe('EPERM');
      expect(await codeOf(runtime.attach(0))).toBe('ERR_INVALID_OPTION');
      const running = runtime.execCommand('sh', ['-c', 'node -e "setInterval(() => {}, 1_000)"; true']);
      await until(async () => (await runtime.processes()).length === 3);
      const child = (await runtime.processes()).find(({ ppid }) => ppid !== 1);
      expect(await codeOf(child?.attach() ?? Promise.resolve())).toBe('EPERM');
      const shell = (await runtime.processes()).find(({ pid }) => pid === child?.ppid);
      const handle = (await shell?.attach()) as GuestProcess;
      expect(await codeOf(handle.writeStdin('x'))).toBe('EBADF');
      expect(await handle.kill('SIGKILL')).toBe(true);
      expect([await handle.wait(), (await running).signal]).toEqual([137, 'SIGKILL']);
    }));

  test('handles stay attached through a pause and a rollback', () =>
    withRuntime(mode, {}, async (runtime) => {
      const [output, streamed] = [keeping(), keeping()];
      const program = await runtime.spawn(ECHO, streamed.options);
      const attached = await runtime.attach(program.pid, output.options);
      const snapshot = await runtime.pause();
      await runtime.resume();
      await attached.writeStdin('a ');
      await until(() => output.text() === 'got a ');
      await runtime.rollback(snapshot);
      await attached.writeStdin('b ');
      await until(() => output.text() === 'got a got b ');
      await program.closeStdin();
      expect([await attached.wait(), await program.wait()]).toEqual([6, 6]);
      expect(streamed.text()).toBe('got a got b ');
      await snapshot.delete();
    }));

  test('a program has at most 64 further handles', () =>
    withRuntime(mode, {}, async (runtime: NodeRuntime) => {
      const program = await runtime.spawn(ECHO);
      const all = await Promise.all(Array.from({ length: 64 }, () => runtime.attach(program.pid)));
      expect(await codeOf(runtime.attach(program.pid))).toBe('ERR_RESOURCE_EXHAUSTED');
      all[0]?.detach();
      await until(async () => (await codeOf(runtime.attach(program.pid))) !== 'ERR_RESOURCE_EXHAUSTED');
      await program.kill('SIGTERM');
      expect(await program.wait()).toBe(143);
    }));
});
