// Programs in Python that never end by themselves, or that take all memory or all stack. Each ends
// by its limit with a typed error, and a neighbour in the same process is not affected.

import { pythonDir } from '@coldframe/python';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NodeRuntime, Sidecar } from '../../src/index.js';

const isBuilt = pythonDir() !== undefined;
const TIMEOUT_MS = 150;

/** Programs that need more time than they have, mostly in loops of C that check no signal. */
const ENDLESS: Readonly<Record<string, string>> = {
  'a loop': 'while True: pass',
  'a loop that catches all': 'while True:\n  try:\n    while True: pass\n  except BaseException: pass',
  'a finally that loops': 'try:\n  while True: pass\nfinally:\n  while True: pass',
  'a finalizer': 'class A:\n  def __del__(self):\n    while True: pass\nA()',
  'a function at the exit': 'import atexit\n@atexit.register\ndef f():\n  while True: pass',
  'a power of integers': '3**20000000',
  'digits of an integer': 'import sys; sys.set_int_max_str_digits(0); str(7**3000000)',
  'a factorial': 'import math; math.factorial(3000000)',
  'a square root': 'import math; math.isqrt(10**3000000)',
  'a nested repetition': "import re; re.match(r'(a+)+$', 'a'*40+'b')",
  'a polynomial regular expression': "import re; re.match(r'(.*)(.*)(.*)(.*)(.*)x', 'a'*3000)",
  'a sort with a slow order': 'import functools; sorted(range(10**6), key=functools.cmp_to_key(lambda a, b: b % 7 - a % 7))',
  'sorts in C': 'l = [n * 7919 % 1000003 for n in range(10**5)]\nwhile True: sorted(l)',
  'a derived key': "import hashlib; hashlib.pbkdf2_hmac('sha256', b'x', b'y', 10**9)",
  digests: "import hashlib; b = b'x' * 10**7\nwhile True: hashlib.sha256(b)",
  decompressions: "import zlib; d = zlib.compress(b'0' * 10**7, 9)\nwhile True: zlib.decompress(d)",
  'a recursive query':
    "import sqlite3; sqlite3.connect(':memory:').execute('with recursive c(x) as " +
    "(select 1 union all select x + 1 from c) select count(*) from c').fetchall()",
  'a decimal power': "import decimal as d; d.getcontext().prec = 1000000; d.Decimal(2) ** d.Decimal('0.123456789')",
  'a normal form': "import unicodedata\nwhile True: unicodedata.normalize('NFC', 'a' + '\\u0301' * 10**6)",
  'an endless iterator': "b''.join(iter(lambda: b'', 1))",
  'an endless iterator of C': 'import collections, itertools; collections.deque(itertools.repeat(1), maxlen=0)',
  'a search in an iterator of C': 'from itertools import count; -1 in count()',
  'a sum in C': 'sum(range(10**12))',
  collections: 'import gc\nl = [[] for _ in range(10**5)]\nwhile True: gc.collect()',
  'a long expression': "compile('+'.join(['1'] * 10**6), 'x', 'eval')",
  output: "while True: print('x' * 1000)",
  'a sleep': 'import time\nwhile True:\n  try: time.sleep(1000)\n  except BaseException: pass',
  children: "import subprocess\nwhile True: subprocess.run(['true'])",
  'a thread': 'import threading\ndef f():\n  while True: pass\nthreading.Thread(target=f).start()',
  'a timer':
    'import signal\nsignal.signal(signal.SIGALRM, lambda *a: None)\n' +
    'signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\nwhile True: pass',
};

/** Programs that take more memory than they have. */
const GREEDY: Readonly<Record<string, string>> = {
  'a growing list': "l = []\nwhile True: l.append(b'x' * 10**6)",
  'a long string': "'a' * (2**31 - 100)",
  'a long list': '[0] * 10**9',
  'a wide format': "f'{1:>2000000000}'",
  'a precise format': "'%.1000000000f' % 1.0",
  'a bomb of zlib': 'import zlib; d = zlib.compress(bytes(10**7)); l = []\nwhile True: l.append(zlib.decompress(d))',
};

/** Programs that nest deeper than the stack, or read damaged data, with the name of the error. */
const FAILING: Readonly<Record<string, readonly [string, string]>> = {
  'a recursion': ['def f(n): return f(n + 1)\nf(0)', 'RecursionError'],
  'a nested list': ['l = []\nfor i in range(10**5): l = [l]\nrepr(l)', 'RecursionError'],
  'nested JSON': ["import json; json.loads('[' * 10**5)", 'RecursionError'],
  'a damaged pickle': ["import pickle; pickle.loads(b'\\x80\\x04' + b'(' * 10**5)", 'EOFError'],
  'a pickle that calls': [
    'import pickle; pickle.loads(b"cos\\nsystem\\n(S\'exit 3\'\\ntR."); import os; os.kill(1, 9)',
    'PermissionError|ProcessLookupError',
  ],
};

describe.skipIf(!isBuilt)('programs in Python', () => {
  let sidecar: Sidecar;
  let neighbour: NodeRuntime;
  beforeAll(async () => {
    sidecar = await Sidecar.spawn();
    neighbour = await NodeRuntime.create({ sidecar });
  });
  afterAll(async () => {
    await neighbour.dispose();
    await sidecar.dispose();
  });

  async function run(code: string, timeout?: number) {
    await using runtime = await NodeRuntime.create({ sidecar });
    const result = await runtime.exec(code, { language: 'python', ...(timeout === undefined ? {} : { timeout }) });
    expect((await neighbour.exec("print('unaffected')", { language: 'python' })).stdout).toBe('unaffected\n');
    return result;
  }

  test.each(Object.entries(ENDLESS))('%s ends at the timeout', async (_name, code) => {
    expect((await run(code, TIMEOUT_MS)).error?.code).toBe('ERR_TIMEOUT');
  });

  test.each(Object.entries(GREEDY))('%s ends at the limit of memory', async (_name, code) => {
    expect((await run(code)).error?.code).toBe('ERR_MEMORY_LIMIT');
  });

  test.each(Object.entries(FAILING))('%s is an error of Python', async (_name, [code, name]) => {
    const { stderr, exitCode } = await run(code);
    expect(exitCode).toBe(1);
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(new RegExp(`^(${name})`));
  });
});
