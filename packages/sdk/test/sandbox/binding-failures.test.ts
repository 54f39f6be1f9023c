// Tests failing calls of bindings in every mode: errors of handlers, refused inputs and results,
// timeouts and cancellation.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type Bindings, NodeRuntime, Sidecar } from '../../src/index.js';
import { ANY, binding, endless, rejection, withBindings } from './binding-helpers.js';
import { MODES, type Provisioning } from './modes.js';

describe.each(MODES)('$name', ({ open }) => {
  let provisioning: Provisioning;
  const within = <T>(bindings: Bindings, work: (runtime: NodeRuntime) => Promise<T>): Promise<T> =>
    withBindings(provisioning, bindings, work);

  beforeAll(async () => {
    provisioning = await open();
  });
  afterAll(() => provisioning.close());

  test("passes a handler's error with name, message and code, without paths and stack of the host machine", async () => {
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
        const reported = async (name: string) => {
          const { stack, ...rest } = await rejection(rt, `callBinding('${name}${when}')`);
          expect(`${JSON.stringify(rest)} ${stack}`).not.toMatch(/private|\/srv|\.test\.|node_modules|secret|packages/);
          return [rest['name'], rest['message'], rest['code']];
        };
        const failed = 'ERR_BINDING_FAILED';
        expect(await reported('type')).toEqual(['TypeError', 'must be a city', failed]);
        expect(await reported('custom')).toEqual(['CustomError', 'mine', 'E_CUSTOM']);
        expect(await reported('system')).toEqual(['Error', "ENOENT: no such file, open '[path]'", 'ENOENT']);
        expect(await reported('place')).toEqual(['Error', 'failed in [path]:1:2 and [path]', failed]);
        expect(await reported('text')).toEqual(['Error', 'only text', failed]);
        expect(await reported('nothing')).toEqual(['Error', 'undefined', failed]);
        expect(await reported('nothing2')).toEqual(['Error', 'null', failed]);
        expect(await reported('number')).toEqual(['Error', '7', failed]);
        expect(await reported('cyclic')).toEqual(['Error', 'round', 5]);
        expect(await reported('trap')).toEqual(['Error', 'the handler threw something that cannot be described', failed]);
        expect(await reported('strange')).toEqual(['Error', 'the handler threw something that is no error', failed]);
      }
      const { value } = await rt.run(
        "__return(await callBinding('typeNow').catch((e) => [e instanceof TypeError, Object.keys(e)]))",
      );
      expect(value).toEqual([true, ['code']]);
      const where = "function here() { return callBinding('typeNow'); }\nawait here().catch((e) => console.log(e.stack))";
      expect((await rt.exec(where)).stdout).toMatch(/^TypeError: must be a city\n {4}at here \(.*:1:\d+\)\n {4}at .*:2:\d+\n$/);
    });
  });

  test('refuses an input that breaks the schema before the handler runs, and names the problem', async () => {
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
        expect(json['message']).toContain("The input of the binding 'json' does not match its schema: input.days[1]: ");
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

  test('inputs, results and names beyond their limits fail with their own codes', async () => {
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
      throwing: binding(() => ({
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
      for (const name of ['cyclic', 'bigint', 'throwing', 'large'])
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

  test('aborts a handler at its timeout, and the guest gets a typed error', async () => {
    const { handler, reasons } = endless();
    const bindings = {
      slow: binding(handler, { timeoutMs: 20 }),
      queued: binding(handler, { timeoutMs: 20, maxConcurrency: 1 }),
    };
    await within(bindings, async (rt) => {
      expect(await rejection(rt, "callBinding('slow')")).toMatchObject({ code: 'ERR_BINDING_TIMEOUT', timeoutMs: 20 });
      expect(reasons).toHaveLength(1);
      expect((reasons[0] as DOMException).name).toBe('TimeoutError');
      // The second call waits for the first call and never starts.
      const code =
        "__return((await Promise.allSettled([callBinding('queued'), callBinding('queued')])).map((r) => r.reason.code))";
      expect((await rt.run(code)).value).toEqual(['ERR_BINDING_TIMEOUT', 'ERR_BINDING_TIMEOUT']);
      expect(reasons).toHaveLength(2);
    });
  });

  test('a guest can abort its call', async () => {
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

  test('aborts a handler when the process ends or is canceled, or the runtime is disposed', async () => {
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
});

test('aborts handlers when the sidecar exits', async () => {
  const { handler, beginning, end } = endless();
  const sidecar = await Sidecar.spawn();
  const runtime = await NodeRuntime.create({ sidecar, bindings: { slow: binding(handler) } });
  const rejected = expect(runtime.exec("await callBinding('slow')")).rejects.toMatchObject({ code: 'ERR_SIDECAR_EXITED' });
  await beginning;
  process.kill(sidecar.pid, 'SIGKILL');
  await rejected;
  await end;
  await sidecar.dispose();
});
