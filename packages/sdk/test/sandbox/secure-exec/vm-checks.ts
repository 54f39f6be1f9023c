// Documented behaviour of `evaluate`, `execute` and `createVm` of secure-exec 0.2.21.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import * as z from 'zod';
import {
  createVm,
  evaluate,
  execute,
  executeFile,
  hostDirMount,
  init,
  KernelError,
  nodeModulesMount,
  SidecarRejectedError,
  shutdown,
  type Vm,
  type VmOptions,
} from '../../../src/secure-exec/index.js';
import { type Case, SERVER, withFolder } from './cases.js';

async function withVm<T>(options: VmOptions, work: (vm: Vm) => Promise<T>): Promise<T> {
  const vm = await createVm(options);
  try {
    return await work(vm);
  } finally {
    await vm.dispose();
  }
}

export const VM_CHECKS: readonly Case[] = [
  {
    name: '`evaluate` returns the value of one expression, and waits for a promise',
    check: async () => {
      await init();
      expect(await evaluate<number>('40 + 2')).toMatchObject({ outcome: 'succeeded', value: 42 });
      const code = '(async () => { const list = [await 1, 2]; return { list } })()';
      expect(await evaluate(code)).toMatchObject({ outcome: 'succeeded', value: { list: [1, 2] } });
    },
  },
  {
    name: 'a value that is not JSON fails',
    check: async () => {
      for (const expression of ['undefined', '() => 1', 'Symbol()', '(() => { const a = {}; a.a = a; return a })()']) {
        expect(await evaluate(expression), expression).toMatchObject({ outcome: 'failed', error: { name: 'TypeError' } });
      }
    },
  },
  {
    name: '`execute` runs an ES module, and `output.capture` selects the output of the result',
    check: async () => {
      const code = `import { EOL } from 'node:os'; process.stdout.write('out' + EOL); console.error(await 'err')`;
      const all = await execute(code, { output: { capture: 'all' } });
      expect(all).toStrictEqual({ outcome: 'succeeded', exitCode: 0, stdout: 'out\n', stderr: 'err\n' });
      const stderr = await execute(code, { output: { capture: 'stderr' } });
      expect(stderr).toStrictEqual({ outcome: 'succeeded', exitCode: 0, stderr: 'err\n' });
      expect(await execute(code)).toStrictEqual({ outcome: 'succeeded', exitCode: 0 });
    },
  },
  {
    name: 'code reads `inputs`, `args`, `env` and `stdin` of the call',
    check: async () => {
      const expression = `[inputs.list.length, process.argv.at(-1), process.env.A, require('fs').readFileSync(0, 'utf8')]`;
      const code = `(async () => { const require = process.getBuiltinModule; return ${expression} })()`;
      const result = await evaluate(code, { inputs: { list: [1, 2] }, args: ['last'], env: { A: 'a' }, stdin: 'in' });
      expect(result).toMatchObject({ outcome: 'succeeded', value: [2, 'last', 'a', 'in'] });
    },
  },
  {
    name: 'a failure of guest code is an outcome with an error, and no rejection',
    check: async () => {
      const failed = await evaluate(`JSON.parse('{')`, { output: { capture: 'stderr' } });
      expect(failed).toMatchObject({ outcome: 'failed', error: { name: 'SyntaxError' } });
      expect(failed.stderr).toContain('SyntaxError');
      expect(await execute('process.exit(2)')).toMatchObject({ outcome: 'failed', exitCode: 2 });
      expect(await execute('for (;;);', { timeoutMs: 50 })).toMatchObject({
        outcome: 'timed_out',
        error: { code: 'ERR_TIMEOUT' },
      });
      const signal = AbortSignal.abort();
      expect(await evaluate('1', { signal })).toMatchObject({ outcome: 'cancelled', error: { name: 'AbortError' } });
    },
  },
  {
    name: 'nested `limits` bound memory, and the error names the limit',
    check: async () => {
      const code = 'const list = []; for (;;) list.push(new Array(100_000).fill(0))';
      const result = await execute(code, { limits: { jsRuntime: { v8HeapLimitMb: 32 } }, timeoutMs: 30_000 });
      expect(result).toMatchObject({ outcome: 'failed', error: { code: 'ERR_MEMORY_LIMIT' } });
      await expect(execute('1', { limits: { jsRuntime: { v8HeapLimitMb: 0 } } })).rejects.toMatchObject({
        code: 'ERR_INVALID_OPTION',
        option: 'limits.jsRuntime.v8HeapLimitMb',
      });
    },
  },
  {
    name: 'mounts of `hostDirMount` and `nodeModulesMount` are options of a call',
    check: () =>
      withFolder(async (folder) => {
        await writeFile(join(folder, 'main.mjs'), `import two from 'two'; console.log('mounted', two);`);
        await mkdir(join(folder, 'packages/two'), { recursive: true });
        await writeFile(join(folder, 'packages/two/index.js'), 'module.exports = 2;');
        const mounts = [hostDirMount('/workspace/app', folder), nodeModulesMount(join(folder, 'packages'))];
        const result = await executeFile('/workspace/app/main.mjs', { mounts, output: { capture: 'all' } });
        expect(result).toStrictEqual({ outcome: 'succeeded', exitCode: 0, stdout: 'mounted 2\n', stderr: '' });
      }),
  },
  {
    name: 'a VM keeps files between calls, and forgets JavaScript state',
    check: () =>
      withVm({ defaultSoftware: false }, async (vm) => {
        await vm.filesystem.writeFile('/workspace/in.txt', 'text');
        const code = `
          import { readFileSync, writeFileSync } from 'node:fs';
          globalThis.leaked = true;
          writeFileSync('/workspace/dir/out.txt', readFileSync('/workspace/in.txt', 'utf8').toUpperCase());
        `;
        await vm.filesystem.mkdir('/workspace/dir');
        await vm.javascript.execute(code);
        expect(Buffer.from(await vm.filesystem.readFile('/workspace/dir/out.txt')).toString()).toBe('TEXT');
        expect(await vm.javascript.evaluate('typeof leaked')).toMatchObject({ value: 'undefined' });
        const tree = await vm.filesystem.readdirRecursive('/workspace');
        expect(tree.map(({ path }) => path)).toEqual(['/workspace/dir', '/workspace/dir/out.txt', '/workspace/in.txt']);
        await expect(vm.filesystem.readFile('/none')).rejects.toSatisfy((error) => error instanceof KernelError);
      }),
  },
  {
    name: 'a spawned server replies to `httpRequest` until `process.kill`',
    check: () =>
      withVm({ permissions: { network: 'allow' } }, async (vm) => {
        let ready: () => void = () => {};
        const isReady = new Promise<void>((resolve) => {
          ready = resolve;
        });
        const { pid } = await vm.javascript.spawn(SERVER, { onStdout: () => ready() });
        await isReady;
        const { status, body } = await vm.network.httpRequest({ port: 3000, path: '/a', method: 'POST', body: 'b' });
        expect([status, Buffer.from(body).toString()]).toEqual([200, 'POST /a  b']);
        await vm.process.kill(pid);
        expect(await vm.process.wait(pid)).toMatchObject({ pid, outcome: 'signalled', signal: 'SIGKILL' });
        expect(await vm.process.exec('echo a | tr a b', { output: { capture: 'all' } })).toMatchObject({ stdout: 'b\n' });
      }),
  },
  {
    name: 'host functions are globals and commands of the guest',
    check: async () => {
      const add = {
        inputSchema: z.object({ a: z.number(), b: z.number() }).describe('Adds two numbers.'),
        execute: ({ a, b }: { a: number; b: number }) => a + b,
      };
      await withVm({ hostFunctions: { math: { addNumbers: add } } }, async (vm) => {
        expect(await vm.javascript.evaluate('math.addNumbers({ a: 40, b: 2 })')).toMatchObject({ value: 42 });
        const command = `agentos-math add-numbers --json '{"a":1,"b":2}'`;
        expect((await vm.process.exec(command, { output: { capture: 'all' } })).stdout?.trim()).toBe('3');
        expect((await vm.process.exec('agentos-math none')).exitCode).toBe(1);
      });
    },
  },
  {
    name: 'a context keeps its state until `reset`, and `dispose` ends only the context',
    check: () =>
      withVm({}, async (vm) => {
        const context = await vm.createContext();
        await context.execute('globalThis.answer = 40');
        expect(await context.evaluate('answer + inputs.more', { inputs: { more: 2 } })).toMatchObject({ value: 42 });
        expect(await vm.javascript.evaluate('answer', { contextId: context.contextId })).toMatchObject({ value: 40 });
        expect(await context.evaluate('missing.x')).toMatchObject({ outcome: 'failed', error: { name: 'ReferenceError' } });
        await context.reset();
        expect(await context.evaluate('typeof answer')).toMatchObject({ value: 'undefined' });
        await context.dispose();
        await expect(context.evaluate('1')).rejects.toSatisfy((error) => error instanceof SidecarRejectedError);
        expect(await vm.javascript.evaluate('1 + 1')).toMatchObject({ value: 2 });
      }),
  },
  {
    name: 'contexts of one VM run in parallel',
    check: () =>
      withVm({}, async (vm) => {
        const contexts = await Promise.all([vm.createContext(), vm.createContext(), vm.createContext()]);
        const turn = 'new Promise((resolve) => setTimeout(() => resolve((globalThis.id = inputs.id)), 1))';
        const results = await Promise.all(contexts.map((context, id) => context.evaluate(turn, { inputs: { id } })));
        expect(results.map((result) => result.value)).toEqual([0, 1, 2]);
      }),
  },
  {
    name: '`shutdown` ends the sidecar, and the next call spawns another',
    check: async () => {
      await shutdown();
      expect(await evaluate('1 + 2')).toMatchObject({ outcome: 'succeeded', value: 3 });
    },
  },
  {
    name: 'a second call of a busy context is refused',
    differs: 'the second call waits for the first',
    check: () =>
      withVm({}, async (vm) => {
        const context = await vm.createContext();
        const first = context.evaluate('new Promise((resolve) => setTimeout(() => resolve((globalThis.n = 1)), 1))');
        expect(await context.evaluate('n + 1')).toMatchObject({ outcome: 'succeeded', value: 2 });
        expect(await first).toMatchObject({ value: 1 });
      }),
  },
  {
    name: '`npm.install` installs packages in the VM',
    differs: 'rejects with ERR_NOT_SUPPORTED, because programs have no connections to the outside yet',
    check: () =>
      withVm({}, async (vm) => {
        await expect(vm.npm.install(['zod'])).rejects.toMatchObject({ code: 'ERR_NOT_SUPPORTED', what: 'npm.install()' });
      }),
  },
  {
    name: 'TypeScript is checked by `check`',
    differs: 'runs TypeScript; `check` rejects with ERR_NOT_SUPPORTED',
    check: () =>
      withVm({}, async (vm) => {
        expect(await vm.typescript.evaluate('(40 as number) + 2')).toMatchObject({ outcome: 'succeeded', value: 42 });
        const check = vm.typescript.check(`const n: number = 'text'`);
        await expect(check).rejects.toMatchObject({ code: 'ERR_NOT_SUPPORTED', what: 'typescript.check()' });
      }),
  },
];
