// The two kinds of live things whose memory is measured, on a sidecar process of their own.

import { NodeRuntime, Sidecar } from 'coldframe';
import type { Instance } from '../scenarios/adapter.js';
import { runtimeInstance } from '../scenarios/runtime-instance.js';
import type { DensityHost } from './density.js';

async function onSidecar(start: (sidecar: Sidecar) => Promise<Instance>): Promise<DensityHost> {
  const sidecar = await Sidecar.spawn();
  return { pid: sidecar.pid, start: () => start(sidecar), close: () => sidecar.dispose() };
}

const startRuntime = async (sidecar: Sidecar): Promise<Instance> => runtimeInstance(await NodeRuntime.create({ sidecar }));

async function startResident(sidecar: Sidecar): Promise<Instance> {
  const runtime = await NodeRuntime.create({ sidecar });
  const runner = await runtime.createResidentRunner();
  return { exec: (code) => runner.exec(code), dispose: () => runtime.dispose() };
}

export const densityHosts: Readonly<Record<string, () => Promise<DensityHost>>> = {
  runtime: () => onSidecar(startRuntime),
  'resident-runner': () => onSidecar(startResident),
};
