// The outcome of a program, as every transport reports it. Both the messages and the connection use
// it.

import type { Timings, WireError } from './messages.js';

/** How a program or a snippet ended. */
export interface Outcome {
  exitCode: number;
  /**
   * Bytes, which may be a view of reused memory; or text, if the bytes were UTF-8 and text was
   * cheaper to pass.
   */
  stdout: Uint8Array | string;
  stderr: Uint8Array | string;
  /** JSON text. */
  value?: string;
  failure?: WireError;
  stdoutTruncated?: boolean;
  stderrTruncated?: boolean;
  timings: Timings;
}
