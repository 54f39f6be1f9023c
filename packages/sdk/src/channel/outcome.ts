// The outcome of a program in the form of every transport.

import type { Outcome as OutcomeMessage } from '../protocol/generated/messages.js';

/** The outcome of a program or a snippet. */
export interface Outcome extends Omit<OutcomeMessage, 'stdout' | 'stderr'> {
  /**
   * Bytes, which may be a view of reused memory; or text, if the bytes were UTF-8 and text was
   * cheaper to pass.
   */
  stdout: Uint8Array | string;
  stderr: Uint8Array | string;
}
