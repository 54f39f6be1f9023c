// Tests the option `explainLimits` in every call that runs code: after a limit has ended the
// program, the last line of stderr names the limit.

import { describe, expect, test } from 'vitest';
import type { ExecResult, NodeRuntime } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';

const ENDLESS = `console.error('begun'); for (;;);`;
const OPTIONS = { timeout: 50, explainLimits: true };

const CALLS: [string, (runtime: NodeRuntime) => Promise<ExecResult>][] = [
  ['exec()', (runtime) => runtime.exec(ENDLESS, OPTIONS)],
  ['run()', (runtime) => runtime.run(ENDLESS, OPTIONS)],
  ['execFile()', (runtime) => runtime.execFile('endless.mjs', OPTIONS)],
  ['execCommand()', (runtime) => runtime.execCommand('node', ['endless.mjs'], OPTIONS)],
  ['spawn()', async (runtime) => (await runtime.spawn(ENDLESS, OPTIONS)).result],
  ['spawnCommand()', async (runtime) => (await runtime.spawnCommand('node', ['endless.mjs'], OPTIONS)).result],
  ['runner.exec()', async (runtime) => (await runtime.createResidentRunner()).exec(ENDLESS, OPTIONS)],
];

describe.each(MODES)('$name', (mode) => {
  test.each(CALLS)('stderr of %s names the timeout', (_, call) =>
    withRuntime(mode, { files: { '/workspace/endless.mjs': ENDLESS } }, async (runtime) => {
      const { stderr, error, exitCode } = await call(runtime);
      expect([exitCode, error?.code]).toEqual([124, 'ERR_TIMEOUT']);
      expect(stderr).toMatch(/^(begun\n)?coldframe: [^\n]*50 ms \(ERR_TIMEOUT, limit: timeout\)\n$/);
    }),
  );

  test('names each limit that ends a program, and is off by default', () =>
    withRuntime(mode, { limits: { memoryBytes: 50 << 20, cpuMs: 50, resultBytes: 5 } }, async (runtime) => {
      const line = async (code: string): Promise<string> => {
        const plain = await runtime.run(code);
        const { stderr } = await runtime.run(code, { explainLimits: true });
        expect(plain.stderr).not.toContain('coldframe:');
        return stderr.slice(stderr.indexOf('coldframe:')).replace(/^.*\(|\)\n$/g, '');
      };
      expect(await line('for (;;);')).toBe('ERR_CPU_LIMIT, limit: limits.cpuMs');
      expect(await line('const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1))')).toBe(
        'ERR_MEMORY_LIMIT, limit: limits.memoryBytes',
      );
      expect(await line('__return("too long")')).toBe('ERR_RESULT_LIMIT, limit: limits.resultBytes');
      expect(await line('process.exit(1)')).toBe('');
    }));

  test('onStderr receives only the output of the program', () =>
    withRuntime(mode, {}, async (runtime) => {
      const chunks: Uint8Array[] = [];
      const { stderr } = await runtime.exec(ENDLESS, { ...OPTIONS, onStderr: (chunk) => void chunks.push(chunk) });
      expect(`${Buffer.concat(chunks)}`).toBe('begun\n');
      expect(stderr).toContain('ERR_TIMEOUT');
    }));
});
