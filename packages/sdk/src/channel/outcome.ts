// How a program ended, as every transport reports it. A module of its own, because messages and the connection both name it.

import type { Timings, WireError } from './messages.js';

/** How a program or a snippet ended. */
export interface Outcome {
  exitCode: number;
  /** Bytes, which may be a view of memory that is used again; or text, when they were UTF-8 and it was cheaper to hand them over so. */
  stdout: Uint8Array | string;
  stderr: Uint8Array | string;
  /** JSON text. */
  value?: string;
  failure?: WireError;
  stdoutTruncated?: boolean;
  stderrTruncated?: boolean;
  timings: Timings;
}
