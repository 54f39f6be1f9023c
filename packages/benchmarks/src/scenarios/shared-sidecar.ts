// Shared: one sidecar process, spawned by `open`, holds all runtimes of a row.

import { NodeRuntime, Sidecar } from 'coldframe';
import type { ScenarioAdapter, ScenarioHost } from './adapter.js';
import { bootTiming, runtimeInstance, runtimePhases } from './runtime-instance.js';

/** Runtimes on a sidecar of any kind; closing disposes of the sidecar. */
export const hostOn = (sidecar: Sidecar): ScenarioHost => ({
  start: async (onPhase) => runtimeInstance(await NodeRuntime.create({ sidecar, onBootTiming: bootTiming(onPhase) })),
  close: () => sidecar.dispose(),
});

export const sharedSidecar: ScenarioAdapter = {
  name: 'shared-sidecar',
  execPhases: runtimePhases,
  costGuessMs: 1,
  hasSetup: true,
  open: async () => hostOn(await Sidecar.spawn()),
};
