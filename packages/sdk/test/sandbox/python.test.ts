// Tests programs in Python: as code, as files, as children of other programs, and in runners.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { NodeRuntime, type ResidentRunner, type RunOptions } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';
import { disposeAll, runnerOf, usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();

const IMAGE = fileURLToPath(new URL('../../../python/dist/python.image', import.meta.url));
const isBuilt = existsSync(process.env['COLDFRAME_PYTHON'] ?? IMAGE);
const python = (options: RunOptions = {}): RunOptions => ({ language: 'python', ...options });

describe.skipIf(isBuilt)('without the image of Python', () => {
  test('every call names the package to install', async () => {
    const runtime = await NodeRuntime.create();
    const missing = { code: 'ERR_PYTHON_MISSING', package: '@coldframe/python' };
    await runtime.writeFile('/workspace/a.py', 'print(1)');
    await expect(runtime.exec('print(1)', python())).rejects.toMatchObject(missing);
    await expect(runtime.run('1', python())).rejects.toMatchObject(missing);
    await expect(runtime.execFile('/workspace/a.py')).rejects.toMatchObject(missing);
    await expect(runtime.spawn('print(1)', python())).rejects.toMatchObject(missing);
    await expect(runtime.spawnCommand('python3', [])).rejects.toMatchObject(missing);
    await expect(runtime.createResidentRunner({ language: 'python' })).rejects.toMatchObject(missing);
    await runtime.dispose();
  });

  test('a child prints the package to install and exits with code 127', async () => {
    const runtime = await NodeRuntime.create();
    const { stdout, stderr } = await runtime.execCommand('sh', ['-c', 'python3 -c "print(1)"; echo $?']);
    expect([stdout, stderr]).toEqual(['127\n', expect.stringContaining('@coldframe/python')]);
    await runtime.dispose();
  });
});

describe.skipIf(!isBuilt).each(MODES)('$name, with the image of Python', (mode) => {
  const withPython = (work: (runtime: NodeRuntime) => Promise<void>) => withRuntime(mode, { env: { GIVEN: 'yes' } }, work);

  test('a program has output, input, arguments, environment and a directory', () =>
    withPython(async (runtime) => {
      expect(await runtime.exec('print(1+1)', python())).toMatchObject({ exitCode: 0, stdout: '2\n', stderr: '' });
      const code = 'import os, sys\nprint(sys.argv[1:], sys.stdin.read(), os.environ["GIVEN"], os.environ["A"], os.getcwd())';
      const options = python({ args: ['a', 'b'], stdin: 'in', env: { A: '1' }, cwd: '/tmp' });
      expect((await runtime.exec(code, options)).stdout).toBe("['a', 'b'] in yes 1 /tmp\n");
      const { stderr } = await runtime.exec('import sys\nprint("e", file=sys.stderr)', python());
      expect(stderr).toBe('e\n');
    }));

  test('a program ends with its exit code', () =>
    withPython(async (runtime) => {
      const endOf = async (code: string) => (await runtime.exec(code, python())).exitCode;
      expect(await endOf('raise SystemExit(7)')).toBe(7);
      expect(await endOf('import sys; sys.exit(3)')).toBe(3);
      expect(await endOf('import sys; sys.exit("text")')).toBe(1);
      expect(await endOf('import os; os._exit(4)')).toBe(4);
    }));

  test('an exception prints a traceback', () =>
    withPython(async (runtime) => {
      const { exitCode, stderr } = await runtime.exec('def f():\n  raise ValueError("boom")\nf()', python());
      expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^Traceback[\s\S]*ValueError: boom\n$/)]);
      expect(await runtime.exec('def', python())).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('SyntaxError'),
      });
    }));

  test('files are the files of the runtime', () =>
    withPython(async (runtime) => {
      await runtime.writeFile('/workspace/a', 'from the app');
      const code =
        'text = open("/workspace/a").read()\nopen("/workspace/b", "w").write(text.upper())\nimport json; print(json.__file__)';
      expect((await runtime.exec(code, python())).stdout).toBe('/usr/lib/python3.13/json/__init__.py\n');
      expect(Buffer.from(await runtime.readFile('/workspace/b')).toString()).toBe('FROM THE APP');
      const refused = await runtime.exec('open("/usr/lib/python3.13/x", "w")', python());
      expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/PermissionError|Read-only/) });
    }));

  test('an endless loop and a large memory are ended', () =>
    withPython(async (runtime) => {
      const endless = await runtime.exec('while True: pass', python({ timeout: 100 }));
      expect(endless).toMatchObject({ exitCode: 124, error: { code: 'ERR_TIMEOUT' } });
      const long = await runtime.exec('3 ** 20_000_000', python({ timeout: 100 }));
      expect(long).toMatchObject({ exitCode: 124, error: { code: 'ERR_TIMEOUT' } });
      const limits = { memoryBytes: 64 << 20 };
      const large = await runtime.exec('bytearray(500_000_000)', python({ limits }));
      expect(large).toMatchObject({ exitCode: expect.toSatisfy((code) => code === 1 || code === 134) });
      expect((await runtime.exec('print(1)', python())).stdout).toBe('1\n');
    }));

  test('a program returns a value', () =>
    withPython(async (runtime) => {
      const { value } = await runtime.run<object>('__return({"a": [1, None, True, "x"]})', python());
      expect(value).toEqual({ a: [1, null, true, 'x'] });
      expect((await runtime.run('1', python())).value).toBeUndefined();
    }));

  test('an installed package can be imported', () =>
    withPython(async (runtime) => {
      await runtime.writeFile('/usr/local/lib/python3.13/site-packages/greeting.py', 'text = "hello"\n');
      expect((await runtime.exec('import greeting\nprint(greeting.text)', python())).stdout).toBe('hello\n');
      const { stdout } = await runtime.execCommand('python3', ['-c', 'import greeting; print(greeting.__file__)']);
      expect(stdout).toBe('/usr/local/lib/python3.13/site-packages/greeting.py\n');
    }));

  test('a file runs by its extension, its first line and its language', () =>
    withPython(async (runtime) => {
      const code = '#!/usr/bin/env python3\nimport sys\nprint(__name__, sys.argv)\n';
      await runtime.writeFile('/workspace/a.py', code);
      await runtime.writeFile('/workspace/tool', code);
      expect((await runtime.execFile('/workspace/a.py', { args: ['b'] })).stdout).toBe("__main__ ['/workspace/a.py', 'b']\n");
      expect((await runtime.execFile('/workspace/tool', python())).stdout).toBe("__main__ ['/workspace/tool']\n");
      const { stdout } = await runtime.execCommand('sh', ['-c', 'chmod +x tool && ./tool 1 && python tool 2']);
      expect(stdout).toBe("__main__ ['./tool', '1']\n__main__ ['tool', '2']\n");
    }));

  test('children of a shell and of Node run Python', () =>
    withPython(async (runtime) => {
      const pipeline = 'echo 20 | python3 -c "print(int(input()) * 2 + 2)" | cat; python3 -c "exit(5)"; echo $?';
      expect((await runtime.execCommand('sh', ['-c', pipeline])).stdout).toBe('42\n5\n');
      const code = `import { execFileSync } from 'node:child_process';
        console.log(execFileSync('python3', ['-c', 'import sys; print(sys.argv[1])', 'x'], { encoding: 'utf8' }).trim());`;
      expect(await runtime.exec(code)).toMatchObject({ stdout: 'x\n', stderr: '' });
      const child = await runtime.spawnCommand('python3', ['-c', 'print(input())']);
      await child.writeStdin('later\n');
      await child.closeStdin();
      expect(await child.result).toMatchObject({ exitCode: 0, stdout: 'later\n' });
    }));

  const printed = async (runner: ResidentRunner, code: string) => (await runner.exec(code)).stdout;

  test('a runner keeps its state and survives failures', () =>
    withPython(async (runtime) => {
      const runner = await runtime.createResidentRunner({ language: 'python' });
      await runner.exec('n = 40');
      expect(await printed(runner, 'n += 1\nprint(n)')).toBe('41\n');
      expect(await runner.exec('1 / 0')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('ZeroDivisionError') });
      expect(await runner.exec('while True: pass', { timeout: 100 })).toMatchObject({ error: { code: 'ERR_TIMEOUT' } });
      expect((await runner.run<number>('__return(n)')).value).toBe(41);
      await runner.dispose();
    }));

  test('snapshots, clones and rollbacks keep the state of a runner', () =>
    withPython(async (runtime) => {
      const runner = await runtime.createResidentRunner({ language: 'python' });
      await runner.exec('n = 40\nopen("/workspace/n", "w").write("40")');
      const snapshot = await runtime.snapshot();
      await runner.exec('n = 0\nopen("/workspace/n", "w").write("0")');
      const copies = [await NodeRuntime.create({ snapshot }), await NodeRuntime.create({ snapshot })];
      try {
        for (const copy of copies) {
          const copied = await runnerOf(copy);
          expect(await printed(copied, 'n += 1\nprint(n, open("/workspace/n").read())')).toBe('41 40\n');
          expect(await printed(copied, 'import colorsys; print(colorsys.__name__)')).toBe('colorsys\n');
        }
      } finally {
        await disposeAll(copies);
      }
      await runtime.rollback(snapshot);
      expect(await printed(runner, 'print(n, open("/workspace/n").read())')).toBe('40 40\n');
    }));
});
