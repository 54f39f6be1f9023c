// Tests handles of running programs in every mode: pids, streams, signals, commands, the list of
// processes.

import { describe, expect, test } from 'vitest';
import { MODES, withRuntime } from './modes.js';

const KEEP_RUNNING = 'setInterval(() => {}, 1000);';
const ECHO = 'process.stdin.on("data", (data) => process.stdout.write(String(data).toUpperCase()));';

async function text(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'no error',
    (error) => error.code,
  );

describe.each(MODES)('$name', (mode) => {
  test('writes to a running program and reads its output', () =>
    withRuntime(mode, {}, async (runtime) => {
      const child = await runtime.spawn(`${ECHO} console.log(process.pid)`);
      const output = child.stdout[Symbol.asyncIterator]();
      const next = async () => Buffer.from((await output.next()).value ?? []).toString();
      expect(await next()).toBe(`${child.pid}\n`);
      await child.writeStdin('one');
      expect(await next()).toBe('ONE');
      expect(child.exitCode).toBeUndefined();
      await child.writeStdin(new Uint8Array([97, 98]));
      expect(await next()).toBe('AB');
      await child.closeStdin();
      expect((await output.next()).done).toBe(true);
      expect([await child.wait(), child.exitCode]).toEqual([0, 0]);
      expect((await child.result).stdout).toBe(`${child.pid}\nONEAB`);
      expect(await codeOf(child.writeStdin('late'))).toBe('EPIPE');
      await child.closeStdin();
    }));

  test('passes more bytes than a pipe holds, and refuses too many for an unread stdin', () =>
    withRuntime(mode, {}, async (runtime) => {
      const child = await runtime.spawn('process.stdin.pipe(process.stdout)', { stdin: 'first ' });
      const all = text(child.stdout);
      for (let i = 0; i < 20; i++) await child.writeStdin('x'.repeat(50_000));
      await child.closeStdin();
      expect(await all).toBe(`first ${'x'.repeat(1_000_000)}`);
      const unreading = await runtime.spawn(KEEP_RUNNING);
      const megabyte = new Uint8Array(1 << 20);
      for (let i = 0; i < 16; i++) await unreading.writeStdin(megabyte);
      expect(await codeOf(unreading.writeStdin(megabyte))).toBe('ENOBUFS');
      await unreading.kill('SIGKILL');
      expect(await unreading.wait()).toBe(137);
    }));

  test('signals reach a program, and its children are listed and end with the program', () =>
    withRuntime(mode, {}, async (runtime) => {
      const child = await runtime.spawn(`
        import { spawn } from 'node:child_process';
        const inner = spawn('node', ['-e', '${KEEP_RUNNING}', 'inner'], { stdio: 'ignore' });
        process.on('SIGUSR2', () => console.log('sizes'));
        console.log('ready'); ${KEEP_RUNNING}`);
      const output = child.stdout[Symbol.asyncIterator]();
      await output.next();
      const [own, inner] = await runtime.processes();
      expect(own).toMatchObject({ pid: child.pid, ppid: 1, group: child.pid });
      expect(inner).toMatchObject({ ppid: child.pid, group: child.pid, command: `node -e ${KEEP_RUNNING} inner` });
      expect(await child.kill('SIGUSR2')).toBe(true);
      expect(Buffer.from((await output.next()).value ?? []).toString()).toBe('sizes\n');
      expect(await child.kill()).toBe(true);
      expect(await child.wait()).toBe(143);
      expect((await child.result).error).toBeUndefined();
      expect(await child.kill()).toBe(false);
      while ((await runtime.processes()).length > 0);
      expect(await codeOf(child.kill('SIGNOTHING' as 'SIGTERM'))).toBe('ERR_INVALID_OPTION');
    }));

  test('finds commands as a shell does, for execCommand() and spawnCommand()', () =>
    withRuntime(
      mode,
      { files: { '/workspace/tool.js': '#!/usr/bin/env node\nconsole.log(process.argv.slice(2).join())' } },
      async (runtime) => {
        const result = await runtime.execCommand('node', ['-p', 'process.env.A + require("fs").readFileSync(0)'], {
          env: { A: 'a' },
          stdin: 'b',
        });
        expect([result.stdout, result.stderr, result.exitCode]).toEqual(['ab\n', '', 0]);
        expect(await codeOf(runtime.execCommand('./tool.js'))).toBe('EACCES');
        await runtime.exec('(await import("node:fs")).chmodSync("tool.js", 0o755)');
        expect((await runtime.execCommand('./tool.js', ['x', 'y z'])).stdout).toBe('x,y z\n');
        expect(await codeOf(runtime.execCommand('no-such-command'))).toBe('ENOENT');
        expect(await codeOf(runtime.spawnCommand('no-such-command'))).toBe('ENOENT');
        expect(await codeOf(runtime.execCommand('node', ['a\0b']))).toBe('ERR_INVALID_OPTION');
        const live = await runtime.spawnCommand('node', ['-e', ECHO], { onStdout: (chunk) => void sizes.push(chunk.length) });
        const sizes: number[] = [];
        await live.writeStdin('12345');
        await live.closeStdin();
        expect([await live.wait(), sizes, (await live.result).stdout]).toEqual([0, [5], '12345']);
      },
    ));

  test('unread output does not block a program whose result is awaited', () =>
    withRuntime(mode, { limits: { outputBytes: 1_000 } }, async (runtime) => {
      const child = await runtime.spawn('for (let i = 0; i < 100; i++) console.log("x".repeat(10_000)); console.error("done")');
      expect(await text(child.stderr)).toBe('done\n');
      const result = await child.result;
      expect([result.exitCode, result.stdout.length, result.stdoutTruncated]).toEqual([0, 1_000, true]);
      const controller = new AbortController();
      const stopped = await runtime.spawn(KEEP_RUNNING, { signal: controller.signal });
      controller.abort(new Error('enough'));
      await expect(stopped.wait()).rejects.toThrow('enough');
    }));
});
