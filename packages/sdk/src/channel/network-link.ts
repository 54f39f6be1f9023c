// The network of runtimes, as a sidecar provides it: connections to listeners, the list of
// listeners, and the wait for a listener. `network.ts` implements it over frames,
// `transports/embedded-network.ts` over the addon. Next: `network/guest-stream.ts`.

import type { NetworkTarget, WireListener } from './messages.js';

/** Receives the events of a connection. Does not throw. */
export interface StreamListener {
  /** Receives bytes of the guest and may keep them. */
  data(bytes: Uint8Array): void;
  /** The guest's end has taken so many bytes of this side. */
  credit(bytes: number): void;
  /** The guest has ended its side. */
  ended(): void;
  /**
   * The connection has closed: with an error, or because both directions have ended. The last
   * event.
   */
  closed(error: Error | undefined): void;
}

/** An open connection. */
export interface OpenStream {
  /** Resolves when the connection is established. Rejects if no process listens at the target. */
  readonly opened: Promise<void>;
  /** Sends a copy of the bytes. At most `STREAM_WINDOW_BYTES` may lack credit. */
  write(bytes: Uint8Array): void;
  /** Ends this side. */
  end(): void;
  /** Returns credit for consumed bytes of the guest. */
  credit(bytes: number): void;
  /**
   * Closes the connection without further events. `reset`: the guest gets a reset instead of an
   * end.
   */
  close(reset: boolean): void;
}

/** A wait for a listener. */
export interface ListenerWait {
  readonly answer: Promise<WireListener>;
  /** Ends the wait. `answer` rejects. */
  cancel(): void;
}

/** The network of a sidecar's runtimes. */
export interface NetworkLink {
  open(target: NetworkTarget, listener: StreamListener): OpenStream;
  /** Returns all listeners, or the listener that a connection to the target would reach. */
  listeners(target: NetworkTarget): Promise<WireListener[]>;
  wait(target: NetworkTarget): ListenerWait;
}

/**
 * Open connections by their numbers. A message about a closed connection crossed its end and is
 * ignored.
 */
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

  /** Closes one connection. */
  close(number: number, error: Error | undefined): void {
    const listener = this.#listeners.get(number);
    this.#listeners.delete(number);
    listener?.closed(error);
  }

  /** Closes all connections, because the sidecar has ended. */
  closeAll(error: Error): void {
    for (const number of [...this.#listeners.keys()]) this.close(number, error);
  }
}
