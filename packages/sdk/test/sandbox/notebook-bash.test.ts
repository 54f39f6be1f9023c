// Tests resident runners of the language bash: a shell that keeps its state between cells.

import { describe, expect, test } from 'vitest';
import type { NodeRuntime, ResidentRunner } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';

const withShell = (mode: (typeof MODES)[number], work: (shell: ResidentRunner, runtime: NodeRuntime) => Promise<void>) =>
  withRuntime(mode, { env: { GIVEN: 'yes' } }, async (runtime) => {
    await work(await runtime.createResidentRunner({ language: 'bash', cwd: '/tmp' }), runtime);
  });

describe.each(MODES)('$name', (mode) => {
  test('a shell keeps variables, functions, options, aliases and its directory', () =>
    withShell(mode, async (shell) => {
      const out = async (code: string) => (await shell.exec(code)).stdout;
      expect(await out('echo $GIVEN; pwd')).toBe('yes\n/tmp\n');
      await shell.exec(
        'a=1; export b=2; list=(x y z); f() { echo "f$1"; }; alias hi="echo hello"; set -o pipefail; mkdir -p d; cd d',
      );
      expect(await out('echo $a ${list[1]}; f 3; pwd; node -p process.env.b')).toBe('1 y\nf3\n/tmp/d\n2\n');
      expect(await out('hi; set -o | grep pipefail')).toMatch(/^hello\npipefail\s+on\n$/);
      expect(await shell.exec('false')).toMatchObject({ exitCode: 1 });
      expect(await out('echo $?')).toBe('1\n');
    }));

  test('errors end a cell and not the shell', () =>
    withShell(mode, async (shell) => {
      await shell.exec('kept=1');
      expect(await shell.exec('if')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('syntax error') });
      expect(await shell.exec('missing-command')).toMatchObject({ exitCode: 127 });
      expect(await shell.exec('set -e; false; echo never')).toMatchObject({ exitCode: 1, stdout: '' });
      expect((await shell.exec('set +e; echo $kept')).stdout).toBe('1\n');
      expect(await shell.exec('exit 3')).toMatchObject({ exitCode: 3 });
      await expect(shell.exec('echo never')).rejects.toMatchObject({ code: 'ERR_RUNNER_EXITED', exitCode: 3 });
    }));

  test('environment and directory of a cell end with the cell', () =>
    withShell(mode, async (shell) => {
      await shell.exec('A=own');
      const place = 'echo $A-$B-$(pwd); node -p process.env.B';
      expect((await shell.exec(place, { env: { A: '1', B: '2' }, cwd: '/' })).stdout).toBe('1-2-/\n2\n');
      expect((await shell.exec(place)).stdout).toBe('own--/tmp\nundefined\n');
    }));

  test('lines arrive while a cell runs', () =>
    withShell(mode, async (shell) => {
      const seen: [string, number][] = [];
      const began = performance.now();
      await shell.cell('echo one; sleep 0.3; echo two', {
        onStdout: (chunk) => void seen.push([Buffer.from(chunk).toString(), performance.now() - began]),
      });
      expect(seen.map(([text]) => text)).toEqual(['one\n', 'two\n']);
      expect((seen[1]?.[1] ?? 0) - (seen[0]?.[1] ?? 0)).toBeGreaterThan(200);
    }));

  test('an interrupt ends loops and programs, and keeps the state', () =>
    withShell(mode, async (shell, runtime) => {
      await shell.exec('kept=1');
      for (const code of [
        'while :; do :; done',
        'sleep 60; echo never',
        'for i in 1 2 3; do node -e "setTimeout(() => {}, 60000)"; done',
      ]) {
        const running = shell.cell(`echo begun; ${code}`, { onStdout: () => void setTimeout(() => shell.interrupt(), 50) });
        expect(await running).toMatchObject({ exitCode: 130, error: { code: 'ERR_INTERRUPTED' }, stdout: 'begun\n' });
      }
      expect((await shell.exec('kept=$((kept + 1)); echo $kept')).stdout).toBe('2\n');
      const live = (await runtime.processes()).filter(({ pid }) => pid !== shell.pid);
      expect(live).toEqual([]);
    }));

  test('a program in the background outlives its cell', () =>
    withShell(mode, async (shell) => {
      await shell.exec('(sleep 0.2; echo late > /tmp/late) &');
      expect((await shell.exec('[ -f /tmp/late ] || echo early')).stdout).toBe('early\n');
      expect((await shell.exec('wait; cat /tmp/late')).stdout).toBe('late\n');
    }));

  test('snapshots and clones keep the state', () =>
    withShell(mode, async (shell, runtime) => {
      await shell.exec('a=1; f() { echo $((a + $1)); }; cd /');
      const clone = await runtime.clone();
      const [copy] = await clone.residentRunners();
      expect((await copy?.exec('a=5; f 1; pwd'))?.stdout).toBe('6\n/\n');
      await clone.dispose();
      expect((await shell.exec('f 1')).stdout).toBe('2\n');
    }));
});
