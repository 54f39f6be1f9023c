// Tests the option `limits` of calls: limits of one program, below the limits of its runtime.

import { describe, expect, test } from 'vitest';
import { MODES, withRuntime } from './modes.js';

const MIB = 1 << 20;
const FILL = 'const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1))';
const WIDE = { memoryBytes: 96 * MIB, cpuMs: 20_000, outputBytes: 1_000, resultBytes: 1_000 };

describe.each(MODES)('$name', (mode) => {
  test('a lower limit applies to one program, and not to the next', () =>
    withRuntime(mode, { limits: WIDE }, async (runtime) => {
      const cpu = await runtime.exec('for (;;);', { limits: { cpuMs: 50 } });
      expect(cpu).toMatchObject({ exitCode: 124, error: { code: 'ERR_CPU_LIMIT', cpuMs: 50 } });
      const memory = await runtime.exec(FILL, { limits: { memoryBytes: 48 * MIB } });
      expect(memory).toMatchObject({ exitCode: 134, error: { code: 'ERR_MEMORY_LIMIT', memoryBytes: 48 * MIB } });
      const output = await runtime.exec('console.log("x".repeat(500))', { limits: { outputBytes: 10 } });
      expect(output).toMatchObject({ stdout: 'x'.repeat(10), stdoutTruncated: true });
      const value = await runtime.run('__return("x".repeat(500))', { limits: { resultBytes: 10 } });
      expect(value.error).toMatchObject({ code: 'ERR_RESULT_LIMIT', resultBytes: 10 });
      const next = await runtime.run(
        `console.log("x".repeat(500)); __return("y".repeat(500)); ${FILL.replace('(;;)', '(let i = 0; i < 60; i++)')}`,
      );
      expect(next).toMatchObject({ exitCode: 0, stdout: `${'x'.repeat(500)}\n`, value: 'y'.repeat(500) });
    }));

  test('commands, spawned programs, files and runners accept limits', () =>
    withRuntime(mode, { files: { '/workspace/endless.cjs': 'for (;;);' } }, async (runtime) => {
      const limits = { cpuMs: 50 };
      const ended = { error: { code: 'ERR_CPU_LIMIT', cpuMs: 50 } };
      expect(await runtime.execFile('endless.cjs', { limits })).toMatchObject(ended);
      expect(await runtime.execCommand('node', ['endless.cjs'], { limits })).toMatchObject(ended);
      expect(await (await runtime.spawn('for (;;);', { limits })).result).toMatchObject(ended);
      expect(await (await runtime.spawnCommand('node', ['endless.cjs'], { limits })).result).toMatchObject(ended);
      const runner = await runtime.createResidentRunner({ limits });
      expect(await runner.exec('for (;;);')).toMatchObject(ended);
    }));

  test('children have the limits of their program', () =>
    withRuntime(mode, { limits: WIDE }, async (runtime) => {
      const child = JSON.stringify(FILL);
      const code = `import { spawnSync } from 'node:child_process';
        const { status, signal, stderr } = spawnSync('node', ['-e', ${child}], { stdio: 'ignore' });
        console.log(status, signal);`;
      const { stdout } = await runtime.exec(code, { limits: { memoryBytes: 48 * MIB } });
      expect(stdout).toBe((await runtime.exec(code)).stdout);
      const size = `import { readFileSync } from 'node:fs'; import { execSync } from 'node:child_process';
        console.log(/Max address space +(\\d+)/.exec(execSync('cat /proc/self/limits', { encoding: 'utf8' }))[1])`;
      expect((await runtime.exec(size, { limits: { memoryBytes: 48 * MIB } })).stdout).toBe(`${48 * MIB}\n`);
      expect((await runtime.exec(size)).stdout).toBe(`${WIDE.memoryBytes}\n`);
    }));

  test('a limit above the limit of the runtime is refused before the program starts', () =>
    withRuntime(mode, { limits: WIDE }, async (runtime) => {
      const run = runtime.exec('console.log(1)', { limits: { cpuMs: WIDE.cpuMs + 1 } });
      await expect(run).rejects.toMatchObject({ code: 'ERR_INVALID_REQUEST', what: 'limits.cpuMs', expected: '0 to 20000' });
      const small = runtime.exec('console.log(1)', { limits: { memoryBytes: MIB } });
      await expect(small).rejects.toMatchObject({ code: 'ERR_INVALID_REQUEST', what: 'limits.memoryBytes' });
      const unknown = runtime.exec('1', { limits: { processes: 1 } as never });
      await expect(unknown).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', option: 'limits.processes' });
    }));

  test('a restored program keeps its limits', () =>
    withRuntime(mode, { limits: WIDE }, async (runtime) => {
      const code = `await new Promise((resolve) => process.stdin.once('data', resolve)); ${FILL}`;
      const program = await runtime.spawn(code, { limits: { memoryBytes: 48 * MIB } });
      const snapshot = await runtime.snapshot();
      await runtime.rollback(snapshot);
      await program.writeStdin('go');
      expect((await program.result).error).toMatchObject({ code: 'ERR_MEMORY_LIMIT', memoryBytes: 48 * MIB });
    }));
});
