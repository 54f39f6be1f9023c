// Tests the cells of resident runners: shared declarations, results, errors, work that outlives its
// cell, and interrupts.

import { describe, expect, test } from 'vitest';
import { repetitions } from '../repetitions.js';
import { MODES, withRuntime } from './modes.js';

const ENDLESS = 'while (true);';

describe.each(MODES)('$name', (mode) => {
  test('cells share imports and declarations, which can be repeated', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      const text = async (code: string) => (await runner.cell(code)).text;
      expect(await text("import { sep as slash } from 'node:path'; import crypto from 'crypto'; const a = 1; let b = 2")).toBe(
        undefined,
      );
      expect(await text('class A { get n() { return a + b } }\nfunction f(n) { return n === 0 ? g() : f(n - 1) }')).toBe(
        undefined,
      );
      expect(await text('const g = () => slash; f(3)')).toBe('/');
      expect(await text('const a = 10, { b } = { b: 20 }; new A().n')).toBe('30');
      expect(await text('function g() { return "new" }; f(1)')).toBe('new');
      expect(await text('for (var i = 0; i < 3; i++) { var last = i }\n[i, last]')).toBe('[ 3, 2 ]');
      expect(await text('x = y = 5\nx + y')).toBe('10');
      expect(await text('[typeof crypto.createHash, f.name, A.name, typeof require("fs").readFileSync]')).toBe(
        "[ 'function', 'f', 'A', 'function' ]",
      );
    }));

  test('the value of the last expression is awaited and described', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      const cell = async (code: string) => (await runner.cell(code)).results;
      const main = (data: object) => [{ data, isMain: true }];
      expect(await cell('"text"')).toEqual(main({ 'text/plain': 'text' }));
      expect(await cell('await Promise.resolve({ a: [1] })')).toEqual(main({ 'text/plain': '{ a: [ 1 ] }' }));
      expect(await cell('Promise.resolve(7)')).toEqual(main({ 'text/plain': '7' }));
      expect(await cell('{ a: 1 }')).toEqual(main({ 'text/plain': '{ a: 1 }' }));
      expect(await cell('undefined')).toEqual([]);
      expect(await cell('const c = 1;')).toEqual([]);
      const bundle = "{ 'text/html': '<b>', 'image/png': new Uint8Array([1, 2, 3]), 'application/json': { a: 1 } }";
      const data = { 'text/html': '<b>', 'image/png': 'AQID', 'application/json': '{"a":1}' };
      expect(await cell(`({ [Symbol.for('Jupyter.display')]: async () => (${bundle}) })`)).toEqual(main(data));
      expect(await cell(`await display(1); await display(${bundle}, { raw: true }); 2`)).toEqual([
        { data: { 'text/plain': '1' }, isMain: false },
        { data, isMain: false },
        { data: { 'text/plain': '2' }, isMain: true },
      ]);
    }));

  test('types of a TypeScript cell are removed', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      const options = { language: 'typescript' } as const;
      await runner.cell('interface P { n: number }\nconst p: P = { n: 4 }', options);
      expect(await runner.cell('(p as P).n * 2', options)).toMatchObject({ text: '8', stderr: '' });
      const refused = await runner.cell('enum E { A }', options);
      expect(refused).toMatchObject({ exitCode: 1, thrown: { message: expect.stringContaining('enum') } });
    }));

  test('an error of a cell has a name, a message and a stack, and is not printed', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      const failed = await runner.cell('const kept = 1;\ndisplay("before");\nnull.x');
      expect(failed).toMatchObject({
        exitCode: 1,
        stderr: '',
        results: [{ data: { 'text/plain': 'before' }, isMain: false }],
        thrown: { name: 'TypeError', message: expect.stringContaining('null'), stack: expect.stringContaining(':3:') },
      });
      expect(await runner.cell('throw 5')).toMatchObject({ exitCode: 1, thrown: { name: 'Uncaught', message: '5' } });
      expect((await runner.cell('const = 1')).thrown?.name).toBe('SyntaxError');
      expect(
        (await runner.cell('setTimeout(() => { throw new RangeError("late") }); await new Promise(() => {})')).thrown,
      ).toMatchObject({
        name: 'RangeError',
        message: 'late',
      });
      expect((await runner.cell('kept')).text).toBe('1');
      await expect(runner.cell('throw new Error("no")', { throwOnError: true })).rejects.toMatchObject({
        code: 'ERR_PROGRAM_FAILED',
      });
    }));

  test('servers and timers of a cell continue while later cells run', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.cell(`
        import http from 'node:http';
        let ticks = 0, served = 0;
        setInterval(() => ticks++, 5);
        const server = http.createServer((_, response) => response.end(String(++served)));
        await new Promise((resolve) => server.listen(3000, resolve));
      `);
      for (let at = 1; at <= 3; at++) {
        expect((await runtime.fetch(3000)).body).toBe(String(at));
        expect((await runner.cell('served')).text).toBe(String(at));
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(Number((await runner.cell('ticks')).text)).toBeGreaterThan(2);
      await runner.exec('setTimeout(() => console.log("later"), 20)', { until: 'value' });
      await new Promise((resolve) => setTimeout(resolve, 60));
      const idle = await runner.exec('setTimeout(() => console.log("waited"), 20)');
      expect(idle.stdout).toBe('later\nwaited\n');
    }));

  test('output and errors between two cells are reported to the next cell', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.cell('setTimeout(() => { console.log("between"); throw new Error("nobody") }, 10)');
      await new Promise((resolve) => setTimeout(resolve, 60));
      const seen: string[] = [];
      const next = await runner.cell('console.log("next")', {
        onStdout: (chunk) => void seen.push(Buffer.from(chunk).toString()),
      });
      expect(next.stdout).toBe('between\nnext\n');
      expect(seen.join('')).toBe('between\nnext\n');
      expect(next.earlierErrors).toMatchObject([{ name: 'Error', message: 'nobody' }]);
      expect(next.stderr).toContain('Error: nobody');
      expect(next).toMatchObject({ exitCode: 0, droppedErrors: 0 });
      expect((await runner.cell('1')).earlierErrors).toEqual([]);
    }));

  test('environment and working directory of a cell end with the cell', () =>
    withRuntime(mode, { env: { A: '1' } }, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      const place = '[process.env.A, process.env.B, process.cwd()].join()';
      expect((await runner.cell(place, { env: { A: '2', B: '3' }, cwd: '/tmp' })).text).toBe('2,3,/tmp');
      expect((await runner.cell(place)).text).toBe('1,,/workspace');
    }));

  test('an interrupt ends a cell and keeps the state', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.cell('let kept = 1');
      for (const code of [ENDLESS, 'await new Promise((resolve) => setTimeout(resolve, 60_000))']) {
        const running = runner.cell(`console.log("begun"); ${code}`, {
          onStdout: () => void runner.interrupt(),
        });
        expect(await running).toMatchObject({ exitCode: 130, stdout: 'begun\n', error: { code: 'ERR_INTERRUPTED' } });
      }
      expect((await runner.cell('++kept')).text).toBe('2');
      // Without an evaluation, an interrupt ends the callback that runs.
      await runner.cell(`setTimeout(() => { ${ENDLESS} }, 30)`);
      await new Promise((resolve) => setTimeout(resolve, 120));
      const queued = runner.cell('kept');
      await runner.interrupt();
      expect((await queued).text ?? (await runner.cell('kept')).text).toBe('2');
      await runner.interrupt();
      expect((await runner.cell('kept + 1')).text).toBe('3');
    }));

  test('cells wait for each other, and an aborted cell that waits never runs', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      const order: Promise<unknown>[] = [];
      order.push(runner.cell('const ran = []; await new Promise((resolve) => setTimeout(resolve, 30)); ran.push(1)'));
      const aborted = new AbortController();
      order.push(runner.cell('ran.push(2)', { signal: aborted.signal }).catch((error) => error));
      order.push(runner.cell('ran.push(3)'));
      aborted.abort('aborted');
      expect((await Promise.all(order))[1]).toBe('aborted');
      expect((await runner.cell('ran')).text).toBe('[ 1, 3 ]');
    }));

  test('snapshots, clones, rollbacks and pauses keep the declarations', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.cell("import { join } from 'node:path'; let n = 1; const next = () => join('a', String(n++))");
      const snapshot = await runtime.snapshot();
      expect((await runner.cell('next()')).text).toBe('a/1');
      const clone = await runtime.clone();
      const [copy] = await clone.residentRunners();
      expect((await copy?.cell('next()'))?.text).toBe('a/2');
      await clone.dispose();
      await runtime.rollback(snapshot);
      const [restored] = await runtime.residentRunners();
      expect((await restored?.cell('next()'))?.text).toBe('a/1');
      await runtime.pause();
      await runtime.resume();
      expect((await restored?.cell('next()'))?.text).toBe('a/2');
      await snapshot.delete();
    }));
});

