// Reads the queues of one sidecar: permission decisions, events of connections out of a runtime,
// and events of private networks.
//
// The sidecar holds the events of a runtime, or of a network, in a queue, and notifies the SDK once
// when the queue has events. The reader then takes events, one message after the other, until a
// reply has no events. A request is pending while a queue has events, so the app does not end
// before their delivery. A listener alone does not keep the app running.

import type { NetworkId, RuntimeId } from '../protocol/generated/messages.js';
import type { Requests } from '../protocol/generated/tables.js';
import type { Channel } from './channel.js';

/** The requests that take events of a queue. */
type Take = 'permissions.take' | 'outside.take' | 'network.take';

/** The number of the runtime or the network of a queue. */
type Key<T extends Take> = T extends 'network.take' ? NetworkId : RuntimeId;

/** Receives the events of a queue. Does not throw. */
export type QueueListener<T extends Take> = (taken: Requests[T]['reply']) => void;

/** The read of one queue. */
interface Read {
  /** Whether the sidecar has sent a notification since the last request was sent. */
  isNotified: boolean;
}

/** The listeners of a sidecar's runtimes or networks, and the reads of their queues. */
export class QueueReader<T extends Take> {
  readonly #request: Channel['request'];
  readonly #name: T;
  readonly #about: (key: Key<T>) => Requests[T]['body'];
  readonly #listeners = new Map<Key<T>, QueueListener<T>>();
  readonly #reads = new Map<Key<T>, Read>();

  /** `about` makes the body of the request that takes events of a queue. */
  constructor(request: Channel['request'], name: T, about: (key: Key<T>) => Requests[T]['body']) {
    this.#request = request;
    this.#name = name;
    this.#about = about;
  }

  /** Sets or removes the listener of a queue. */
  listen(key: Key<T>, listener: QueueListener<T> | undefined): void {
    if (listener === undefined) this.#listeners.delete(key);
    else this.#listeners.set(key, listener);
  }

  /** Handles the notification that a queue has events. */
  pending(key: Key<T>): void {
    const read = this.#reads.get(key);
    if (read !== undefined) read.isNotified = true;
    else void this.#read(key);
  }

  /** Passes all events in a queue to `listener`. */
  async takeAll(key: Key<T>, listener: QueueListener<T>): Promise<void> {
    // The caller may be a listener that is receiving earlier events.
    await Promise.resolve();
    await this.#take({ ...this.#about(key), all: true }, listener);
  }

  async #read(key: Key<T>): Promise<void> {
    const read: Read = { isNotified: true };
    this.#reads.set(key, read);
    try {
      // The listener is missing if the subscription has ended.
      while (read.isNotified) {
        const listener = this.#listeners.get(key);
        if (listener === undefined) break;
        read.isNotified = false;
        const taken = await this.#take(this.#about(key), listener);
        if (taken.events.length === 0 && taken.lost === 0) continue;
        read.isNotified = true;
        // The addon replies within the call, so the loop alone would not let other events run.
        await new Promise((resolve) => setImmediate(resolve));
      }
    } catch {
      // The runtime, the network or the sidecar has ended.
    } finally {
      this.#reads.delete(key);
    }
  }

  // Passes events to the listener before the channel handles the next message.
  #take(take: Requests[T]['body'], listener: QueueListener<T>): Promise<Requests[T]['reply']> {
    return this.#request(this.#name, take, { onReply: listener });
  }
}
