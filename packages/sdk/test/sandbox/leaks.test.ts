// Runs cycles of create, exec and dispose in each mode. Compares processes, descriptors and memory
// before and after the cycles. `pnpm test:long` runs 500 cycles, and `pnpm test` runs 100.

import { describe, expect, test } from 'vitest';
import { repetitions } from '../repetitions.js';
import { MODES, type Provisioning, withMode } from './modes.js';
import { childrenOf, descriptorsOf, residentBytes, until } from './processes.js';

const CYCLES = repetitions(100, 500);
const WARM_UP = 50;
const MEGABYTE = 1 << 20;

async function cycle(provisioning: Provisioning, resident: boolean): Promise<void> {
  const runtime = await provisioning.create({ env: { A: '1' } });
  if (resident) {
    const runner = await runtime.createResidentRunner();
    expect((await runner.exec('console.log(1)')).stdout).toBe('1\n');
    await runner.dispose();
  } else {
    const result = await runtime.exec('console.log(process.env.A)', { stdin: 'x', onStdout: () => {} });
    expect(result).toMatchObject({ stdout: '1\n', exitCode: 0 });
  }
  await runtime.dispose();
}

const cases = [
  ...MODES.map((mode) => ({ mode, resident: false })),
  ...MODES.slice(1, 3).map((mode) => ({ mode, resident: true })),
];

describe.each(cases)('$mode.name, resident: $resident', ({ mode, resident }) => {
  test(`${CYCLES} cycles leak no process, descriptor or memory`, () =>
    withMode(mode, async (provisioning) => {
      for (let i = 0; i < WARM_UP; i++) await cycle(provisioning, resident);
      const children = childrenOf();
      const pids = [process.pid, ...children];
      globalThis.gc?.();
      const descriptors = pids.map(descriptorsOf);
      const memory = pids.map(residentBytes);
      for (let i = 0; i < CYCLES; i++) await cycle(provisioning, resident);
      await until(() => childrenOf().length <= children.length, 2_000, 'as many processes as before');
      expect(childrenOf()).toEqual(children);
      globalThis.gc?.();
      expect(pids.map(descriptorsOf)).toEqual(descriptors);
      const [own = 0, ...sidecars] = pids.map((pid, i) => (residentBytes(pid) - (memory[i] ?? 0)) / MEGABYTE);
      // A leaked runtime has 150 KiB or more: 15 MB after 100 cycles, 75 MB after 500. Without a
      // leak, this process grows by garbage that is not collected yet. A sidecar grows by free
      // memory of its allocator.
      expect(own, 'growth of this process in megabytes').toBeLessThan(30);
      expect(Math.max(0, ...sidecars), 'growth of a sidecar in megabytes').toBeLessThan(8);
    }));
});
