// A scenario is one way of provisioning a runtime.
//
// The matrix uses only the interfaces of this file. Another system can be added as a scenario. The
// tests run the matrix with scenarios that reply wrongly. Next: `scenarios.ts` for the real
// scenarios, and `sample.ts`, which times one runtime.

import type { Executor } from '../sandbox/executor.js';

/** Called with each phase that the SDK, or the scenario itself, has timed. */
export type OnPhase = (phase: string, durationMs: number) => void;

/** Provisions the runtimes of one row. Runtimes of a row can share a sidecar. */
export interface Provisioner {
  /** Provisions one runtime. The clock of the cold start runs during the call. */
  start(onPhase: OnPhase): Promise<Executor>;
  close(): Promise<void>;
}

/** A promise about the cold or warm times of a scenario. */
export interface ScenarioTarget {
  promise: string;
  what: string;
  samples: 'coldMs' | 'warmMs';
  /** Milliseconds, or a ratio for a target against a floor. */
  atMost: number;
  /** The floor by which the time is divided. */
  against?: string;
}

export interface Scenario {
  /** The names of the phases that contain the first and the second snippet. */
  readonly execPhases: { first: string; warm: string };
  /** A rough guess of the milliseconds of one start, used only to divide the budget among rows. */
  readonly startGuessMs: number;
  /**
   * Whether `open` starts a resource, such as a sidecar, that the runtimes of a row share. The time
   * of `open` is then reported.
   */
  readonly hasSetup: boolean;
  readonly targets: readonly ScenarioTarget[];
  open(): Promise<Provisioner>;
}
