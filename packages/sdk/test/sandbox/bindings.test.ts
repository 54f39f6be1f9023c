// Functions of the app that guests call, in every mode: what goes in and comes out, what goes wrong, who gives up when.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/deferred.js';
import { type BindingContext, type BindingDefinition, type Bindings, NodeRuntime, Sidecar } from '../../src/index.js';
import { MODES, type Provisioning } from './modes.js';

const ANY = { description: 'a test', inputSchema: true } as const;
const binding = (handler: BindingDefinition['handler'], more: Partial<BindingDefinition> = {}): BindingDefinition => ({
  ...ANY,
  handler,
  ...more,
});

/** A handler that never ends by itself, and what becomes of its signal. */
function endless() {
  const reasons: unknown[] = [];
  const [beginning, end] = [deferred<void>(), deferred<void>()];
  const handler = (_: unknown, { signal }: BindingContext) =>
    new Promise(() => {
      signal.addEventListener('abort', () => {
        reasons.push(signal.reason);
        end.resolve();
      });
      beginning.resolve();
    });
  return { handler, reasons, beginning: beginning.promise, end: end.promise };
}

/** A program that prints what a call rejects with. */
const caught = (call: string): string =>
  `try { console.log('no error', await ${call}) } catch (e) { console.log(JSON.stringify({ ...e, name: e.name, message: e.message, stack: e.stack })) }`;

