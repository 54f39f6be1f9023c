// Tests programs in every mode: their results, and the end of programs that misbehave.

import { describe, expect, test } from 'vitest';
import { MODES, withMode, withRuntime } from './modes.js';

const ENDLESS = 'while (true);';
const SLEEP = 'await new Promise((resolve) => setTimeout(resolve, 60_000));';

describe.each(MODES)('$name', (mode) => {
  test('returns output and exit code of a program with environment, directory and arguments', () =>
    withRuntime(mode, { env: { A: '1', B: '2' } }, async (runtime) => {
      const code = `console.log(process.env.A, process.env.B, process.cwd(), process.argv.slice(1));
        console.error("e");
        process.exitCode = 3`;
      const result = await runtime.exec(code, { env: { B: '3' }, cwd: '/tmp', args: ['x', 'y z'] });
      const timings = { startMs: expect.any(Number), runMs: expect.any(Number) };
      expect(result).toEqual({ stdout: "1 3 /tmp [ 'x', 'y z' ]\n", stderr: 'e\n', exitCode: 3, signal: null, timings });
      const names = await runtime.exec('console.log(process.cwd(), Object.keys(process.env).join())');
      expect(names.stdout).toBe('/workspace HOME,LOGNAME,PATH,SHELL,TMPDIR,USER,A,B\n');
    }));

  test('run() returns a value', () =>
    withRuntime(mode, {}, async (runtime) => {
      const code = 'const n = await Promise.resolve(20); __return({ n: n * 2 + 2, list: [null, "ä"] })';
      expect(await runtime.run<{ n: number }>(code)).toEqual({
        stdout: '',
        stderr: '',
        exitCode: 0,
        signal: null,
        timings: { startMs: expect.any(Number), runMs: expect.any(Number) },
        value: { n: 42, list: [null, 'ä'] },
      });
      expect('value' in (await runtime.run('1'))).toBe(false);
    }));

  test('programs share no globals', () =>
    withRuntime(mode, {}, async (runtime) => {
      await runtime.exec('globalThis.secret = 1; Object.prototype.polluted = 1; Array.prototype.push = null');
      const { stdout } = await runtime.exec('console.log(typeof secret, {}.polluted, typeof [].push)');
      expect(stdout).toBe('undefined undefined function\n');
    }));

  test.each([
    ['spins', ENDLESS],
    ['waits', SLEEP],
    ['spins in native code', 'while (true) "a".repeat(1 << 24).split("");'],
    ['catches everything', 'for (;;) try { while (true); } catch {} finally { for (;;); }'],
    ['spins in a regular expression', '/^(a+)+$/.test("a".repeat(60) + "b")'],
  ])('a timeout ends a program that %s', (_name, code) =>
    withRuntime(mode, {}, async (runtime) => {
      const result = await runtime.exec(`console.log("begun"); ${code}`, { timeout: 100 });
      expect(result).toMatchObject({ exitCode: 124, stdout: 'begun\n', error: { code: 'ERR_TIMEOUT', timeoutMs: 100 } });
      expect((await runtime.exec('console.log(1)')).stdout).toBe('1\n');
    }),
  );

  test('deep recursion throws a RangeError that the program can catch', () =>
    withRuntime(mode, {}, async (runtime) => {
      const code =
        'let depth = 0; const f = () => { depth++; f(); }; try { f(); } catch (e) { console.log(e.name, depth > 1000); }';
      expect(await runtime.exec(code)).toMatchObject({ exitCode: 0, stdout: 'RangeError true\n' });
      const uncaught = await runtime.exec('const f = () => f(); f()');
      expect(uncaught).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('RangeError: Maximum call stack size exceeded'),
      });
    }));

  test.each([
    ['small objects', 'const all = []; for (;;) all.push({ a: all.length, b: [1, 2, 3] });'],
    ['one large buffer after another', 'const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1));'],
    ['text', 'let text = "x"; const all = []; for (;;) { text += text.slice(0, 1 << 20) + all.length; all.push(text); }'],
  ])('ends a program that allocates beyond the limit: %s', (_name, code) =>
    withRuntime(mode, { limits: { memoryBytes: 64 << 20 } }, async (runtime) => {
      const result = await runtime.exec(code, { timeout: 60_000 });
      expect(result).toMatchObject({
        exitCode: 134,
        error: { code: 'ERR_MEMORY_LIMIT', memoryBytes: 64 << 20, limit: 'memoryBytes' },
      });
      expect((await runtime.exec('console.log(1)')).stdout).toBe('1\n');
    }),
  );

  test('cpuMs limits processor time and not waiting time', () =>
    withRuntime(mode, { limits: { cpuMs: 100 } }, async (runtime) => {
      expect(await runtime.exec(ENDLESS)).toMatchObject({ exitCode: 124, error: { code: 'ERR_CPU_LIMIT', cpuMs: 100 } });
      const waiting = await runtime.exec('await new Promise((r) => setTimeout(r, 250)); console.log("slept")');
      expect(waiting).toMatchObject({ exitCode: 0, stdout: 'slept\n' });
    }));

  test('truncates captured output at its limit while the program continues', () =>
    withRuntime(mode, { limits: { outputBytes: 10_000, cpuMs: 300 } }, async (runtime) => {
      const some = await runtime.exec('for (let n = 0; n < 1000; n++) console.error("x".repeat(99)); console.log("end")');
      expect(some).toMatchObject({ exitCode: 0, stdout: 'end\n', stderrTruncated: true });
      expect([some.stderr.length, some.error, some.stdoutTruncated]).toEqual([10_000, undefined, undefined]);
      // The limit of processor time ends an endless program.
      const endless = await runtime.exec('for (;;) console.log("x".repeat(99))');
      expect(endless).toMatchObject({ exitCode: 124, stdoutTruncated: true, error: { code: 'ERR_CPU_LIMIT' } });
      expect(endless.stdout.length).toBe(10_000);
    }));

  test('passes binary stdin and stdout byte for byte', () =>
    withRuntime(mode, {}, async (runtime) => {
      const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * 7 + (i >> 8)) & 0xff));
      const echo = 'for await (const chunk of process.stdin) process.stdout.write(chunk)';
      const result = await runtime.exec(echo, { stdin: bytes });
      expect(Buffer.from(result.stdoutBytes).equals(bytes)).toBe(true);
      expect((await runtime.exec(echo, { stdin: 'grüße' })).stdout).toBe('grüße');
      expect((await runtime.exec(echo)).stdout).toBe('');
    }));

  test('reports a syntax error with its line and column', () =>
    withRuntime(mode, {}, async (runtime) => {
      const { exitCode, stderr } = await runtime.exec('const a = 1;\nconst b = ;\n');
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/SyntaxError/);
      expect(stderr).toMatch(/:2\b/);
    }));

  test('an aborted signal ends the program and rejects with its reason', () =>
    withRuntime(mode, {}, async (runtime) => {
      for (const code of [ENDLESS, SLEEP]) {
        const reason = new Error('enough');
        const controller = new AbortController();
        setTimeout(() => controller.abort(reason), 50);
        await expect(runtime.exec(code, { signal: controller.signal })).rejects.toBe(reason);
      }
      await expect(runtime.exec('1', { signal: AbortSignal.abort('before') })).rejects.toBe('before');
      await expect(runtime.exec(SLEEP, { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({ name: 'TimeoutError' });
      const { processes } = await settled(async () => (await runtime.getResourceSnapshot()).sidecar);
      expect(processes).toBe(0);
    }));

  test('an error of an output handler ends the program and rejects the call', () =>
    withRuntime(mode, {}, async (runtime) => {
      const thrown = new Error('the handler failed');
      const handler = () => {
        throw thrown;
      };
      await expect(runtime.exec('for (;;) console.log(1)', { onStdout: handler })).rejects.toBe(thrown);
      await expect(runtime.exec('for (;;) console.log(1)', { onStdout: async () => handler() })).rejects.toBe(thrown);
      const { processes } = await settled(async () => (await runtime.getResourceSnapshot()).sidecar);
      expect(processes).toBe(0);
    }));

  test('streams output while the program runs', () =>
    withRuntime(mode, {}, async (runtime) => {
      const seen: string[] = [];
      const controller = new AbortController();
      const running = runtime.exec(`console.log("one"); console.error("two"); ${SLEEP}`, {
        signal: controller.signal,
        onStdout: (chunk) => seen.push(`out ${Buffer.from(chunk)}`),
        onStderr: (chunk) => {
          seen.push(`err ${Buffer.from(chunk)}`);
          controller.abort('seen');
        },
      });
      await expect(running).rejects.toBe('seen');
      expect(seen).toEqual(['out one\n', 'err two\n']);
    }));

  test('dispose() ends running programs with an outcome, and later calls are refused', () =>
    withMode(mode, async (provisioning) => {
      const runtime = await provisioning.create();
      const running = [ENDLESS, SLEEP].map((code) => runtime.exec(code));
      await runtime.exec('1');
      await Promise.all([runtime.dispose(), runtime.dispose()]);
      for (const result of await Promise.all(running)) {
        expect(result).toMatchObject({ exitCode: 137, error: { code: 'ERR_RUNTIME_DISPOSED' } });
      }
      await expect(runtime.exec('1')).rejects.toMatchObject({ code: 'ERR_RUNTIME_DISPOSED' });
      await expect(runtime.createResidentRunner()).rejects.toMatchObject({ code: 'ERR_RUNTIME_DISPOSED' });
      await expect(runtime.getResourceSnapshot()).rejects.toMatchObject({ code: 'ERR_RUNTIME_DISPOSED' });
    }));

  test('refuses a wrong call before it starts a program', () =>
    withRuntime(mode, {}, async (runtime) => {
      await expect(runtime.exec(5 as never)).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', option: 'code' });
      await expect(runtime.exec('1', { timeoutMs: 5 } as never)).rejects.toMatchObject({
        code: 'ERR_INVALID_OPTION',
        option: 'timeoutMs',
      });
      const large = runtime.exec('1', { stdin: Buffer.alloc(34_000_000) });
      // An embedded sidecar starts a program without a frame, so `limits.stdinBytes` refuses the
      // input.
      const code = mode.name.startsWith('embedded') ? 'ERR_RESOURCE_EXHAUSTED' : 'ERR_FRAME_TOO_LARGE';
      await expect(large).rejects.toMatchObject({ code });
      await expect(runtime.exec('1', { env: { A: 'x'.repeat(2 << 20) } })).rejects.toMatchObject({ code: 'E2BIG' });
      expect((await runtime.exec('console.log(1)')).stdout).toBe('1\n');
    }));

  test('runs a hundred programs at a time', () =>
    withRuntime(mode, {}, async (runtime) => {
      const results = await Promise.all(Array.from({ length: 100 }, (_, i) => runtime.exec(`console.log(${i})`)));
      expect(results.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 100 }, (_, i) => `${i}\n`));
    }));
});

// Waits until a canceled program has ended, which takes up to 50 ms.
async function settled<T extends { processes: number }>(snapshot: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    const now = await snapshot();
    if (now.processes === 0 || tries === 40) return now;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
