// Tests job control through the system calls: stops, continuations, process groups, the foreground
// group and background reads. Also tests terminals over pauses and clones.

import { describe, expect, test } from 'vitest';
import { MODES, withRuntime } from './modes.js';
import { node, openScreen } from './terminal-helpers.js';

const mode = MODES[0] as (typeof MODES)[number];

describe('job control', () => {
  test('SIGSTOP stops a process and SIGCONT continues the process', () =>
    withRuntime(mode, {}, async (runtime) => {
      const child = await runtime.spawn(
        `import fs from 'node:fs'; let n = 0; setInterval(() => fs.writeFileSync('/tmp/n', String(n++)), 5);`,
      );
      const count = async () => Number(Buffer.from(await runtime.readFile('/tmp/n').catch(() => new Uint8Array())).toString());
      while ((await count()) < 2) await new Promise((resolve) => setTimeout(resolve, 5));
      await child.kill('SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, 50));
      const stopped = await count();
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(await count()).toBe(stopped);
      await child.kill('SIGTERM');
      expect(child.exitCode).toBeUndefined();
      await child.kill('SIGCONT');
      expect(await child.wait()).toBe(143);
    }));

  test('a program in a loop stops too, and SIGKILL ends a stopped program', () =>
    withRuntime(mode, {}, async (runtime) => {
      const child = await runtime.spawn('console.log(1); for (;;);');
      for await (const _ of child.stdout) break;
      await child.kill('SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, 100));
      const used = async () => (await runtime.getResourceSnapshot()).cpuMs;
      const before = await used();
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect((await used()) - before).toBeLessThan(100);
      await child.kill('SIGKILL');
      expect(await child.wait()).toBe(137);
    }));

  test('a process that stops itself runs no further statement', () =>
    withRuntime(mode, {}, async (runtime) => {
      const child = await runtime.spawn("console.log('before'); process.kill(process.pid, 'SIGSTOP'); console.log('after');");
      const output = child.stdout[Symbol.asyncIterator]();
      expect(Buffer.from((await output.next()).value ?? []).toString()).toBe('before\n');
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(child.exitCode).toBeUndefined();
      await child.kill('SIGCONT');
      expect(Buffer.from((await output.next()).value ?? []).toString()).toBe('after\n');
      expect(await child.wait()).toBe(0);
    }));

  test('Ctrl+Z does not stop an orphaned group', () =>
    withRuntime(mode, {}, async (runtime) => {
      const { terminal, waitFor } = await openScreen(
        runtime,
        node("console.log('on'); process.stdin.on('data', () => process.exit(7))"),
      );
      await waitFor('on');
      await terminal.write('\x1a');
      await waitFor('^Z');
      await terminal.write('\r');
      expect(await terminal.wait()).toBe(7);
    }));
});

describe('saved terminals', () => {
  test('a terminal continues after a pause, with its handle', () =>
    withRuntime(mode, {}, async (runtime) => {
      const code = "process.stdin.on('data', (data) => console.log('got ' + data)); console.log('on')";
      const { terminal, waitFor } = await openScreen(runtime, { ...node(code), cols: 90 });
      await waitFor('on');
      await terminal.write('unfin');
      await waitFor('unfin');
      await runtime.pause();
      await runtime.resume();
      await terminal.write('ished\r');
      await waitFor('got unfinished');
      await terminal.resize(91, 20);
      await terminal.write('\x04');
      expect(await terminal.wait()).toBe(0);
    }));

  test('a clone has the terminal with its input, and the original is not changed', () =>
    withRuntime(mode, {}, async (runtime) => {
      const code = "process.stdin.on('data', (data) => { console.log('got ' + data); process.exit(3); }); console.log('on')";
      const { terminal, waitFor } = await openScreen(runtime, node(code));
      await waitFor('on');
      await terminal.write('ab');
      await waitFor('ab');
      const clone = await runtime.clone();
      const [entry] = await clone.processes();
      let text = '';
      const copy = await entry?.attach({
        onStdout: (data) => {
          text += Buffer.from(data).toString();
        },
      });
      await copy?.writeStdin('c\r');
      expect(await copy?.wait()).toBe(3);
      expect(text).toBe('c\r\ngot abc\r\n\r\n');
      await clone.dispose();
      await terminal.write('d\r');
      await waitFor('got abd');
      expect(await terminal.wait()).toBe(3);
    }));
});
