// Declares the scenarios of the cold-start matrix, with the promises about each scenario.
//
// A new scenario needs only an entry in `declared`. Rows, a column in the table of phases and lines
// on the page follow from the entry. The time of a target is the median of all sequential samples
// of a scenario, so that no choice of a row affects the result.

import { NodeRuntime, Sidecar } from 'coldframe';
import { type Executor, executorOf } from '../sandbox/executor.js';
import { type OpenSdkSidecar, openEmbedded, openEmbeddedInline, spawnShared } from '../sandbox/sidecars.js';
import { now } from '../statistics/timer.js';
import type { OnPhase, Provisioner, Scenario } from './scenario.js';

const runtimePhases = { first: 'first_exec', warm: 'warm_exec' } as const;

/** Converts `onPhase` to the SDK's option `onBootTiming`. */
const bootTiming =
  (onPhase: OnPhase) =>
  ({ phase, durationMs }: { phase: string; durationMs: number }): void =>
    onPhase(phase, durationMs);

/**
 * Returns a provisioner that creates runtimes in the sidecar that `open` opens. `close` disposes of
 * the sidecar.
 */
async function provisionIn(open: OpenSdkSidecar): Promise<Provisioner> {
  const sidecar = await open();
  return {
    start: async (onPhase) => executorOf(await NodeRuntime.create({ sidecar, onBootTiming: bootTiming(onPhase) })),
    close: () => sidecar.dispose(),
  };
}

async function startRunner(sidecar: Sidecar, onPhase: OnPhase): Promise<Executor> {
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

const declared = {
  /** Every runtime spawns a sidecar process of its own. Runtimes share nothing. */
  'owned-sidecar': {
    execPhases: runtimePhases,
    startGuessMs: 10,
    hasSetup: false,
    targets: [
      {
        promise: 'S1',
        what: 'owned cold / node -e 1 of the pinned Node',
        samples: 'coldMs',
        atMost: 0.25,
        against: 'node_e_pinned',
      },
      { promise: 'S2', what: 'owned cold', samples: 'coldMs', atMost: 5 },
    ],
    open: async () => ({
      start: async (onPhase) => executorOf(await NodeRuntime.create({ onBootTiming: bootTiming(onPhase) })),
      close: async () => {},
    }),
  },
  /** One sidecar process has all runtimes of a row. */
  'shared-sidecar': {
    execPhases: runtimePhases,
    startGuessMs: 1,
    hasSetup: true,
    targets: [{ promise: 'S3', what: 'shared cold', samples: 'coldMs', atMost: 0.15 }],
    open: () => provisionIn(spawnShared),
  },
  /** A shared sidecar; one guest process of each runtime evaluates both snippets. */
  'resident-runner': {
    execPhases: { first: 'resident_first_exec', warm: 'resident_warm_exec' },
    startGuessMs: 1,
    hasSetup: true,
    targets: [
      { promise: 'S4', what: 'resident cold', samples: 'coldMs', atMost: 0.25 },
      { promise: 'S5', what: 'resident warm / socket ping', samples: 'warmMs', atMost: 3, against: 'socket_ping' },
    ],
    open: async () => {
      const sidecar = await Sidecar.spawn();
      return { start: (onPhase) => startRunner(sidecar, onPhase), close: () => sidecar.dispose() };
    },
  },
  /** The sidecar is embedded in this process, and guests run on the sidecar's threads. */
  embedded: {
    execPhases: runtimePhases,
    startGuessMs: 1,
    hasSetup: true,
    targets: [
      { promise: 'S6', what: 'embedded create + first exec', samples: 'coldMs', atMost: 0.15 },
      { promise: 'S7', what: 'embedded warm', samples: 'warmMs', atMost: 0.06 },
    ],
    open: () => provisionIn(openEmbedded),
  },
  /** The sidecar is embedded in this process, and a guest's turn begins on the caller's thread. */
  'embedded-inline': {
    execPhases: runtimePhases,
    startGuessMs: 1,
    hasSetup: true,
    targets: [
      { promise: 'S8', what: 'embedded inline create + first exec', samples: 'coldMs', atMost: 0.1 },
      { promise: 'S9', what: 'embedded inline warm', samples: 'warmMs', atMost: 0.02 },
    ],
    open: () => provisionIn(openEmbeddedInline),
  },
} satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof declared;

export const scenarios: Readonly<Record<ScenarioName, Scenario>> = declared;
export const SCENARIO_NAMES = Object.keys(scenarios) as ScenarioName[];
