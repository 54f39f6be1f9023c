// Modules are collected, because a resident runner evaluates any number of modules.
import { expect, it } from 'vitest';
import { BareGuest } from './bare-guest.mjs';

const ROUNDS = 10;
const PER_ROUND = 10_000;
const ALLOWED_GROWTH = 200_000;

it('the heap does not grow over a hundred thousand modules', async () => {
  const guest = new BareGuest();
  const { out } = await guest.run(`
    const sources = [
      'export const x = 1; const list = [1, 2, 3]; export function f() { return list; } export default class A {}',
      'const url = import.meta.url; export default () => import.meta.url + url;',
      'await null; export default () => import("x");',
    ];
    function evaluate(count) {
      for (let i = 0; i < count; i++) {
        const module = native.compileModule(sources[i % 3], 'file:///m' + (i % 7) + '.js');
        native.linkModule(module, []);
        native.instantiateModule(module);
        native.evaluateModule(module);
        native.moduleNamespace(module);
      }
    }
    const settle = async () => { for (let i = 0; i < 10; i++) await null; };
    evaluate(${PER_ROUND});
    await settle();
    native.gc();
    const before = native.memoryUsage().heapUsed;
    for (let i = 0; i < ${ROUNDS}; i++) { evaluate(${PER_ROUND}); await settle(); }
    native.gc();
    print(native.memoryUsage().heapUsed - before);`);
  expect(Number(out)).toBeLessThan(ALLOWED_GROWTH);
});

it('a module lives while its functions live', async () => {
  const guest = new BareGuest();
  const { out } = await guest.run(`
    native.setImportCallback((specifier, attributes, referrer) => referrer + ' wants ' + specifier);
    function load() {
      const module = native.compileModule('export default [() => import.meta.url, () => import("b")];', 'file:///a.js');
      native.linkModule(module, []);
      native.instantiateModule(module);
      native.evaluateModule(module);
      return native.moduleNamespace(module).default;
    }
    const [url, dynamic] = load();
    native.gc();
    await null;
    native.gc();
    print(url(), await dynamic());`);
  expect(out).toBe('file:///a.js file:///a.js wants b\n');
});
