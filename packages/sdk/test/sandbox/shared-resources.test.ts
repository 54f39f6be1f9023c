// Runs hostile programs that use all of a resource that runtimes share: the workers, the threads
// for computations, and the app's event loop. A neighbour must get its share. The tests compare
// amounts of work and not times, because the machine may be busy.

import { pbkdf2Sync } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { NodeRuntime, Sidecar } from '../../src/index.js';
import { MODES, type Provisioning, withMode } from './modes.js';

const WORKERS = 2;

const FAMILY = 16;

/** Starts `count` children that run `code`, and waits for their ends. */
const family = (count: number, code: string) => `
  import { spawn } from 'node:child_process';
  import { once } from 'node:events';
  const children = Array.from({ length: ${count} }, () => spawn('node', ['-e', ${JSON.stringify(code)}], { stdio: 'ignore' }));
  await Promise.all(children.map((child) => once(child, 'spawn')));
  console.log('ready');
  await Promise.all(children.map((child) => once(child, 'close')));`;

/** Starts a hostile family of programs, and returns when all of its programs run. */
async function attack(runtime: NodeRuntime, code: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    runtime.exec(family(FAMILY, code), { onStdout: () => resolve() }).catch(reject);
  });
}

const cpuMs = async (runtime: NodeRuntime) => (await runtime.getResourceSnapshot()).cpuMs;

describe('a sidecar with two workers', () => {
  const withSidecar = async (work: (provisioning: Provisioning) => Promise<void>) => {
    const sidecar = await Sidecar.spawn({ workers: WORKERS });
    try {
      await work({ create: (options) => NodeRuntime.create({ ...options, sidecar }), close: async () => {} });
    } finally {
      await sidecar.dispose();
    }
  };

  test('a program gets a fair share beside 16 loops of another runtime', () =>
    withSidecar(async ({ create }) => {
      const hostile = await create();
      const neighbour = await create();
      const runner = await neighbour.createResidentRunner();
      await attack(hostile, 'while (true);');
      const before = [await cpuMs(hostile), await cpuMs(neighbour)] as const;
      await runner.exec(`
        const { readFileSync } = process.getBuiltinModule('fs');
        const ticks = () => Number(readFileSync('/proc/self/stat', 'utf8').split(' ')[13]);
        for (const end = ticks() + 40; ticks() < end; ) for (let n = 0; n < 10_000; n++);`);
      const [ofHostile, ofNeighbour] = [(await cpuMs(hostile)) - before[0], (await cpuMs(neighbour)) - before[1]];
      // The file counts ticks of 10 ms. A fair share of two workers is one worker. Shared by
      // program, the loops would get 16 times the time of the neighbour.
      expect(ofNeighbour).toBeGreaterThan(350);
      expect(ofHostile, `beside ${ofNeighbour} ms`).toBeLessThan(4 * ofNeighbour);
    }));

  test('the weights of two busy runtimes decide their shares', () =>
    withSidecar(async ({ create }) => {
      const heavy = await create({ weight: 400 });
      const light = await create({ weight: 100 });
      await Promise.all([attack(heavy, 'while (true);'), attack(light, 'while (true);')]);
      const before = [await cpuMs(heavy), await cpuMs(light)] as const;
      let used: [number, number];
      do {
        await new Promise((resolve) => setTimeout(resolve, 100));
        used = [(await cpuMs(heavy)) - before[0], (await cpuMs(light)) - before[1]];
      } while (used[0] + used[1] < 1_000);
      expect(used[0] / used[1], `${used}`).toBeGreaterThan(2);
      expect(used[0] / used[1], `${used}`).toBeLessThan(8);
    }));
});

describe.each(MODES.filter(({ name }) => name !== 'owned'))('$name', (mode) => {
  test('a short computation does not wait for the long computations of another runtime', () =>
    withMode(mode, async (provisioning) => {
      const hostile = await provisioning.create();
      const neighbour = await provisioning.create();
      const long = 'for (let n = 0; n < 64; n++) require("crypto").pbkdf2("a", "b", 2e9, 64, "sha512", () => {});';
      await attack(hostile, long);
      for (let round = 0; round < 5; round++) {
        const code = `import { pbkdf2Sync } from 'node:crypto';
          console.log(pbkdf2Sync('a', 'b', 1_000, 4, 'sha256').toString('hex'));`;
        expect((await neighbour.exec(code)).stdout).toBe(`${pbkdf2Sync('a', 'b', 1_000, 4, 'sha256').toString('hex')}\n`);
      }
      expect((await hostile.getResourceSnapshot()).limits.processes.used, 'the attack is not over').toBe(FAMILY + 1);
      await hostile.dispose();
      await neighbour.dispose();
    }));

  test('the app and a neighbour continue beside calls of a binding with large inputs', () =>
    withMode(mode, async (provisioning) => {
      const describe = { description: 'Returns 1.', inputSchema: true as const };
      const options = (handler: () => number) => ({ bindings: { one: { ...describe, handler } } });
      let calls = 0;
      const hostile = await provisioning.create(options(() => ++calls));
      const neighbour = await provisioning.create(options(() => 1));
      const code = `
        const input = Array.from({ length: 100_000 }, (_, n) => n);
        const loop = async () => { for (;;) await callBinding('one', input); };
        await Promise.all(Array.from({ length: 16 }, loop));`;
      const running = hostile.exec(code);
      while (calls < 10) await setImmediate();
      for (let round = 0; round < 10; round++) {
        const before = calls;
        expect((await neighbour.exec(`console.log(await callBinding('one', 2));`)).stdout).toBe('1\n');
        // The hostile runtime always has 16 calls. A call of the neighbour does not wait for all.
        expect(calls - before).toBeLessThan(40);
      }
      await hostile.dispose();
      await running;
      await neighbour.dispose();
    }));
});
