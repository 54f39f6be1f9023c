// Exceeds limits between a program and the app: output, stdin, arguments, environment.

import type { EscapeCase } from '../../harness/case.js';

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error) => error.code,
  );

export const calls: EscapeCase[] = [
  {
    name: 'output beyond outputBytes is truncated',
    options: { limits: { outputBytes: 10_000 } },
    attack: async (runtime) => {
      const result = await runtime.exec(
        `import fs from 'node:fs'; for (let i = 0; i < 1_000; i++) fs.writeSync(1, 'x'.repeat(1_000));`,
        { timeout: 5_000 },
      );
      const kept = result.stdout.length === 10_000;
      // The output is truncated and marked as truncated, and the program runs to its end.
      return `${kept} ${result.stdoutTruncated} ${result.exitCode}`;
    },
    expected: 'true true 0',
  },
  {
    name: 'output of children counts for the program',
    options: { limits: { outputBytes: 10_000 } },
    attack: async (runtime) => {
      const code = `
import { spawnSync } from 'node:child_process';
for (let i = 0; i < 5; i++) spawnSync('node', ['-e', 'process.stdout.write("x".repeat(9000))'], { stdio: 'inherit' });`;
      return String((await runtime.exec(code, { timeout: 5_000 })).stdout.length <= 10_000);
    },
    expected: 'true',
  },
  {
    name: 'unread output blocks the writer, not the sidecar',
    attack: async (runtime) => {
      let seen = 0;
      const slow = async (chunk: Uint8Array): Promise<void> => {
        seen += chunk.length;
        await new Promise((resolve) => setTimeout(resolve, 50));
      };
      const result = await runtime.exec(`for (;;) console.log('x'.repeat(10_000));`, { timeout: 200, onStdout: slow });
      return `${result.error?.code} ${seen < 1 << 20}`;
    },
    expected: 'ERR_TIMEOUT true',
  },
  {
    name: 'unread stdin is bounded',
    attack: async (runtime) => {
      const child = await runtime.spawn('setInterval(() => {}, 1000)');
      const part = new Uint8Array(1 << 20);
      let code = 'no error';
      for (let i = 0; i < 64 && code === 'no error'; i++) code = await codeOf(child.writeStdin(part));
      await child.kill('SIGKILL');
      await child.wait();
      return code;
    },
    expected: 'ENOBUFS',
  },
  {
    name: 'arguments and environment of the app have limits',
    attack: async (runtime) => {
      const long = 'x'.repeat(2 << 20);
      const codes = [
        codeOf(runtime.exec('1', { args: [long] })),
        codeOf(runtime.exec('1', { env: { A: long } })),
        codeOf(runtime.execCommand('node', [long])),
      ];
      return [...new Set(await Promise.all(codes))].join();
    },
    expected: 'E2BIG',
  },
  {
    name: 'more programs of the app than `processes` are refused',
    options: { limits: { processes: 4 } },
    attack: async (runtime) => {
      const programs = Array.from({ length: 12 }, () =>
        codeOf(runtime.exec('await new Promise((resolve) => setTimeout(resolve, 100))')),
      );
      return [...new Set(await Promise.all(programs))].sort().join();
    },
    expected: 'ERR_RESOURCE_EXHAUSTED,no error',
  },
  {
    name: 'a runner that is interrupted repeatedly works or reports its end',
    attack: async (runtime) => {
      const runner = await runtime.createResidentRunner();
      const evil = [
        `for (;;);`,
        `for (;;) try { for (;;); } catch {}`,
        `await new Promise(() => {})`,
        `process.nextTick(function f() { process.nextTick(f); })`,
        `'x'.repeat(30_000).replace(/(x+x+)+y/g, '')`,
      ];
      const codes = [];
      for (const code of evil)
        codes.push(
          await runner.exec(code, { timeout: 50 }).then(
            (result) => result.error?.code,
            (error) => error.code,
          ),
        );
      await runner.dispose();
      return [...new Set(codes)].join();
    },
    expected: /^ERR_TIMEOUT(,ERR_RUNNER_EXITED|,)*$/,
  },
  {
    name: 'many hostile programs at a time are contained',
    options: { limits: { cpuMs: 150, memoryBytes: 48 << 20 } },
    attack: async (runtime) => {
      const evil = [
        `for (;;);`,
        `const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1));`,
        `(function f() { f(); })()`,
        `process.abort()`,
        `for (;;) console.log('x')`,
        `'x'.repeat(30_000).replace(/(x+x+)+y/g, '')`,
      ];
      const ends = await Promise.all(
        Array.from({ length: 18 }, (_, i) => runtime.exec(evil[i % evil.length] as string, { timeout: 10_000 })),
      );
      return String(ends.every((end) => end.exitCode !== 0));
    },
    expected: /^(true|false)$/,
  },
];
