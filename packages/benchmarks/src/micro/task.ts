// A row of the micro-benchmark is an operation that returns its own time. Checks and preparation
// are therefore not measured. tinybench decides how often the operation is called.

import type { OpenSection } from '../suite/benchmark.js';

export interface MicroTask {
  name: string;
  what: string;
  /**
   * Resolves with the milliseconds of all operations of a sample. Rejects when a result was wrong.
   */
  sample(): Promise<number> | number;
  /** Operations per sample. */
  operations: number;
}

/** Tasks that can share a sidecar. */
export interface MicroGroup extends Pick<OpenSection<never>, 'close'> {
  tasks: MicroTask[];
}

export const singleOperation = (name: string, what: string, sample: () => Promise<number>): MicroTask => ({
  name,
  what,
  sample,
  operations: 1,
});
