// Tests cells in Python: results, representations, errors and magics.

import { pythonDir } from '@coldframe/python';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NodeRuntime, type ResidentRunner } from '../../src/index.js';

const isBuilt = pythonDir() !== undefined;

describe.skipIf(!isBuilt)('a cell in Python', () => {
  let runtime: NodeRuntime;
  let notebook: ResidentRunner;
  beforeAll(async () => {
    runtime = await NodeRuntime.create();
    notebook = await runtime.createResidentRunner({ language: 'python' });
  });
  afterAll(() => runtime?.dispose());

  const cell = (code: string) => notebook.cell(code, { language: 'python' });

  test('returns the value of its last expression, and shares its names', async () => {
    expect(await cell('x = 41\nx + 1')).toMatchObject({ exitCode: 0, stdout: '', text: '42' });
    expect((await cell('_ + x, Out[1], __name__')).text).toBe("(83, 42, '__main__')");
    expect((await cell('x;')).results).toEqual([]);
    expect((await cell('None')).text).toBeUndefined();
    await notebook.exec('y = x');
    expect((await cell('y')).text).toBe('41');
  });

  test('may be indented, and writes its lines at once', async () => {
    expect((await cell('\n    n = 2\n    if n:\n        n += 1\n    n')).text).toBe('3');
    let first: (chunk: Uint8Array) => void = () => {};
    const written = new Promise((resolve) => {
      first = resolve;
    });
    const running = notebook.cell('import time\nprint("a")\ntime.sleep(20)', { onStdout: (chunk) => first(chunk) });
    expect(Buffer.from((await written) as Uint8Array).toString()).toBe('a\n');
    await notebook.interrupt();
    expect((await running).error?.code).toBe('ERR_INTERRUPTED');
  });

  test('returns its error without frames of the bootstrap', async () => {
    const { exitCode, stderr, thrown } = await cell('def f():\n    return 1 / 0\nf()');
    expect([exitCode, stderr]).toEqual([1, '']);
    expect(thrown).toMatchObject({ name: 'ZeroDivisionError', message: 'division by zero' });
    expect(thrown?.stack).toMatch(/^Traceback \(most recent call last\):\n {2}File "<cell \d+>", line 3, in <module>\n/);
    expect(thrown?.stack).not.toContain('_coldframe');
    expect((await cell('x =')).thrown?.name).toBe('SyntaxError');
    expect((await cell('x')).text).toBe('41');
  });

  test('awaits at the top level', async () => {
    expect((await cell('import asyncio\nawait asyncio.sleep(0.001)\n"done"')).text).toBe("'done'");
    const { thrown } = await cell('async def g():\n    1 / 0\nawait g()');
    expect(thrown?.stack).not.toContain('asyncio');
  });

  test('displays values with their representations', async () => {
    const code = 'class A:\n    def _repr_html_(self): return "<b>"\n    def __repr__(self): return "A"\ndisplay(A(), [1])\nA()';
    expect((await cell(code)).results).toEqual([
      { isMain: false, data: { 'text/plain': 'A', 'text/html': '<b>' } },
      { isMain: false, data: { 'text/plain': '[1]' } },
      { isMain: true, data: { 'text/plain': 'A', 'text/html': '<b>' } },
    ]);
    const { results } = await cell('from IPython.display import HTML\nHTML("<i>")');
    expect(results[0]?.data['text/html']).toBe('<i>');
  });

  test('runs magics and commands of the shell', async () => {
    expect((await cell('%cd /tmp\n!echo $x; pwd')).stdout).toBe('/tmp\n41\n/tmp\n');
    expect((await cell('lines = !echo a; echo b\nlines')).text).toBe("['a', 'b']");
    expect((await cell('%%bash\necho $((1 + 1))')).stdout).toBe('2\n');
    expect((await cell('%missing')).thrown).toMatchObject({ name: 'UsageError' });
  });

  test('can be interrupted, and the notebook continues', async () => {
    const { error } = await notebook.cell('while True: pass', { timeout: 200 });
    expect(error?.code).toBe('ERR_TIMEOUT');
    expect((await cell('x')).text).toBe('41');
  });

  test('ends the runner with sys.exit()', async () => {
    const runner = await runtime.createResidentRunner({ language: 'python' });
    expect((await runner.cell('import sys; sys.exit(4)')).exitCode).toBe(4);
    await expect(runner.cell('1')).rejects.toMatchObject({ code: 'ERR_RUNNER_EXITED' });
  });
});
