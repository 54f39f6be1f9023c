// The interface through which the parts of a handle, such as files and programs, use their runtime.

import type { SidecarConnection } from '../channel/sidecar-connection.js';
import type { RuntimeId } from '../protocol/generated/messages.js';

/** Access to one runtime. */
export interface RuntimeAccess {
  /**
   * The connection for requests of this runtime. Requests resume a runtime that its policy paused.
   */
  readonly connection: SidecarConnection;
  /** The id of the runtime. */
  readonly runtime: RuntimeId;
  /** Throws if the app has disposed or paused the runtime. */
  assertUsable(): void;
  /** Runs `work` while the idle policy keeps the runtime running. */
  whileInUse<T>(work: () => T | Promise<T>): Promise<T>;
}
