// One way of provisioning a runtime, as the matrix sees it.
//
// The matrix knows only these three interfaces. A peer to compare with is one more adapter, and the tests drive the matrix with
// adapters that answer wrongly. Next: `shared-sidecar.ts` for a real one, `../matrix/sample.ts` for their user.

import type { ScenarioName } from '../config/knobs.js';

export interface ExecResult {
  stdout: string;
  exitCode: number;
}

/** A runtime that is alive. */
export interface Instance {
  exec(code: string): Promise<ExecResult>;
  dispose(): Promise<void>;
}

/** Called with each phase that the SDK, or the adapter itself, has timed. */
export type OnPhase = (phase: string, durationMs: number) => void;

/** What the runtimes of one row share. */
export interface ScenarioHost {
  /** Provisions one runtime: the cold start's clock runs. */
  start(onPhase: OnPhase): Promise<Instance>;
  close(): Promise<void>;
}

export interface ScenarioAdapter {
  readonly name: ScenarioName;
  /** Names under which the matrix files the first and the second snippet among the phases. */
  readonly execPhases: { first: string; warm: string };
  /** A rough guess of one start's milliseconds, used only to share out the time budget. */
  readonly costGuessMs: number;
  /** Whether `open` starts something that a row's runtimes share, so that its time is worth reporting. */
  readonly hasSetup: boolean;
  open(): Promise<ScenarioHost>;
}
