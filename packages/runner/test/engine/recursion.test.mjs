// Deep recursion of every kind is an error that a program can catch, never a trap.
import { describe, expect, it } from 'vitest';
import { runInProcess } from './bare-guest.mjs';

const attempt = (expression) =>
  `try { ${expression}; print('no error'); } catch (error) { print(error.name, error.message.slice(0, 100)); }`;
const NESTED = 'let nested = []; for (let i = 0; i < 200_000; i++) nested = [nested];';
const OVERFLOW = 'RangeError Maximum call stack size exceeded\n';

describe('deep recursion', () => {
  it('allows about as many frames as V8', async () => {
    const { stdout, code } = await runInProcess(`let depth = 0; const down = () => { depth++; down(); };
      ${attempt('down()')} print(depth > 8000 && depth < 30000);`);
    expect({ stdout, code }).toEqual({ stdout: `${OVERFLOW}true\n`, code: 0 });
  });

  it.each([
    ['parentheses', "eval('('.repeat(1_000_000))"],
    ['array literals', "Function('['.repeat(500_000) + ']'.repeat(500_000))"],
    ['object literals', "Function('return ' + '({a:'.repeat(200_000))"],
    ['blocks', "Function('{'.repeat(500_000))"],
    ['statements', "Function('if(1)'.repeat(300_000))"],
    ['function expressions', "Function('(function(){'.repeat(200_000))"],
    ['arrow functions', "Function('x=>'.repeat(200_000))"],
    ['classes', "Function('class A extends '.repeat(200_000))"],
    ['templates', "Function('`${'.repeat(200_000))"],
    ['unary operators', "Function('!'.repeat(900_000) + '1')"],
    ['new', "Function('new '.repeat(200_000) + 'A')"],
    ['conditions', "Function('a?'.repeat(200_000) + '1')"],
    ['JSON arrays', "JSON.parse('['.repeat(3_000_000))"],
    ['JSON objects', 'JSON.parse(\'{"a":\'.repeat(1_000_000))'],
    ['stringify of nested arrays', `${NESTED} JSON.stringify(nested)`],
    ['toString of nested arrays', `${NESTED} String(nested)`],
    ['flattening nested arrays', `${NESTED} nested.flat(Infinity)`],
    ['proxies of proxies', 'let proxy = {}; for (let i = 0; i < 100_000; i++) proxy = new Proxy(proxy, {}); proxy.x'],
    ['getters', 'const object = { get x() { return this.x; } }; object.x'],
    ['toString methods', 'const object = { toString() { return `${this}`; } }; `${object}`'],
    ['toJSON methods', 'const object = { toJSON() { return JSON.stringify(object); } }; JSON.stringify(object)'],
    ['constructors', 'class A { constructor() { new A(); } } new A()'],
    ['builtin constructors', 'class A extends Array { constructor() { super(); new A(); } } new A()'],
    ['generators', 'function* g() { yield* g(); } [...g()]'],
    ['default values', 'const f = (a = f()) => a; f()'],
    ['eval', "globalThis.again = () => eval('again()'); again()"],
    ['new Function', "globalThis.again = () => new Function('again()')(); again()"],
    ['sort comparisons', 'const compare = () => [1, 2].sort(compare) && 0; compare()'],
    ['map callbacks', 'const again = () => [1].map(again); again()'],
    ['replace callbacks', "const again = () => 'a'.replace(/a/, again); again()"],
    [
      'bound functions of bound functions',
      'let bound = () => 1; for (let i = 0; i < 100_000; i++) bound = bound.bind(null); bound()',
    ],
    ['Reflect.apply', 'const again = () => Reflect.apply(again, null, []); again()'],
    ['iterators', 'const it = { [Symbol.iterator]() { return this; }, next() { for (const x of it); } }; [...it]'],
  ])('is a RangeError for %s', async (_name, expression) => {
    const { stdout, code } = await runInProcess(attempt(expression));
    expect({ stdout, code }).toEqual({ stdout: OVERFLOW, code: 0 });
  });

  it.each([
    ['regular expressions', "new RegExp('(?:'.repeat(1_000_000))", 'SyntaxError'],
    ['regular expression groups', "new RegExp('('.repeat(1_000_000))", 'SyntaxError'],
  ])('is a clean error for %s', async (_name, expression, name) => {
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
