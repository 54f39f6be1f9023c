// Reads permission decisions from one sidecar.
//
// The sidecar holds decisions in a queue for each runtime, and notifies the SDK once when a queue
// has decisions. The reader then takes decisions, one message after the other, until a reply has no
// decisions. A request is pending while a queue has decisions, so the app does not end before their
// delivery. A listener alone does not keep the app running.

import type { PermissionsTake, PermissionsTaken, RuntimeId } from '../protocol/generated/messages.js';
import type { Channel } from './channel.js';
import type { DecisionListener } from './sidecar-connection.js';

/** The read of one queue. */
interface Read {
  /** Whether the sidecar has sent a notification since the last request was sent. */
  isNotified: boolean;
}

/** The listeners of a sidecar's runtimes, and the reads of their queues. */
export class DecisionReader {
  readonly #request: Channel['request'];
  readonly #listeners = new Map<RuntimeId, DecisionListener>();
  readonly #reads = new Map<RuntimeId, Read>();

  constructor(request: Channel['request']) {
    this.#request = request;
  }

  /** Sets or removes the listener of a runtime. */
  listen(runtime: RuntimeId, listener: DecisionListener | undefined): void {
    if (listener === undefined) this.#listeners.delete(runtime);
    else this.#listeners.set(runtime, listener);
  }

  /** Handles the notification that the queue of a runtime has decisions. */
  pending(runtime: RuntimeId): void {
    const read = this.#reads.get(runtime);
    if (read !== undefined) read.isNotified = true;
    else void this.#read(runtime);
  }

  /** Passes all decisions in the queue of a runtime to `listener`. */
  async takeAll(runtime: RuntimeId, listener: DecisionListener): Promise<void> {
    // The caller may be a listener that is receiving earlier decisions.
    await Promise.resolve();
    await this.#take({ runtime, all: true }, listener);
  }

  async #read(runtime: RuntimeId): Promise<void> {
    const read: Read = { isNotified: true };
    this.#reads.set(runtime, read);
    try {
      // The listener is missing if the subscription has ended.
      while (read.isNotified) {
        const listener = this.#listeners.get(runtime);
        if (listener === undefined) break;
        read.isNotified = false;
        const taken = await this.#take({ runtime }, listener);
        if (taken.events.length === 0 && taken.lost === 0) continue;
        read.isNotified = true;
        // The addon replies within the call, so the loop alone would not let other events run.
        await new Promise((resolve) => setImmediate(resolve));
      }
    } catch {
      // The runtime or the sidecar has ended.
    } finally {
      this.#reads.delete(runtime);
    }
  }

  // Passes decisions to the listener before the channel handles the next message.
  #take(take: PermissionsTake, listener: DecisionListener): Promise<PermissionsTaken> {
    return this.#request('permissions.take', take, { onReply: listener });
  }
}
