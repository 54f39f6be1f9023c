// Handles after a rollback, which gives numbers of processes again: each means the one that it was made for, or nothing.

import { describe, expect, test } from 'vitest';
import type { GuestProcess, NodeRuntime, ResidentRunner } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';
import { ask, inFolderOfItsOwn, runnerOf, until } from './snapshot-helpers.js';

inFolderOfItsOwn();

const STAY = 'setInterval(() => {}, 1_000);';
const LOUD = `process.on('SIGTERM', () => console.log('signal')); process.stdin.on('data', (data) => console.log('got ' + data)); console.log('up'); ${STAY}`;

/** A program that says what reaches it, when it listens; and what it has said. */
async function loud(runtime: NodeRuntime): Promise<{ program: GuestProcess; said: () => string }> {
  let said = '';
  const program = await runtime.spawn(LOUD, {
    onStdout: (chunk) => {
      said += Buffer.from(chunk).toString();
    },
  });
  await until(() => said === 'up\n');
  return { program, said: () => said };
}

/** Why a runner does nothing any more: the error of the call, or of the snippet when its process had not noticed yet. */
async function endOf(runner: ResidentRunner): Promise<string | undefined> {
  return runner.exec('1').then(
    ({ error }) => error?.code,
    ({ code }) => code,
  );
}

/** That nothing of what its handle does reaches anybody. */
async function isOver(program: GuestProcess): Promise<void> {
  const number = String(program.pid);
  await expect(program.writeStdin('secret')).rejects.toMatchObject({ code: 'EPIPE', syscall: 'write', path: number });
  expect([await program.kill(), await program.kill(0)]).toEqual([false, false]);
  await program.closeStdin();
}

describe.each(MODES)('$name', (mode) => {
  test('a program that a rollback has ended has no power over the next one with its number', () =>
    withRuntime(mode, {}, async (runtime) => {
      const snapshot = await runtime.snapshot();
      // Whose output nobody reads, so that its result waits; and one that takes its time to notice.
      for (const code of [`console.log('unread'); ${STAY}`, 'for (;;);', STAY]) {
        const old = await runtime.spawn(code);
        await runtime.rollback(snapshot);
        const { program, said } = await loud(runtime);
        expect(program.pid).toBe(old.pid);
        await isOver(old);
        await program.writeStdin('mine');
        await until(() => said().includes('mine'));
        expect(said()).toBe('up\ngot mine\n');
        expect((await old.result).error).toMatchObject({ code: 'ERR_ROLLED_BACK' });
        await isOver(old);
        expect(await program.kill('SIGKILL')).toBe(true);
        await program.wait();
        await isOver(program);
        await runtime.rollback(snapshot);
      }
    }));

  test('nor has one over what a snapshot brings under its number, and nor has a list from before', () =>
    withRuntime(mode, {}, async (runtime) => {
      const empty = await runtime.snapshot();
      const first = await loud(runtime);
      const snapshot = await runtime.snapshot();
      await runtime.rollback(empty);
      const second = await loud(runtime);
      const [before] = await runtime.processes();
      await runtime.rollback(snapshot);
      const [entry] = await runtime.processes();
      expect([first.program.pid, before?.pid, entry?.pid]).toEqual(Array(3).fill(second.program.pid));
      await isOver(first.program);
      await isOver(second.program);
      await expect(before?.attach()).rejects.toMatchObject({ code: 'ESRCH', syscall: 'attach', path: String(entry?.pid) });
      const handle = (await entry?.attach()) as GuestProcess;
      await handle.kill('SIGKILL');
      expect((await handle.result).stdout).toBe('up\n');
      await isOver(handle);
    }));

  test('one that goes on after the rollback keeps its handle', () =>
    withRuntime(mode, {}, async (runtime) => {
      const { program, said } = await loud(runtime);
      const snapshot = await runtime.snapshot();
      for (let round = 0; round < 2; round++) {
        await runtime.rollback(snapshot);
        await program.writeStdin(String(round));
        await until(() => said().endsWith(`got ${round}\n`));
      }
      expect(await program.kill('SIGKILL')).toBe(true);
      expect(await program.wait()).toBe(137);
    }));

  test('runners are those that the rollback has left, whoever has their numbers now', () =>
    withRuntime(mode, {}, async (runtime) => {
      const empty = await runtime.snapshot();
      const first = await runtime.createResidentRunner();
      await first.exec('globalThis.n = 1');
      const snapshot = await runtime.snapshot();
      await runtime.rollback(empty);
      const program = await runtime.spawn(STAY);
      expect([program.pid, await runtime.residentRunners()]).toEqual([first.pid, []]);
      await runtime.rollback(empty);
      const second = await runtime.createResidentRunner();
      expect([second.pid, await runtime.residentRunners()]).toEqual([first.pid, [second]]);
      await isOver(program);
      await runtime.rollback(snapshot);
      expect(await ask(await runnerOf(runtime), 'n')).toBe('1');
      for (const gone of [second, first]) expect(await endOf(gone)).toMatch(/ERR_RUNNER_EXITED|ERR_ROLLED_BACK/);
      expect(await ask(await runnerOf(runtime), 'n')).toBe('1');
    }));

  test('a runner that ends in every use of a slot is there again in the next', () =>
    withRuntime(mode, {}, async (runtime) => {
      const made = await runtime.createResidentRunner();
      await made.exec('globalThis.n = 7');
      const template = await runtime.snapshot();
      for (let use = 0; use < 4; use++) {
        const runner = await runnerOf(runtime);
        expect(await ask(runner, 'n')).toBe('7');
        await runner.exec('process.exit(3)');
        expect(await endOf(runner)).toBe('ERR_RUNNER_EXITED');
        await runtime.rollback(template);
      }
    }));

  test('a runner that is created while the runtime goes back is one of them, or has ended', () =>
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
