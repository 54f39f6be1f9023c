// Deep recursion of every kind is an error that a program can catch, never a trap.
import { describe, expect, it } from 'vitest';
import { runInProcess } from './bare-guest.mjs';

const attempt = (expression) => `try { ${expression}; print('no error'); } catch (error) { print(error.name, error.message); }`;
const OVERFLOW = 'RangeError Maximum call stack size exceeded\n';

describe('deep recursion', () => {
  it('allows about as many frames as V8', async () => {
    const { stdout, code } = await runInProcess(`let depth = 0; const down = () => { depth++; down(); };
      ${attempt('down()')} print(depth > 8000 && depth < 30000);`);
    expect({ stdout, code }).toEqual({ stdout: `${OVERFLOW}true\n`, code: 0 });
  });

  it.each([
    ['nested source', "eval('('.repeat(100_000))"],
    ['nested array literals', "Function('['.repeat(50_000) + ']'.repeat(50_000))"],
    [
      'stringify of nested arrays',
      'let nested = []; for (let i = 0; i < 100_000; i++) nested = [nested]; JSON.stringify(nested)',
    ],
    ['toString of nested arrays', 'let nested = []; for (let i = 0; i < 100_000; i++) nested = [nested]; String(nested)'],
    ['flattening nested arrays', 'let nested = []; for (let i = 0; i < 100_000; i++) nested = [nested]; nested.flat(Infinity)'],
    ['proxies of proxies', 'let proxy = {}; for (let i = 0; i < 100_000; i++) proxy = new Proxy(proxy, {}); proxy.x'],
    ['getters', 'const object = { get x() { return this.x; } }; object.x'],
    ['toString methods', 'const object = { toString() { return `${this}`; } }; `${object}`'],
    ['constructors', 'class A { constructor() { new A(); } } new A()'],
    ['generators', 'function* g() { yield* g(); } [...g()]'],
    ['sort comparisons', 'const compare = () => [1, 2].sort(compare) && 0; compare()'],
    ['replace callbacks', "const again = () => 'a'.replace('a', again); again()"],
  ])('is a RangeError: %s', async (_name, expression) => {
    const { stdout, code } = await runInProcess(attempt(expression));
    expect({ stdout, code }).toEqual({ stdout: OVERFLOW, code: 0 });
  });

  it.each([
    ['JSON text', "JSON.parse('['.repeat(100_000))", 'SyntaxError'],
    ['regular expressions', "new RegExp('(?:'.repeat(100_000))", 'SyntaxError'],
    ['regular expression groups', "new RegExp('('.repeat(100_000))", 'SyntaxError'],
  ])('is a clean error: %s', async (_name, expression, name) => {
    const { stdout, code } = await runInProcess(attempt(expression));
    expect(stdout).toMatch(new RegExp(`^(${name}|RangeError) `));
    expect(code).toBe(0);
  });

  it('leaves a working program behind', async () => {
    const { stdout } = await runInProcess(`const down = () => down();
      for (let i = 0; i < 20; i++) { try { down(); } catch {} }
      print(new Error('after').stack.split('\\n').length, [3, 1, 2].sort().join());`);
    expect(stdout).toBe('2 1,2,3\n');
  });
});
