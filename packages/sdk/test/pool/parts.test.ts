// Tests the parts of a lent runtime: their effects on the slot, and the end of their use.

import { expect, test } from 'vitest';
import { HANDLE_CALLS, PART_CALLS, RUNTIME_CALLS } from '../../src/pool/call-rules.js';
import { lend } from '../../src/pool/lent-runtime.js';

class FakeRuntime {
  readonly state = 'running' as const;
  readonly updates: unknown[] = [];
  readonly network = {
    get: () => ({ outside: 'deny' }),
    update: async (change: unknown) => void this.updates.push(change),
    check: async () => ({ allowed: false }),
    on: async () => async () => {},
    async *flows() {
      yield 1;
    },
  };
  async resume(): Promise<void> {}
  async dispose(): Promise<void> {}
}

const rules = { calls: RUNTIME_CALLS, handleCalls: HANDLE_CALLS, partCalls: PART_CALLS, assertOwn: () => {} };
const lent = () => {
  const runtime = new FakeRuntime();
  return { runtime, loan: lend(runtime, 'default', rules) };
};

test('a user reads the options and judges URLs without an effect on the slot', async () => {
  const { loan } = lent();
  const { network } = loan.runtime;
  expect(network).toBe(loan.runtime.network);
  expect(network.get()).toEqual({ outside: 'deny' });
  expect(await network.check()).toEqual({ allowed: false });
  for await (const flow of network.flows()) expect(flow).toBe(1);
  expect(loan.isReusable).toBe(true);
});

test('a slot whose user has changed the options or listens to events is replaced', async () => {
  const changed = lent();
  await changed.loan.runtime.network.update({ allow: [] });
  expect(changed.runtime.updates).toEqual([{ allow: [] }]);
  expect(changed.loan.isReusable).toBe(false);
  const listening = lent();
  await listening.loan.runtime.network.on();
  expect(listening.loan.isReusable).toBe(false);
});

test('refuses every call of a part after the release', async () => {
  const { runtime, loan } = lent();
  const { network } = loan.runtime;
  loan.close();
  const released = { code: 'ERR_POOL_RELEASED' };
  await expect(network.update({})).rejects.toMatchObject(released);
  await expect(network.check()).rejects.toMatchObject(released);
  expect(() => network.get()).toThrow('released');
  expect(() => network.flows()).toThrow('released');
  expect(() => loan.runtime.network).toThrow('released');
  expect(runtime.updates).toEqual([]);
});
