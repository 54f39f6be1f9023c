// Tests the timings that `onBootTiming` receives in each mode.

import { expect, test } from 'vitest';
import { type BootTiming, NodeRuntime, Sidecar, type SidecarOptions } from '../../src/index.js';

const SPAWN = ['sidecar_spawn', 'session_open'];
const CREATE = ['vm_create', 'vm_configure', 'runtime_create_total'];
const START = ['memory_map', 'instantiate', 'guest_start'];

function recorder() {
  const timings: BootTiming[] = [];
  return {
    onBootTiming: (timing: BootTiming) => timings.push(timing),
    /** Returns the phases that were reported since the last call of `take`. */
    take: () => {
      const taken = timings.splice(0);
      for (const { phase, durationMs } of taken) expect(durationMs, phase).toBeGreaterThanOrEqual(0);
      return taken.map(({ phase }) => phase);
    },
  };
}

test('an owned runtime reports all phases, and the load of its module once', async () => {
  const { onBootTiming, take } = recorder();
  const runtime = await NodeRuntime.create({ onBootTiming });
  expect(take()).toEqual([...SPAWN, 'module_load', ...CREATE]);
  await runtime.exec('1');
  expect(take()).toEqual([...START, 'guest_run']);
  const runner = await runtime.createResidentRunner();
  expect(take()).toEqual(START);
  await runner.exec('1');
  expect(take()).toEqual(['guest_run']);
  await runtime.dispose();
});

test.each([
  { name: 'shared', opening: SPAWN, open: (options: SidecarOptions) => Sidecar.spawn(options) },
  { name: 'embedded', opening: ['session_open'], open: (options: SidecarOptions) => Sidecar.embedded(options) },
])('a sidecar ($name) and its runtimes each report their own phases', async ({ opening, open }) => {
  const own = recorder();
  const sidecar = await open({ onBootTiming: own.onBootTiming });
  expect(own.take()).toEqual([...opening, 'module_load']);
  for (let i = 0; i < 2; i++) {
    const { onBootTiming, take } = recorder();
    const runtime = await NodeRuntime.create({ sidecar, onBootTiming });
    expect(take()).toEqual(CREATE);
    await runtime.dispose();
  }
  await sidecar.dispose();
});

test('reports the load of a module with the first runtime when the sidecar has no listener', async () => {
  const sidecar = await Sidecar.spawn();
  const { onBootTiming, take } = recorder();
  for (const expected of [['module_load', ...CREATE], CREATE]) {
    await (await NodeRuntime.create({ sidecar, onBootTiming })).dispose();
    expect(take()).toEqual(expected);
  }
  await sidecar.dispose();
});

test('the phases do not exceed the total', async () => {
  const timings = new Map<string, number>();
  const runtime = await NodeRuntime.create({ onBootTiming: ({ phase, durationMs }) => timings.set(phase, durationMs) });
  const part = (phase: string): number => timings.get(phase) ?? Number.NaN;
  const sum = part('sidecar_spawn') + part('session_open') + part('vm_create') + part('vm_configure');
  expect(Math.abs(sum - part('runtime_create_total'))).toBeLessThan(0.01);
  // The new process may load the module before this process is notified of the start, so the sum of
  // both steps is the bound.
  expect(part('module_load')).toBeLessThan(part('sidecar_spawn') + part('session_open'));
  await runtime.dispose();
});

test('an error of the listener rejects the call and ends the sidecar', async () => {
  const onBootTiming = () => {
    throw new Error('not interested');
  };
  await expect(NodeRuntime.create({ onBootTiming })).rejects.toThrow('not interested');
  await expect(Sidecar.spawn({ onBootTiming })).rejects.toThrow('not interested');
});
