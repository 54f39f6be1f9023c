// Realms of node:vm in the shim. A realm is collected when no value of the realm is referenced.
// Jobs and registries that will run in a realm reference the realm.
import { describe, expect, it } from 'vitest';
import { BareGuest } from './bare-guest.mjs';

const HELPERS = `
  const make = (sandbox) => native.makeContext(sandbox, true, () => {});
  const run = (handle, source) => native.compileScript(source, 'context.js', { context: handle })();
  const used = () => { native.gc(); return native.memoryUsage().heapUsed; };`;

const CASES = {
  'with closures that hold the global object': `run(make({ i })[0], 'var self = this; (function () { return self; })()')`,
  'when the sandbox holds them': `const sandbox = { i }; const [handle, global] = make(sandbox);
     sandbox.handle = handle; sandbox.global = global;`,
  'with a cycle through an object of the main realm': `const ours = { big: new Array(100).fill(i) };
     const [handle] = make({ ours });
     ours.theirs = run(handle, '({ ours, method() {} })'); ours.handle = handle;`,
  'with jobs that have run': `run(make({})[0], 'Promise.resolve().then(() => 1).then(() => { throw 1 }).catch(() => {})');
     native.runMicrotasks();`,
  'with iterators, generators and classes': `run(make({})[0], 'class A { static a = new A(); *g() { yield this; } } ' +
     'globalThis.g = new A().g(); g.next(); [1][Symbol.iterator]()')`,
  'with a pending registry': `run(make({})[0],
     'globalThis.registry = new FinalizationRegistry(() => {}); registry.register(registry, 1)')`,
  'with a proxy as its sandbox': `run(make(new Proxy({ i }, {}))[0], 'i + 1; j = 3; typeof nothing')`,
  'with an ordinary global object': `run(make(undefined)[0], 'globalThis.self = this; let lexical = () => lexical;')`,
};

describe('contexts', () => {
  const guest = new BareGuest();

  it.each(Object.entries(CASES))('are collected %s', async (_name, body) => {
    const { out, exitCode } = await guest.run(`${HELPERS}
      const many = (count) => { for (let i = 0; i < count; i++) { ${body} } };
      many(20);
      const before = used();
      many(200);
      print(used() - before < 200_000 ? 'flat' : 'grew by ' + (used() - before));`);
    expect({ out, exitCode }).toEqual({ out: 'flat\n', exitCode: 0 });
  });

  it('live while a job of the realm is queued', async () => {
    const { out } = await guest.run(`${HELPERS}
      const seen = [];
      (() => run(make({ seen })[0], 'Promise.resolve(1).then((v) => seen.push(v, [] instanceof Array, typeof globalThis))'))();
      native.gc();
      await null; await null;
      print(seen.join());`);
    expect(out).toBe('1,true,object\n');
  });

  it('live while a function of the realm lives', async () => {
    const { out } = await guest.run(`${HELPERS}
      const counter = (() => run(make({})[0], 'let count = 0; (function () { return ++count + [].concat([1]).length; })'))();
      native.gc();
      counter();
      print(counter(), counter.constructor === Function, Object.getPrototypeOf(counter) === Function.prototype);`);
    expect(out).toBe('3 false false\n');
  });

  it('stop after their timeout, nested contexts too', async () => {
    const { out } = await guest.run(`
      const limited = (ms, fn) => (native.runLimited(fn, ms) === native.absent ? 'late' : 'in time');
      print(limited(20, () => { for (;;); }), limited(5000, () => 1));
      print(limited(5000, () => print(limited(20, () => { for (;;); }))));
      print(limited(20, () => { print('inner', limited(5000, () => { for (;;); })); }));
      try { native.runLimited(() => { throw new RangeError('own'); }, 1000); } catch (error) { print(error.name); }`);
    expect(out).toBe('late in time\nlate\nin time\nlate\nRangeError\n');
  });
});
