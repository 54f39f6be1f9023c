// Resident: a runtime on a shared sidecar, with one guest process that evaluates both snippets. Cold includes creating runtime and
// runner; the runner is part of the runtime and goes with it.

import { NodeRuntime, Sidecar } from 'coldframe';
import { now } from '../stats/timer.js';
import type { Instance, OnPhase, ScenarioAdapter } from './adapter.js';
import { bootTiming } from './runtime-instance.js';

export const residentRunner: ScenarioAdapter = {
  name: 'resident-runner',
  execPhases: { first: 'resident_first_exec', warm: 'resident_warm_exec' },
  costGuessMs: 1,
  hasSetup: true,
  open: async () => {
    const sidecar = await Sidecar.spawn();
    return { start: (onPhase) => startRunner(sidecar, onPhase), close: () => sidecar.dispose() };
  },
};

async function startRunner(sidecar: Sidecar, onPhase: OnPhase): Promise<Instance> {
  const runtime = await NodeRuntime.create({ sidecar, onBootTiming: bootTiming(onPhase) });
  const createdAt = now();
  const runner = await runtime.createResidentRunner();
  onPhase('resident_runner_create', now() - createdAt);
  return {
    exec: (code) => runner.exec(code),
    dispose: async () => {
      await runner.dispose();
      await runtime.dispose();
    },
  };
}
