// Tests contexts of Python with E2B's own client, which is not modified.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sandbox } from '@e2b/code-interpreter';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pythonDir } from '../../../python/dist/index.js';
import { createServer, type Server } from '../../dist/index.js';

const OPTIONS = { apiKey: `e2b_${'0'.repeat(40)}` };
const isBuilt = pythonDir() !== undefined;

let directory: string;
let server: Server;
let url: string;
let sandbox: Sandbox;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'coldframe-server-'));
  server = await createServer({ directory });
  const { port } = await server.listen(0);
  url = `http://127.0.0.1:${port}`;
  sandbox = await Sandbox.create('base', { ...OPTIONS, apiUrl: url, sandboxUrl: url, envs: { GIVEN: 'yes' } });
});
afterAll(async () => {
  await sandbox?.kill();
  await server?.close();
  await rm(directory, { recursive: true });
});

describe.skipIf(isBuilt)('without the image of Python', () => {
  test('the default context names the package to install', async () => {
    const { error } = await sandbox.runCode('1');
    expect(error).toMatchObject({ name: 'ERR_PYTHON_MISSING', value: expect.stringContaining('@coldframe/python') });
  });
});

describe.skipIf(!isBuilt)('with the image of Python', () => {
  test('the default context is Python, and keeps its state', async () => {
    expect((await sandbox.listCodeContexts())[0]).toMatchObject({ language: 'python', cwd: '/home/user' });
    const first = await sandbox.runCode('import os\nx = 41\nprint(os.getcwd())\nx + 1');
    expect(first).toMatchObject({ text: '42', logs: { stdout: ['/home/user\n'], stderr: [] } });
    const second = await sandbox.runCode('x');
    expect([second.text, (second.executionCount ?? 0) - (first.executionCount ?? 0)]).toEqual(['41', 1]);
  });

  test('output arrives in lines while the cell runs', async () => {
    const order: string[] = [];
    const execution = sandbox.runCode('import sys, time\nprint("a")\nsys.stderr.write("e\\n")\ntime.sleep(1)\nprint("b")', {
      onStdout: ({ line }) => order.push(`out ${line}`),
      onStderr: ({ line }) => order.push(`err ${line}`),
    });
    await expect.poll(() => [...order].sort()).toEqual(['err e\n', 'out a\n']);
    await execution;
    expect(order.at(-1)).toBe('out b\n');
  });

  test('results have the fields of their representations', async () => {
    const code = `
class Rich:
    def __repr__(self): return 'rich'
    def _repr_html_(self): return '<b>'
    def _repr_markdown_(self): return '**b**'
    def _repr_svg_(self): return '<svg/>'
    def _repr_png_(self): return b'png'
    def _repr_jpeg_(self): return b'jpeg'
    def _repr_latex_(self): return '$x$'
    def _repr_json_(self): return {'a': [1, None]}
    def _repr_javascript_(self): return 'x()'
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {
            'e2b/data': {'column': [1, 2]},
            'e2b/chart': {'type': 'pie', 'title': 't', 'elements': [{'label': 'a', 'angle': 90, 'radius': 1}]},
        }
Rich()`;
    const [result] = (await sandbox.runCode(code)).results;
    expect(result).toMatchObject({
      text: 'rich',
      html: '<b>',
      markdown: '**b**',
      svg: '<svg/>',
      png: Buffer.from('png').toString('base64'),
      jpeg: Buffer.from('jpeg').toString('base64'),
      latex: '$x$',
      json: { a: [1, null] },
      javascript: 'x()',
      data: { column: [1, 2] },
      chart: { type: 'pie', title: 't' },
      isMainResult: true,
    });
    const { results } = await sandbox.runCode('from IPython.display import HTML\ndisplay(HTML("<i>"), 1)\n2');
    expect(results.map(({ text, html, isMainResult }) => [text, html, isMainResult])).toEqual([
      [expect.any(String), '<i>', false],
      ['1', undefined, false],
      ['2', undefined, true],
    ]);
  });

  test('the text of a string has no quotes', async () => {
    const textOf = async (code: string) => (await sandbox.runCode(code)).text;
    expect(await textOf('"wörld"')).toBe('wörld');
    expect(await textOf('["a"]')).toBe("['a']");
    expect(await textOf(`"'"`)).toBe("'");
    expect(await textOf('None')).toBeUndefined();
  });

  test('an error has a name, a value and a traceback', async () => {
    const { error, logs } = await sandbox.runCode('def f():\n    return 1 / 0\nf()');
    expect(error).toMatchObject({ name: 'ZeroDivisionError', value: 'division by zero' });
    expect(error?.traceback).toMatch(/^Traceback .*\n.*line 3, in <module>\n[\s\S]*line 2, in f\n/);
    expect(logs.stderr).toEqual([]);
    expect((await sandbox.runCode('x =')).error?.name).toBe('SyntaxError');
  });

  test('a cell may be indented', async () => {
    expect((await sandbox.runCode('\n    y = 5\n    y')).text).toBe('5');
  });

  test('variables of an execution end with the execution', async () => {
    const code = 'import os\nos.environ.get("GIVEN"), os.environ.get("OTHER")';
    const envs = { GIVEN: 'no', OTHER: '1' };
    expect((await sandbox.runCode(code, { envs })).text).toBe("('no', '1')");
    expect((await sandbox.runCode(code)).text).toBe("('yes', None)");
  });

  test('contexts have their own names and directory, and a restart clears the names', async () => {
    const made = await sandbox.createCodeContext({ cwd: '/tmp' });
    expect(made).toMatchObject({ language: 'python', cwd: '/tmp' });
    await sandbox.runCode('own = 1');
    const names = 'import os\n"own" in globals(), os.getcwd()';
    expect((await sandbox.runCode(`${names}`, { context: made })).text).toBe("(False, '/tmp')");
    await sandbox.runCode('own = 2', { context: made });
    await sandbox.restartCodeContext(made.id);
    const restarted = await sandbox.runCode(names, { context: made });
    expect([restarted.text, restarted.executionCount]).toEqual(["(False, '/tmp')", 1]);
    expect((await sandbox.runCode('own')).text).toBe('1');
    await sandbox.removeCodeContext(made.id);
  });

  test('contexts of several languages run at once and share the files', async () => {
    const [python, javascript, shell] = await Promise.all([
      sandbox.runCode('open("/tmp/py", "w").write("py")\n"py"'),
      sandbox.runCode("import fs from 'fs'; fs.writeFileSync('/tmp/js', 'js'); 'js'", { language: 'js' }),
      sandbox.runCode('echo sh | tee /tmp/sh', { language: 'bash' }),
    ]);
    expect([python.text, javascript.text, shell.logs.stdout]).toEqual(['py', 'js', ['sh\n']]);
    const { text } = await sandbox.runCode('[open("/tmp/" + name).read().strip() for name in ("py", "js", "sh")]');
    expect(text).toBe("['py', 'js', 'sh']");
  });

  test.each(['while True: pass', 'import time\ntime.sleep(60)', 'input_ = open("/dev/zero", "rb")\nwhile input_.read(9): pass'])(
    'a client that leaves interrupts %j, and the context keeps its state',
    async (code) => {
      await sandbox.runCode('kept = 1');
      await expect(sandbox.runCode(code, { timeoutMs: 300 })).rejects.toThrow();
      expect((await sandbox.runCode('kept')).text).toBe('1');
    },
  );

  test('a context whose process ends begins again', async () => {
    await sandbox.runCode('kept = 1');
    await sandbox.runCode('import os\nos._exit(3)');
    expect((await sandbox.runCode('"kept" in globals()')).text).toBe('False');
  });

  test('a paused sandbox keeps its names', async () => {
    await sandbox.runCode('slept = {"a": 1}');
    await sandbox.pause();
    await sandbox.connect();
    expect((await sandbox.runCode('slept')).text).toBe("{'a': 1}");
  });

  test('a server in a cell continues while later cells run', async () => {
    const serve = `import asyncio
async def answer(reader, writer):
    await reader.readline()
    writer.write(b'HTTP/1.0 200 OK\\r\\n\\r\\nup')
    writer.close()
server = await asyncio.start_server(answer, '127.0.0.1', 8090)`;
    expect((await sandbox.runCode(serve)).error).toBeUndefined();
    const ask = `reader, writer = await asyncio.open_connection('127.0.0.1', 8090)
writer.write(b'GET / HTTP/1.0\\r\\n\\r\\n')
(await reader.read()).decode()`;
    expect((await sandbox.runCode(ask)).text).toContain('up');
  });
});
