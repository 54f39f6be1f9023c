// A scenario is one way of provisioning a runtime.
//
// The matrix knows only the interfaces of this file. Another system to compare with is one more
// scenario, and the tests drive the matrix with scenarios that reply wrongly. Next: `scenarios.ts`
// for the real scenarios, and `sample.ts`, which times one runtime.

import type { Executor } from '../sandbox/executor.js';

/** Called with each phase that the SDK, or the scenario itself, has timed. */
export type OnPhase = (phase: string, durationMs: number) => void;

/** Provisions the runtimes of one row. Runtimes of a row can share a sidecar. */
export interface Provisioner {
  /** Provisions one runtime. The clock of the cold start runs. */
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
  /** Rough guess of one start's milliseconds, used only to share out the time. */
  readonly startGuessMs: number;
  /**
   * Whether `open` starts something that the runtimes of a row share, so that its time is reported.
   */
  readonly hasSetup: boolean;
  readonly targets: readonly ScenarioTarget[];
  open(): Promise<Provisioner>;
}