describe.each(MODES)('$name', ({ open }) => {
  let provisioning: Provisioning;

  beforeAll(async () => {
    provisioning = await open();
  });
  afterAll(() => provisioning.close());

  async function within<T>(bindings: Bindings, work: (runtime: NodeRuntime) => Promise<T>): Promise<T> {
    const runtime = await provisioning.create({ bindings });
    try {
      return await work(runtime);
    } finally {
      await runtime.dispose();
    }
  }

  async function rejection(runtime: NodeRuntime, call: string): Promise<Record<string, unknown>> {
    const { stdout, stderr } = await runtime.exec(caught(call));
    expect(stderr).toBe('');
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  test('data goes in and comes out as it is, and is data only', async () => {
    const value = { text: 'grüße 世界 \u0000 👋', list: [1.5, -0.25, null, true, [], {}], 'a b': { '': 0 }, constructor: 1 };
    const inputs: unknown[] = [];
    const echo = binding((input) => {
      inputs.push(input);
      return input;
    });
    await within(
      { same: echo, none: binding(() => undefined), hidden: binding(() => JSON.parse('{"__proto__":{"x":1}}')) },
      async (rt) => {
        const code = `__return([await callBinding('same', ${JSON.stringify(value)}), await callBinding('same'), await callBinding('none', 1)])`;
        expect((await rt.run(code)).value).toEqual([value, {}, null]);
        expect(inputs).toEqual([value, {}]);
        const polluted = "const r = await callBinding('hidden'); __return([r.x, {}.x, Object.keys(r)])";
        expect((await rt.run(polluted)).value).toEqual([null, null, ['__proto__']]);
      },
    );
  });

  test('a hundred calls at once, each with its own answer, some later than others', async () => {
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

  test('every kind of program has it: run, runners again and again, children, and those that a shell starts', async () => {
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

  test('the global is no property that one sees, and programs may put their own in its place', async () => {
    await within({ one: binding(() => 1) }, async (rt) => {
      const code = `__return([Object.keys(globalThis).includes('callBinding'), typeof callBinding,
        (globalThis.callBinding = 5, callBinding), delete globalThis.callBinding, typeof callBinding])`;
      expect((await rt.run(code)).value).toEqual([false, 'function', 5, true, 'undefined']);
    });
  });

  test("an error of a handler keeps its name, message and code; this machine's paths and stack stay here", async () => {
    const cwd = process.cwd();
    class CustomError extends Error {
      override name = 'CustomError';
      code = 'E_CUSTOM';
      secret = 'secret';
    }
    const system = Object.assign(new Error(`ENOENT: no such file, open '/srv/private/x'`), {
      code: 'ENOENT',
      path: '/srv/private/x',
    });
    const thrown: Record<string, () => unknown> = {
      type: () => new TypeError('must be a city'),
      custom: () => new CustomError('mine'),
      system: () => system,
      place: () => new Error(`failed in ${cwd}/src/a.ts:1:2 and file:///srv/b.js\n    at run (/srv/c.js:1:1)`),
      text: () => 'only text',
      nothing: () => undefined,
      nothing2: () => null,
      number: () => 7,
      cyclic: () => {
        const error: Record<string, unknown> = { message: 'round', code: 5 };
        error['self'] = error;
        return error;
      },
      trap: () =>
        new Proxy(
          {},
          {
            get: () => {
              throw new Error('trap');
            },
          },
        ),
      strange: () => ({ name: 'a b\n', message: 5, code: {} }),
    };
    const bindings = Object.fromEntries(
      Object.entries(thrown).flatMap(([name, make]) => [
        [
          `${name}Now`,
          binding(() => {
            throw make();
          }),
        ],
        [`${name}Later`, binding(() => Promise.reject(make()))],
      ]),
    );
    await within(bindings, async (rt) => {
      for (const when of ['Now', 'Later']) {
        const told = async (name: string) => {
          const { stack, ...rest } = await rejection(rt, `callBinding('${name}${when}')`);
          expect(`${JSON.stringify(rest)} ${stack}`).not.toMatch(/private|\/srv|\.test\.|node_modules|secret|packages/);
          return [rest['name'], rest['message'], rest['code']];
        };
        const failed = 'ERR_BINDING_FAILED';
        expect(await told('type')).toEqual(['TypeError', 'must be a city', failed]);
        expect(await told('custom')).toEqual(['CustomError', 'mine', 'E_CUSTOM']);
        expect(await told('system')).toEqual(['Error', "ENOENT: no such file, open '[path]'", 'ENOENT']);
        expect(await told('place')).toEqual(['Error', 'failed in [path]:1:2 and [path]', failed]);
        expect(await told('text')).toEqual(['Error', 'only text', failed]);
        expect(await told('nothing')).toEqual(['Error', 'undefined', failed]);
        expect(await told('nothing2')).toEqual(['Error', 'null', failed]);
        expect(await told('number')).toEqual(['Error', '7', failed]);
        expect(await told('cyclic')).toEqual(['Error', 'round', 5]);
        expect(await told('trap')).toEqual(['Error', 'the handler threw something that cannot be described', failed]);
        expect(await told('strange')).toEqual(['Error', 'the handler threw something that is no error', failed]);
      }
      const { value } = await rt.run(
        "__return(await callBinding('typeNow').catch((e) => [e instanceof TypeError, Object.keys(e)]))",
      );
      expect(value).toEqual([true, ['code']]);
    });
  });

  test('an input that is not what the schema says never reaches the handler, and the error says what is wrong', async () => {
    let reached = 0;
    const handler = (input: unknown) => {
      reached++;
      return input;
    };
    const jsonSchema = {
      type: 'object',
      properties: { city: { type: 'string', minLength: 1 }, days: { type: 'array', items: { type: 'integer', maximum: 7 } } },
      required: ['city'],
    };
    const zodSchema = z.object({
      city: z
        .string()
        .min(1)
        .transform((s) => s.toUpperCase()),
      days: z.array(z.number().max(7)).optional(),
    });
    const late = z.string().refine(async (text) => text === 'yes', 'must be yes');
    await within(
      {
        json: { ...ANY, inputSchema: jsonSchema, handler },
        zod: { ...ANY, inputSchema: zodSchema, handler },
        late: { ...ANY, inputSchema: late, handler },
      },
      async (rt) => {
        const json = await rejection(rt, "callBinding('json', { city: 'x', days: [1, 2.5, 9] })");
        expect(json).toMatchObject({ code: 'ERR_BINDING_INPUT', name: 'Error' });
        expect(json['message']).toContain("The input of the binding 'json' is not what it takes: input.days[1]: ");
        expect((json['issues'] as { path: string }[]).map(({ path }) => path)).toEqual(['input.days[1]', 'input.days[2]']);
        expect((await rejection(rt, "callBinding('json', {})"))['message']).toMatch(/input: .*required.*city/);
        expect((await rejection(rt, "callBinding('json')"))['code']).toBe('ERR_BINDING_INPUT');
        const wrong = await rejection(rt, "callBinding('zod', { city: '', days: [8] })");
        expect((wrong['issues'] as { path: string }[]).map(({ path }) => path)).toEqual(['input.city', 'input.days[0]']);
        expect((await rejection(rt, "callBinding('late', 'no')"))['message']).toContain('input: must be yes');
        expect(reached).toBe(0);
        const { value } = await rt.run(
          "__return([await callBinding('zod', { city: 'oslo' }), await callBinding('late', 'yes')])",
        );
        expect(value).toEqual([{ city: 'OSLO' }, 'yes']);
      },
    );
  });

  test('sizes, depths and names that are too much are errors of their own', async () => {
    let reached = 0;
    const count = () => {
      reached++;
    };
    const same = binding((input) => input, { maxInputBytes: 1_000_000, maxOutputBytes: 100 });
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    const bindings: Bindings = {
      same,
      small: binding(count, { maxInputBytes: 20 }),
      deep: binding(count),
      cyclic: binding(() => cyclic),
      bigint: binding(() => ({ n: 1n })),
      angry: binding(() => ({
        toJSON() {
          throw new Error('/srv/x');
        },
      })),
      large: binding(() => 'x'.repeat(1_048_577)),
      largest: binding(() => 'x'.repeat(1_048_574)),
    };
    await within(bindings, async (rt) => {
      const code = async (call: string) => (await rejection(rt, call))['code'];
      expect(await code("callBinding('small', 'x'.repeat(19))")).toBe('ERR_BINDING_INPUT');
      expect(await code("callBinding('deep', JSON.parse('['.repeat(500) + ']'.repeat(500)))")).toBe('ERR_BINDING_INPUT');
      expect(await code(`callBinding('deep', JSON.parse('{"a":{"__proto__":{"x":1}}}'))`)).toBe('ERR_BINDING_INPUT');
      expect(await code("callBinding('deep', 'x'.repeat(2_000_000))")).toBe('ERR_BINDING_INPUT');
      expect(await code("callBinding('deep', (() => { const a = []; a.push(a); return a; })())")).toBe(undefined);
      expect(reached).toBe(0);
      expect(await rejection(rt, "callBinding('same', 'x'.repeat(99))")).toMatchObject({
        code: 'ERR_BINDING_OUTPUT',
        bytes: 101,
        maxBytes: 100,
      });
      for (const name of ['cyclic', 'bigint', 'angry', 'large'])
        expect(await code(`callBinding('${name}')`)).toBe('ERR_BINDING_OUTPUT');
      expect((await rt.run("__return((await callBinding('largest')).length)")).value).toBe(1_048_574);
      for (const name of [
        "''",
        "'__proto__'",
        "'constructor'",
        "'toString'",
        "'same\\0'",
        "'Same'",
        "'x'.repeat(1e6)",
        "'\\ud800'",
      ]) {
        expect(await code(`callBinding(${name})`)).toBe('ERR_BINDING_NOT_FOUND');
      }
      for (const name of ['undefined', 'null', '{}', 'Symbol()', '[1]']) {
        expect(await code(`callBinding(${name})`)).toBe('ERR_INVALID_ARG_TYPE');
      }
    });
  });

  test('a handler that takes too long is aborted, and the guest gets a typed error', async () => {
    const { handler, reasons } = endless();
    const bindings = {
      slow: binding(handler, { timeoutMs: 20 }),
      queued: binding(handler, { timeoutMs: 20, maxConcurrency: 1 }),
    };
    await within(bindings, async (rt) => {
      expect(await rejection(rt, "callBinding('slow')")).toMatchObject({ code: 'ERR_BINDING_TIMEOUT', timeoutMs: 20 });
      expect(reasons).toHaveLength(1);
      expect((reasons[0] as DOMException).name).toBe('TimeoutError');
      // The second one waits for its turn, and never gets it.
      const code =
        "__return((await Promise.allSettled([callBinding('queued'), callBinding('queued')])).map((r) => r.reason.code))";
      expect((await rt.run(code)).value).toEqual(['ERR_BINDING_TIMEOUT', 'ERR_BINDING_TIMEOUT']);
      expect(reasons).toHaveLength(2);
    });
  });

  test('who calls can give up', async () => {
    const { handler, end } = endless();
    await within({ slow: binding(handler), fast: binding(() => 1) }, async (rt) => {
      const code = `const c = new AbortController();
        setTimeout(() => c.abort(new RangeError('enough')), 5);
        const slow = await callBinding('slow', 1, { signal: c.signal }).catch((e) => e.message);
        const early = await callBinding('fast', 1, { signal: AbortSignal.abort(new Error('early')) }).catch((e) => e.message);
        __return([slow, early, await callBinding('fast', 1, { signal: new AbortController().signal })])`;
      expect((await rt.run(code)).value).toEqual(['enough', 'early', 1]);
      await end;
      expect((await rejection(rt, "callBinding('fast', 1, { signal: {} })"))['code']).toBe('ERR_INVALID_ARG_TYPE');
    });
  });

  test('a handler is aborted when its process ends, is canceled, or the runtime is disposed', async () => {
    const exits = endless();
    const canceled = endless();
    const killed = endless();
    const disposed = endless();
    const bindings = {
      exits: binding(exits.handler),
      canceled: binding(canceled.handler),
      killed: binding(killed.handler),
      disposed: binding(disposed.handler),
    };
    await within(bindings, async (rt) => {
      expect((await rt.exec("callBinding('exits'); setTimeout(() => process.exit(4), 10)")).exitCode).toBe(4);
      await exits.end;
      const controller = new AbortController();
      const aborted = rt.exec("await callBinding('canceled')", { signal: controller.signal });
      await canceled.beginning;
      controller.abort(new Error('mine'));
      await expect(aborted).rejects.toThrow('mine');
      await canceled.end;
      const { error } = await rt.exec("await callBinding('killed')", { timeout: 30 });
      expect(error?.code).toBe('ERR_TIMEOUT');
      await killed.end;
      const last = rt.exec("await callBinding('disposed')");
      await disposed.beginning;
      await rt.dispose();
      expect((await last).error?.code).toBe('ERR_RUNTIME_DISPOSED');
      await disposed.end;
    });
  });

  test('bindings come, change and go on a live runtime; calls under way end as they began', async () => {
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
      const underWay = runtime.exec("console.log(await callBinding('a'), await callBinding('a'), await callBinding('b'))");
      await began.promise;
      await runtime.registerBindings({ a: binding(() => 'new', { commandAliases: ['alpha'] }) });
      release('old');
      expect((await underWay).stdout).toBe('old new b\n');
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

  test('two runtimes never see each other’s', async () => {
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

  test('a name that the sandbox has a command for is refused, and nothing changes', async () => {
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

const ANY_BINDING = binding(() => null);

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
  ])('%o', async (bindings, option) => {
    await expect(NodeRuntime.create({ bindings: bindings as never })).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
      option,
    });
  });
});

test('when the sidecar dies, what it asked is aborted', async () => {
  const { handler, beginning, end } = endless();
  const sidecar = await Sidecar.spawn();
  const runtime = await NodeRuntime.create({ sidecar, bindings: { slow: binding(handler) } });
  const dead = expect(runtime.exec("await callBinding('slow')")).rejects.toMatchObject({ code: 'ERR_SIDECAR_EXITED' });
  await beginning;
  process.kill(sidecar.pid, 'SIGKILL');
  await dead;
  await end;
  await sidecar.dispose();
});
