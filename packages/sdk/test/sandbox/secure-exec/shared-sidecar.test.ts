// Tests the sidecar that the functions of secure-exec 0.2.21 share.

import { afterEach, expect, test } from 'vitest';
import { evaluate, init, shutdown } from '../../../src/secure-exec/index.js';
import { sharedSidecar } from '../../../src/secure-exec/shared-sidecar.js';

afterEach(shutdown);

test('`init` spawns one sidecar, which all calls share', async () => {
  await Promise.all([init(), init()]);
  const { pid } = await sharedSidecar();
  await Promise.all([evaluate('1'), evaluate('2')]);
  expect((await sharedSidecar()).pid).toBe(pid);
  expect((await (await sharedSidecar()).getResourceSnapshot()).runtimes).toBe(0);
});

test('a call after a crash of the sidecar runs in a new sidecar', async () => {
  const crashed = await sharedSidecar();
  process.kill(crashed.pid, 'SIGKILL');
  const replies = (): Promise<boolean> =>
    crashed.ping().then(
      () => true,
      () => false,
    );
  while (await replies());
  expect(await evaluate('1 + 2')).toMatchObject({ outcome: 'succeeded', value: 3 });
  expect((await sharedSidecar()).pid).not.toBe(crashed.pid);
});

test('`shutdown` without a sidecar does nothing', async () => {
  await shutdown();
  await shutdown();
});
