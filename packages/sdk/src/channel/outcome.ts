// The outcome of a program or a snippet, in the form that every transport returns. Captured output
// may be text, because some outputs are cheaper to pass as text.

import type { Outcome as OutcomeMessage } from '../protocol/generated/messages.js';

/** The outcome of a program or a snippet. */
export interface Outcome extends Omit<OutcomeMessage, 'stdout' | 'stderr'> {
  /**
   * Captured output: bytes, which may be a view of reused memory, or text. A transport passes text
   * if the bytes are UTF-8 and text is cheaper to pass.
   */
  stdout: Uint8Array | string;
  stderr: Uint8Array | string;
}
