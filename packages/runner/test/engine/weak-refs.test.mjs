// WeakRefs in an engine that counts references: a target stays alive until the end of the job and
// is then freed.
import { expect, it } from 'vitest';
import { BareGuest } from './bare-guest.mjs';

const guest = new BareGuest();

it('keeps the target of a new WeakRef until the jobs are done', async () => {
  const { out } = await guest.run(`
    const ref = new WeakRef({ a: 1 });
    print(ref.deref()?.a);
    await null;
    print(ref.deref()?.a);
    setTimeout(() => print(ref.deref()), 1);`);
  expect(out).toBe('1\n1\nundefined\n');
});

it('keeps the result of deref until the jobs are done', async () => {
  const { out } = await guest.run(`
    let target = { a: 1 };
    const ref = new WeakRef(target);
    setTimeout(() => {
      ref.deref();
      target = undefined;
      print(ref.deref()?.a);
      setTimeout(() => print(ref.deref()), 1);
    }, 1);`);
  expect(out).toBe('1\nundefined\n');
});
