// Tests V8's private symbols: no proxy trap is called for such a symbol, and no reflection lists
// the symbol.
import { expect, it } from 'vitest';
import { BareGuest } from './bare-guest.mjs';

const guest = new BareGuest();

it('a private symbol reaches neither a trap of a proxy nor its target', async () => {
  const { out } = await guest.run(`
    const mark = native.privateSymbol('mark'), target = {}, trapped = [];
    const handler = new Proxy({}, { get: (_, trap) => (...args) => { trapped.push(trap); return Reflect[trap](...args); } });
    const proxy = new Proxy(target, handler);
    proxy[mark] = 1;
    target[mark] ??= 2;
    print(proxy[mark], target[mark], mark in proxy, delete proxy[mark], proxy[mark], target[mark], trapped.length);`);
  expect(out).toBe('1 2 true true undefined 2 0\n');
});

it('no reflection lists a private symbol', async () => {
  const { out } = await guest.run(`
    const mark = native.privateSymbol('mark'), object = { a: 1, [mark]: 2 }, proxy = new Proxy(object, {});
    proxy[mark] = 3;
    for (const value of [object, proxy, Object.assign({}, object), { ...object }])
      print(Reflect.ownKeys(value).length, Object.getOwnPropertySymbols(value).length, Object.keys(Object.getOwnPropertyDescriptors(value)).join());
    Object.freeze(object);
    print(object[mark], JSON.stringify(object), structuredCloneable(object));
    function structuredCloneable(value) { let n = 0; for (const key in value) n++; return n; }`);
  expect(out).toBe('1 0 a\n1 0 a\n1 0 a\n1 0 a\n2 {"a":1} 1\n');
});
