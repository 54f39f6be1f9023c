// Tests the limit of runtimes of a sidecar. A further runtime is refused with an error that names
// the limit, and the existing runtimes are not affected.

import { describe, expect, test } from 'vitest';
import { NodeRuntime, Sidecar, type SidecarOptions } from '../../src/index.js';

const SIDECARS: { name: string; open(options: SidecarOptions): Promise<Sidecar> }[] = [
  { name: 'shared', open: (options) => Sidecar.spawn(options) },
  { name: 'embedded', open: (options) => Sidecar.embedded(options) },
];

describe.each(SIDECARS)('$name', ({ open }) => {
  test('refuses one runtime more than maxRuntimes', async () => {
    const sidecar = await open({ maxRuntimes: 3 });
    try {
      const create = () => NodeRuntime.create({ sidecar });
      const runtimes = await Promise.all([create(), create(), create()]);
      const refused = { code: 'ERR_RESOURCE_EXHAUSTED', resource: 'runtimes', limit: 3 };
      await expect(create()).rejects.toMatchObject(refused);
      await expect(runtimes[0]?.clone(2)).rejects.toMatchObject(refused);
      for (const runtime of runtimes) expect((await runtime.exec('console.log(1)')).stdout).toBe('1\n');
      await runtimes.pop()?.dispose();
      runtimes.push(await create());
      await expect(create()).rejects.toMatchObject(refused);
      for (const runtime of runtimes) expect((await runtime.exec('console.log(2)')).stdout).toBe('2\n');
      await Promise.all(runtimes.map((runtime) => runtime.dispose()));
    } finally {
      await sidecar.dispose();
    }
  });

  test('refuses a wrong value of maxRuntimes', async () => {
    for (const maxRuntimes of [0, 1.5, 65_537]) {
      await expect(open({ maxRuntimes })).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
    }
  });
});
