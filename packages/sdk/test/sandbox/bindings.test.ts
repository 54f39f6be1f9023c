// Tests bindings in every mode: inputs and results, kinds of programs, registration and removal.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deferred } from '../../src/deferred.js';
import { type Bindings, NodeRuntime } from '../../src/index.js';
import { ANY_BINDING, binding, rejection, withBindings } from './binding-helpers.js';
import { MODES, type Provisioning } from './modes.js';

describe.each(MODES)('$name', ({ open }) => {
  let provisioning: Provisioning;
  const within = <T>(bindings: Bindings, work: (runtime: NodeRuntime) => Promise<T>): Promise<T> =>
    withBindings(provisioning, bindings, work);

  beforeAll(async () => {
    provisioning = await open();
  });
  afterAll(() => provisioning.close());

  test('passes inputs and results unchanged, as data only', async () => {
    const value = { text: 'grüße 世界 \u0000 👋', list: [1.5, -0.25, null, true, [], {}], 'a b': { '': 0 }, constructor: 1 };
    const inputs: unknown[] = [];
    const echo = binding((input) => {
      inputs.push(input);
      return input;
    });
    await within(
      { same: echo, none: binding(() => undefined), hidden: binding(() => JSON.parse('{"__proto__":{"x":1}}')) },
      async (rt) => {
        const code = `__return([
          await callBinding('same', ${JSON.stringify(value)}), await callBinding('same'), await callBinding('none', 1)
        ])`;
        expect((await rt.run(code)).value).toEqual([value, {}, null]);
        expect(inputs).toEqual([value, {}]);
        const polluted = "const r = await callBinding('hidden'); __return([r.x, {}.x, Object.keys(r)])";
        expect((await rt.run(polluted)).value).toEqual([null, null, ['__proto__']]);
      },
    );
  });

  test('each of a hundred concurrent calls gets its own result', async () => {
    let [running, most] = [0, 0];
    const slow = binding(
      async (n: number) => {
        most = Math.max(most, ++running);
        for (let i = 0; i < n % 7; i++) await new Promise((resolve) => setImmediate(resolve));
        running--;
        return n * 2;
      },
      { maxConcurrency: 10 },
    );
    await within({ slow }, async (rt) => {
      const code = "__return(await Promise.all(Array.from({ length: 100 }, (_, n) => callBinding('slow', n))))";
      expect((await rt.run(code)).value).toEqual(Array.from({ length: 100 }, (_, n) => n * 2));
      expect(most).toBe(10);
    });
  });

  test('a binding works in run(), in runners, in children and in programs of a shell', async () => {
    const pids = new Set<number>();
    const twice = binding((n: number, { pid }) => {
      pids.add(pid);
      return n * 2;
    });
    await within({ twice }, async (rt) => {
      const runner = await rt.createResidentRunner();
      for (let n = 0; n < 5; n++) {
        expect((await runner.exec(`console.log(await callBinding('twice', ${n}))`)).stdout).toBe(`${n * 2}\n`);
      }
      expect(pids.size).toBe(1);
      const program = "callBinding('twice', 21).then(console.log)";
      const code = `import { execFileSync } from 'node:child_process';
        console.log(execFileSync('node', ['-e', ${JSON.stringify(program)}], { encoding: 'utf8' }).trim());`;
      expect((await rt.exec(code)).stdout).toBe('42\n');
      expect((await rt.execCommand('sh', ['-c', `node -e "${program}" | cat`])).stdout).toBe('42\n');
      expect(pids.size).toBe(3);
    });
  });

  test('callBinding is not enumerable, and programs can replace it', async () => {
    await within({ one: binding(() => 1) }, async (rt) => {
      const code = `__return([Object.keys(globalThis).includes('callBinding'), typeof callBinding,
        (globalThis.callBinding = 5, callBinding), delete globalThis.callBinding, typeof callBinding])`;
      expect((await rt.run(code)).value).toEqual([false, 'function', 5, true, 'undefined']);
    });
  });

  test('bindings of a live runtime are added, replaced and removed, and running calls keep their handler', async () => {
    const runtime = await provisioning.create();
    try {
      const code = async (call: string) => (await rejection(runtime, call))['code'];
      expect(await code("callBinding('a')")).toBe('ERR_BINDING_NOT_FOUND');
      let release = (_: unknown): void => {};
      const began = deferred<void>();
      const first = binding(() => {
        began.resolve();
        return new Promise((done) => {
          release = done;
        });
      });
      await runtime.registerBindings({ a: first, b: binding(() => 'b') });
      const running = runtime.exec("console.log(await callBinding('a'), await callBinding('a'), await callBinding('b'))");
      await began.promise;
      await runtime.registerBindings({ a: binding(() => 'new', { commandAliases: ['alpha'] }) });
      release('old');
      expect((await running).stdout).toBe('old new b\n');
      expect((await runtime.execCommand('alpha')).stdout).toBe('new\n');
      await runtime.unregisterBindings(['a', 'nobody']);
      expect(await code("callBinding('a')")).toBe('ERR_BINDING_NOT_FOUND');
      await expect(runtime.execCommand('alpha')).rejects.toMatchObject({ code: 'ENOENT' });
      expect((await runtime.execCommand('b')).stdout).toBe('b\n');
    } finally {
      await runtime.dispose();
    }
    await expect(runtime.registerBindings({})).rejects.toMatchObject({ code: 'ERR_RUNTIME_DISPOSED' });
  });

  test('a runtime cannot call bindings of another runtime', async () => {
    await within({ own: binding(() => 1), both: binding(() => 'first') }, (one) =>
      within({ other: binding(() => 2), both: binding(() => 'second') }, async (two) => {
        const code = `const out = [];
          for (const name of ['own', 'other', 'both']) out.push(await callBinding(name).catch((e) => e.code));
          __return(out)`;
        const results = await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? one : two).run(code)));
        for (const [n, { value }] of results.entries()) {
          expect(value).toEqual(n % 2 === 0 ? [1, 'ERR_BINDING_NOT_FOUND', 'first'] : ['ERR_BINDING_NOT_FOUND', 2, 'second']);
        }
        expect((await two.readDir('/usr/local/bin')).sort()).toEqual(['both', 'node', 'other']);
      }),
    );
  });

  test('refuses the name of a command of the sandbox and registers nothing', async () => {
    await within({ mine: binding(() => 1) }, async (rt) => {
      for (const name of ['node', 'sh', 'bash', 'env', 'ls', 'echo']) {
        await expect(rt.registerBindings({ other: ANY_BINDING, [name]: ANY_BINDING })).rejects.toMatchObject({ code: 'EEXIST' });
        await expect(rt.registerBindings({ other: binding(() => 1, { commandAliases: [name] }) })).rejects.toMatchObject({
          code: 'EEXIST',
        });
      }
      expect((await rt.readDir('/usr/local/bin')).sort()).toEqual(['mine', 'node']);
      expect((await rejection(rt, "callBinding('other')"))['code']).toBe('ERR_BINDING_NOT_FOUND');
      await rt.registerBindings({ echo: binding(() => 'of the app', { command: false }) });
      expect((await rt.run("__return(await callBinding('echo'))")).value).toBe('of the app');
      expect((await rt.execCommand('echo', ['of the shell'])).stdout).toBe('of the shell\n');
      expect((await rt.execCommand('node', ['-p', '1'])).stdout).toBe('1\n');
    });
    await expect(provisioning.create({ bindings: { ls: ANY_BINDING } })).rejects.toMatchObject({ code: 'EEXIST' });
  });
});

