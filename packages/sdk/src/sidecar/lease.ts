// Shares one sidecar among runtimes. A sidecar that the caller passed continues after its runtimes
// have ended. A sidecar that was started for a runtime ends when its last runtime releases the
// lease. That last runtime may be a clone of the first runtime.
//
// A `Snapshot` refers to the lease of the sidecar in which the snapshot was taken, but is no holder
// of the lease. That sidecar may have ended.

import type { ProcessConnection, SidecarConnection } from '../channel/sidecar-connection.js';

/** The lease of all runtimes that share one sidecar. */
export class SidecarLease {
  readonly connection: SidecarConnection;
  readonly #owned: ProcessConnection | undefined;
  #holders = 0;

  /** `owned`: set to `connection` if the sidecar ends with its last runtime. */
  constructor(connection: SidecarConnection, owned?: ProcessConnection) {
    this.connection = connection;
    this.#owned = owned;
  }

  /** Returns whether a runtime can still be made in the sidecar. */
  isOpen(): boolean {
    return !this.connection.isOver() && (this.#owned === undefined || this.#holders > 0);
  }

  /** Adds a holder. */
  acquire(): void {
    this.#holders++;
  }

  /**
   * Removes a holder. Returns the connection that the last holder of an owned sidecar must end,
   * else `undefined`.
   */
  release(): ProcessConnection | undefined {
    return --this.#holders === 0 ? this.#owned : undefined;
  }
}
