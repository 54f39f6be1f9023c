// What a runtime's network needs from a sidecar, wherever it runs: connections to who listens there, the list of listeners, and the wait for one.
// `channel/network.ts` is the one over frames, `transports/embedded-network.ts` the one over the addon. Next: `guest-stream.ts`.

import type { NetworkTarget, WireListener } from './messages.js';

/** What happens to a connection. Nothing here throws. */
export interface StreamListener {
  /** The guest has written this; the listener's to keep. */
  data(bytes: Uint8Array): void;
  /** The guest's end has taken so many bytes. */
  credit(bytes: number): void;
  /** The guest writes no more. */
  ended(): void;
  /** The connection is over; without an error, because both directions have ended. Nothing follows. */
  closed(error: Error | undefined): void;
}

/** A connection. */
export interface OpenStream {
  /** Resolves when somebody listens there, rejects when nobody does. */
  readonly opened: Promise<void>;
  /** Sends bytes: at most `STREAM_WINDOW_BYTES` that have no credit. They are copied. */
  write(bytes: Uint8Array): void;
  /** Sends no more. */
  end(): void;
  /** So many bytes of the guest's have been consumed. */
  credit(bytes: number): void;
  /** Leaves; the listener hears nothing more. `reset`: the guest sees a reset and not the end. */
  close(reset: boolean): void;
}

/** A wait for somebody who listens. */
export interface ListenerWait {
  readonly answer: Promise<WireListener>;
  /** Waits no more; the answer rejects. */
  cancel(): void;
}

/** See above. */
export interface NetworkLink {
  open(target: NetworkTarget, listener: StreamListener): OpenStream;
  /** Who listens; with a port or a path, who would be connected to there. */
  listeners(target: NetworkTarget): Promise<WireListener[]>;
  wait(target: NetworkTarget): ListenerWait;
}

/** The connections that are under way, by their numbers. What is said of one that is gone crossed its end and means nothing. */
export class OpenStreams {
  readonly #listeners = new Map<number, StreamListener>();

  add(number: number, listener: StreamListener): void {
    this.#listeners.set(number, listener);
  }

  remove(number: number): void {
    this.#listeners.delete(number);
  }

  get(number: number): StreamListener | undefined {
    return this.#listeners.get(number);
  }

  /** One is over. */
  close(number: number, error: Error | undefined): void {
    const listener = this.#listeners.get(number);
    this.#listeners.delete(number);
    listener?.closed(error);
  }

  /** The sidecar is gone. */
  closeAll(error: Error): void {
    for (const number of [...this.#listeners.keys()]) this.close(number, error);
  }
}
