// A sidecar as its runtimes have it: the caller's, or one of their own, which ends with the last of them.
//
// A runtime that was given no sidecar has one of its own, and so have the copies that are made of it: whoever goes last takes it along. A snapshot
// holds on to nothing: it remembers where it was taken, and that may be over.

import type { ProcessConnection, SidecarConnection } from '../channel/sidecar-connection.js';

/** See above. */
export class Household {
  readonly connection: SidecarConnection;
  readonly #owned: ProcessConnection | undefined;
  #members = 0;

  /** `owned`: the same connection, when it ends with the last runtime. */
  constructor(connection: SidecarConnection, owned?: ProcessConnection) {
    this.connection = connection;
    this.#owned = owned;
  }

  /** Whether runtimes can still be made in it. */
  isOpen(): boolean {
    return !this.connection.isOver() && (this.#owned === undefined || this.#members > 0);
  }

  /** A runtime has come. */
  join(): void {
    this.#members++;
  }

  /** A runtime goes; what it takes along, when it is the last one and the sidecar is their own. */
  leave(): ProcessConnection | undefined {
    return --this.#members === 0 ? this.#owned : undefined;
  }
}