test('cells leave nothing behind', async () => {
  const [mode] = MODES;
  if (mode === undefined) return;
  await withRuntime(mode, {}, async (runtime) => {
    const runner = await runtime.createResidentRunner();
    const run = async (count: number) => {
      for (let at = 0; at < count; at++) {
        const code = `import { basename } from 'node:path'; const value = ${at}; const f = () => value; basename(String(f()))`;
        expect((await runner.cell(code)).text).toBe(String(at));
      }
    };
    const memory = async () => (await runtime.getResourceSnapshot()).memoryBytes;
    await run(2_000);
    const before = await memory();
    await run(repetitions(600, 8_000));
    expect((await memory()) - before).toBeLessThan(1 << 20);
  });
}, 300_000);

test('wrong options are refused', async () => {
  const [mode] = MODES;
  if (mode === undefined) return;
  await withRuntime(mode, {}, async (runtime) => {
    const wrong = { code: 'ERR_INVALID_OPTION' };
    await expect(runtime.createResidentRunner({ language: 'ruby' as never })).rejects.toMatchObject(wrong);
    const runner = await runtime.createResidentRunner();
    await expect(runner.cell('1', { language: 'bash' as never })).rejects.toMatchObject(wrong);
    await expect(runner.exec('1', { until: 'end' as never })).rejects.toMatchObject(wrong);
    await runner.dispose();
    await expect(runner.interrupt()).rejects.toMatchObject({ code: 'ERR_RUNNER_DISPOSED' });
  });
});
