// Tests handles after a rollback, which reuses pids. A call through a handle must reach the program
// that the handle was made for, or no program.

import { describe, expect, test } from 'vitest';
import type { GuestProcess, NodeRuntime, ResidentRunner } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';
import { evaluate, runnerOf, until, usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();

const KEEP_RUNNING = 'setInterval(() => {}, 1_000);';
const ECHO = `
  process.on('SIGTERM', () => console.log('signal'));
  process.stdin.on('data', (data) => console.log('got ' + data));
  console.log('up');
  ${KEEP_RUNNING}`;

/**
 * Starts a program that prints its signals and its stdin. `output` returns the output that has
 * arrived.
 */
async function startEcho(runtime: NodeRuntime): Promise<{ program: GuestProcess; output: () => string }> {
  let output = '';
  const program = await runtime.spawn(ECHO, {
    onStdout: (chunk) => {
      output += Buffer.from(chunk).toString();
    },
  });
  await until(() => output === 'up\n');
  return { program, output: () => output };
}

/**
 * Returns the code of the reason why a runner has ended: the error of the call, or the error of the
 * snippet.
 */
async function endOf(runner: ResidentRunner): Promise<string | undefined> {
  return runner.exec('1').then(
    ({ error }) => error?.code,
    ({ code }) => code,
  );
}

/** Asserts that the handle reaches no program. */
async function expectEnded(program: GuestProcess): Promise<void> {
  const number = String(program.pid);
  await expect(program.writeStdin('secret')).rejects.toMatchObject({ code: 'EPIPE', syscall: 'write', path: number });
  expect([await program.kill(), await program.kill(0)]).toEqual([false, false]);
  await program.closeStdin();
}

describe.each(MODES)('$name', (mode) => {
  test('the handle of a program that a rollback ended does not reach a later program with its pid', () =>
    withRuntime(mode, {}, async (runtime) => {
      const snapshot = await runtime.snapshot();
      // The result of the first program waits for the program's unread output. The second program
      // is busy, so its end arrives late.
      for (const code of [`console.log('unread'); ${KEEP_RUNNING}`, 'for (;;);', KEEP_RUNNING]) {
        const old = await runtime.spawn(code);
        await runtime.rollback(snapshot);
        const { program, output } = await startEcho(runtime);
        expect(program.pid).toBe(old.pid);
        await expectEnded(old);
        await program.writeStdin('mine');
        await until(() => output().includes('mine'));
        expect(output()).toBe('up\ngot mine\n');
        expect((await old.result).error).toMatchObject({ code: 'ERR_ROLLED_BACK' });
        await expectEnded(old);
        expect(await program.kill('SIGKILL')).toBe(true);
        await program.wait();
        await expectEnded(program);
        await runtime.rollback(snapshot);
      }
    }));

  test('earlier handles and earlier lists do not reach a restored program with their pid', () =>
    withRuntime(mode, {}, async (runtime) => {
      const empty = await runtime.snapshot();
      const first = await startEcho(runtime);
      const snapshot = await runtime.snapshot();
      await runtime.rollback(empty);
      const second = await startEcho(runtime);
      const [before] = await runtime.processes();
      await runtime.rollback(snapshot);
      const [entry] = await runtime.processes();
      expect([first.program.pid, before?.pid, entry?.pid]).toEqual(Array(3).fill(second.program.pid));
      await expectEnded(first.program);
      await expectEnded(second.program);
      await expect(before?.attach()).rejects.toMatchObject({ code: 'ESRCH', syscall: 'attach', path: String(entry?.pid) });
      const handle = (await entry?.attach()) as GuestProcess;
      await handle.kill('SIGKILL');
      expect((await handle.result).stdout).toBe('up\n');
      await expectEnded(handle);
    }));

  test('a program that continues after the rollback keeps its handle', () =>
    withRuntime(mode, {}, async (runtime) => {
      const { program, output } = await startEcho(runtime);
      const snapshot = await runtime.snapshot();
      for (let round = 0; round < 2; round++) {
        await runtime.rollback(snapshot);
        await program.writeStdin(String(round));
        await until(() => output().endsWith(`got ${round}\n`));
      }
      expect(await program.kill('SIGKILL')).toBe(true);
      expect(await program.wait()).toBe(137);
    }));

  test('lists the restored runners, although later processes had their pids', () =>
    withRuntime(mode, {}, async (runtime) => {
      const empty = await runtime.snapshot();
      const first = await runtime.createResidentRunner();
      await first.exec('globalThis.n = 1');
      const snapshot = await runtime.snapshot();
      await runtime.rollback(empty);
      const program = await runtime.spawn(KEEP_RUNNING);
      expect([program.pid, await runtime.residentRunners()]).toEqual([first.pid, []]);
      await runtime.rollback(empty);
      const second = await runtime.createResidentRunner();
      expect([second.pid, await runtime.residentRunners()]).toEqual([first.pid, [second]]);
      await expectEnded(program);
      await runtime.rollback(snapshot);
      expect(await evaluate(await runnerOf(runtime), 'n')).toBe('1');
      for (const earlier of [second, first]) expect(await endOf(earlier)).toMatch(/ERR_RUNNER_EXITED|ERR_ROLLED_BACK/);
      expect(await evaluate(await runnerOf(runtime), 'n')).toBe('1');
    }));

  test('a rollback restores a runner that has ended', () =>
    withRuntime(mode, {}, async (runtime) => {
      const made = await runtime.createResidentRunner();
      await made.exec('globalThis.n = 7');
      const template = await runtime.snapshot();
      for (let use = 0; use < 4; use++) {
        const runner = await runnerOf(runtime);
        expect(await evaluate(runner, 'n')).toBe('7');
        await runner.exec('process.exit(3)');
        expect(await endOf(runner)).toBe('ERR_RUNNER_EXITED');
        await runtime.rollback(template);
      }
    }));

  test('a runner that is created during a rollback is listed or has ended', () =>
    withRuntime(mode, {}, async (runtime) => {
      const snapshot = await runtime.snapshot();
      for (let round = 0; round < 20; round++) {
        const creating = runtime.createResidentRunner().catch(() => undefined);
        const [runner] = await Promise.all([creating, runtime.rollback(snapshot)]);
        const alive = await runner?.exec('1').then(
          ({ exitCode }) => exitCode === 0,
          () => false,
        );
        expect(await runtime.residentRunners()).toEqual(alive ? [runner] : []);
        await runner?.dispose();
      }
    }));
});
