// A `NodeRuntime` as the matrix's instance: each snippet is a fresh guest process in it.

import type { NodeRuntime } from 'coldframe';
import type { Instance, OnPhase } from './adapter.js';

export const runtimeInstance = (runtime: NodeRuntime): Instance => ({
  exec: (code) => runtime.exec(code),
  dispose: () => runtime.dispose(),
});

/** The SDK's own timings, handed on. */
export const bootTiming =
  (onPhase: OnPhase) =>
  ({ phase, durationMs }: { phase: string; durationMs: number }): void =>
    onPhase(phase, durationMs);

export const runtimePhases = { first: 'first_exec', warm: 'warm_exec' } as const;