describe('options', () => {
  test.each([
    [{ 'a b': ANY_BINDING }, 'bindings.a b'],
    [{ '1a': ANY_BINDING }, 'bindings.1a'],
    [{ a: { ...ANY_BINDING, handler: 'x' } }, 'bindings.a.handler'],
    [{ a: { description: 'x', inputSchema: true } }, 'bindings.a.handler'],
    [{ a: { ...ANY_BINDING, timeoutMs: 300_001 } }, 'bindings.a.timeoutMs'],
    [{ a: { ...ANY_BINDING, inputSchema: 'object' } }, 'bindings.a.inputSchema'],
    [{ a: { ...ANY_BINDING, inputSchema: { $ref: '#/nowhere' } } }, 'bindings.a.inputSchema'],
    [{ a: { ...ANY_BINDING, commandAliases: ['/bin/x'] } }, 'bindings.a.commandAliases.0'],
    [{ a: { ...ANY_BINDING, examples: [{ args: 1 }] } }, 'bindings.a.examples.0'],
    [{ a: { ...ANY_BINDING, maxConcurrency: 0 } }, 'bindings.a.maxConcurrency'],
    [{ a: { ...ANY_BINDING, execute: () => 1 } }, 'bindings.a.execute'],
    [[], 'bindings'],
    [null, 'bindings'],
  ])('refuses the bindings %o', async (bindings, option) => {
    await expect(NodeRuntime.create({ bindings: bindings as never })).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
      option,
    });
  });
});
