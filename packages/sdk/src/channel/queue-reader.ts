// Reads the queues of one sidecar: permission decisions, and events of connections out of a
// runtime.
//
// The sidecar holds the events of a runtime in a queue, and notifies the SDK once when the queue
// has events. The reader then takes events, one message after the other, until a reply has no
// events. A request is pending while a queue has events, so the app does not end before their
// delivery. A listener alone does not keep the app running.

import type { RuntimeId } from '../protocol/generated/messages.js';
import type { Requests } from '../protocol/generated/tables.js';
import type { Channel } from './channel.js';

/** The requests that take events of a queue. */
type Take = 'permissions.take' | 'outside.take';

/** Receives the events of a queue. Does not throw. */
export type QueueListener<T extends Take> = (taken: Requests[T]['reply']) => void;

/** The read of one queue. */
interface Read {
  /** Whether the sidecar has sent a notification since the last request was sent. */
  isNotified: boolean;
}

/** The listeners of a sidecar's runtimes, and the reads of their queues. */
export class QueueReader<T extends Take> {
  readonly #request: Channel['request'];
  readonly #name: T;
  readonly #listeners = new Map<RuntimeId, QueueListener<T>>();
  readonly #reads = new Map<RuntimeId, Read>();

  constructor(request: Channel['request'], name: T) {
    this.#request = request;
    this.#name = name;
  }

  /** Sets or removes the listener of a runtime. */
  listen(runtime: RuntimeId, listener: QueueListener<T> | undefined): void {
    if (listener === undefined) this.#listeners.delete(runtime);
    else this.#listeners.set(runtime, listener);
  }

  /** Handles the notification that the queue of a runtime has events. */
  pending(runtime: RuntimeId): void {
    const read = this.#reads.get(runtime);
    if (read !== undefined) read.isNotified = true;
    else void this.#read(runtime);
  }

  /** Passes all events in the queue of a runtime to `listener`. */
  async takeAll(runtime: RuntimeId, listener: QueueListener<T>): Promise<void> {
    // The caller may be a listener that is receiving earlier events.
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

  // Passes events to the listener before the channel handles the next message.
  #take(take: Requests[T]['body'], listener: QueueListener<T>): Promise<Requests[T]['reply']> {
    return this.#request(this.#name, take, { onReply: listener });
  }
}
