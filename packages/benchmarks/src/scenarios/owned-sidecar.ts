// Owned: every runtime spawns a sidecar process of its own. Nothing is shared, so nothing is opened.

import { NodeRuntime } from 'coldframe';
import type { ScenarioAdapter } from './adapter.js';
import { bootTiming, runtimeInstance, runtimePhases } from './runtime-instance.js';

export const ownedSidecar: ScenarioAdapter = {
  name: 'owned-sidecar',
  execPhases: runtimePhases,
  costGuessMs: 10,
  hasSetup: false,
  open: async () => ({
    start: async (onPhase) => runtimeInstance(await NodeRuntime.create({ onBootTiming: bootTiming(onPhase) })),
    close: async () => {},
  }),
};
