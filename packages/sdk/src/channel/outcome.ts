// The outcome of a program, as every transport reports it.

import type { Outcome as OutcomeMessage } from '../protocol/generated/messages.js';

/** How a program or a snippet ended. */
export interface Outcome extends Omit<OutcomeMessage, 'stdout' | 'stderr'> {
  /**
   * Bytes, which may be a view of reused memory; or text, if the bytes were UTF-8 and text was
   * cheaper to pass.
   */
  stdout: Uint8Array | string;
  stderr: Uint8Array | string;
}
