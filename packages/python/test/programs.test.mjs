// Programs of Python in the dev host: how they begin, what they return, and how they end. The tests
// need the built guest (`node packages/python/build/main.mjs`) and are skipped without it.
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonPath } from '../build/paths.mjs';
import { GuestThread } from './guest-thread.mjs';

const [NORMAL, UNCAUGHT, MEMORY, INTERRUPTED] = [0, 1, 2, 3];

describe.skipIf(!existsSync(pythonPath))('a program of Python', () => {
  let guest;
  beforeAll(async () => {
    guest = await GuestThread.start();
  });
  afterAll(() => guest?.stop());

  const exec = (source, options) => guest.run({ mode: 'exec', source, ...options });
  const python3 = (...args) => guest.run({ argv: ['python3', ...args] });

  it('prints and ends with code 0', async () => {
    const result = await exec('print(1 + 1)');
    expect(result).toMatchObject({ exitCode: 0, exitReason: NORMAL, stdout: '2\n', stderr: '' });
  });

  it('writes a traceback with its lines, and ends with code 1, after an error', async () => {
    const result = await exec('def f():\n    1 / 0\nf()');
    expect(result).toMatchObject({ exitCode: 1, exitReason: UNCAUGHT });
    expect(result.stderr).toMatch(/^Traceback \(most recent call last\):\n {2}File "<string>", line 3, in <module>\n {4}f\(\)\n/);
    expect(result.stderr).toMatch(/ZeroDivisionError: division by zero\n$/);
  });

  it('ends with the code of sys.exit after the handlers of atexit', async () => {
    const result = await exec('import atexit, sys\natexit.register(print, "bye")\nprint("hi", end=" ")\nsys.exit(7)');
    expect(result).toMatchObject({ exitCode: 7, exitReason: NORMAL, stdout: 'hi bye\n' });
  });

  it('ends with code 1 and a message after sys.exit with a text', async () => {
    expect(await exec('import sys\nsys.exit("no")')).toMatchObject({ exitCode: 1, stderr: 'no\n' });
  });

  it('ends with the reason MEMORY after an uncaught MemoryError', async () => {
    expect(await exec('raise MemoryError')).toMatchObject({ exitCode: 134, exitReason: MEMORY });
  });

  it('returns a value as JSON in the mode RUN', async () => {
    const result = await guest.run({ mode: 'run', source: '__return({"a": [1, 2.5, None, "é"]})' });
    expect(JSON.parse(result.value)).toEqual({ a: [1, 2.5, null, 'é'] });
  });

  it('refuses a value that JSON does not have', async () => {
    const result = await guest.run({ mode: 'run', source: '__return(float("nan"))' });
    expect(result).toMatchObject({ exitCode: 1, value: undefined });
    expect(result.stderr).toContain('ValueError');
  });

  it('has other random numbers than the next program', async () => {
    const source = 'import random, uuid, tempfile\nprint(random.random(), uuid.uuid1(), next(tempfile._get_candidate_names()))';
    const [first, second] = [await exec(source), await exec(source)];
    expect(first.stdout.split(' ')).toHaveLength(3);
    for (const [index, text] of first.stdout.split(' ').entries()) expect(second.stdout.split(' ')[index]).not.toBe(text);
  });

  it('has the arguments, the environment and the process of the start block', async () => {
    const source = 'import os, sys\nprint(sys.argv, os.environ["A"], os.getcwd(), os.getpid(), os.getppid())';
    const result = await exec(source, { argv: ['python3', 'x'], env: { A: 'b c' }, pid: 12, ppid: 3 });
    expect(result.stdout).toBe("['-c', 'x'] b c /workspace 12 3\n");
  });

  it('runs the libraries that are written in C', async () => {
    const source = `
import bz2, decimal, hashlib, json, lzma, re, sqlite3, zlib
for module in (bz2, lzma, zlib): assert module.decompress(module.compress(b"a" * 1000)) == b"a" * 1000
base = sqlite3.connect(":memory:")
assert base.execute("select json_group_array(value) from json_each('[1,2]')").fetchone() == ("[1,2]",)
print(hashlib.sha256(b"x").hexdigest()[:8], decimal.Decimal(1) / 3, re.sub("a", "b", "aa"), json.dumps([1]))`;
    expect((await exec(source)).stdout).toBe('2d711642 0.3333333333333333333333333333 bb [1]\n');
  });

  it('sees the error numbers of Linux', async () => {
    const source = `
import errno, os
try: open("/missing")
except FileNotFoundError as error: print(error, error.errno)
print(errno.EAGAIN, errno.ENOTEMPTY, type(OSError(111, "")).__name__, os.strerror(39), os.strerror(999))`;
    expect((await exec(source)).stdout).toBe(
      "[Errno 2] No such file or directory: '/missing' 2\n11 39 ConnectionRefusedError Directory not empty Unknown error 999\n",
    );
  });

  it('ends deep recursion with an error that the program can catch', async () => {
    const source = 'import json\ntry: json.loads("[" * 100000)\nexcept RecursionError: print("caught")';
    expect((await exec(source)).stdout).toBe('caught\n');
  });

  describe('as a command line', () => {
    it.each([
      [['-V'], 'Python 3.13.15\n'],
      [['-c', 'import sys; print(sys.argv)', '-x', 'y'], "['-c', '-x', 'y']\n"],
      [['-uBc', 'print(1)'], '1\n'],
      [['-m', 'json.tool', '--help'], /^usage: python3? ?-?m? ?json\.tool|^usage: /],
    ])('runs python3 %j', async (args, expected) => {
      const result = await python3(...args);
      expect(result.exitCode).toBe(0);
      expect(result.stdout).toMatch(expected);
    });

    it('ends with code 2 for an unknown option and for a missing file', async () => {
      expect((await python3('-Z')).exitCode).toBe(2);
      const missing = await python3('missing.py');
      expect(missing.exitCode).toBe(2);
      expect(missing.stderr).toContain("can't open file '/workspace/missing.py'");
    });
  });

  describe('that the sidecar interrupts', () => {
    it.each([
      ['a loop', 'try:\n  while True: pass\nexcept BaseException: print("caught")\nfinally: print("finally")'],
      ['a recursion', 'def fib(n): return fib(n - 1) + fib(n - 2) if n > 1 else 1\nfib(90)'],
      ['a generator', 'import itertools\nsum(1 for _ in itertools.count())'],
      ['a loop that catches', 'while True:\n  try:\n    while True: pass\n  except BaseException: pass'],
    ])('ends %s, and runs no handler', async (_, source) => {
      const result = await exec(source, { stopAfter: 200 });
      expect(result).toMatchObject({ exitCode: 137, exitReason: INTERRUPTED, stdout: '' });
    });
  });

  describe('in a resident runner', () => {
    it('keeps its variables, returns values, and survives errors', async () => {
      const snippets = ['a = 1', 'a += 1; __return(a)', '1 / 0', '__return(a + 1)'];
      const { evaluations, status } = await guest.run({ mode: 'resident', snippets });
      expect(status).toBe(0);
      expect(evaluations.map(({ evalDone }) => evalDone)).toEqual([1, 2, 3, 4]);
      expect(evaluations.map(({ value }) => value)).toEqual([undefined, '2', undefined, '3']);
      expect(evaluations.map(({ evalExitCode }) => evalExitCode)).toEqual([0, 0, 1, 0]);
    });

    it('ends with its evaluation after sys.exit', async () => {
      const { evaluations, exitCode, status } = await guest.run({ mode: 'resident', snippets: ['import sys; sys.exit(3)', '1'] });
      expect({ count: evaluations.length, exitCode, status }).toEqual({ count: 1, exitCode: 3, status: 1 });
      expect(evaluations[0]).toMatchObject({ evalDone: 1, evalExitCode: 3 });
    });

    it('continues after an interrupted evaluation', async () => {
      const { evaluations } = await guest.run({ mode: 'resident', snippets: ['while True: pass'], stopAfter: 200 });
      expect(evaluations[0]).toMatchObject({ status: 0, evalDone: 1, evalExitCode: 137, evalReason: INTERRUPTED });
    });
  });
});
