// The network of a sidecar's runtimes: connections to listeners, and the wait for a listener. Next:
// `network/guest-stream.ts`.

import type { Listener, NetworkTarget, RequestId, RuntimeId } from '../protocol/generated/messages.js';
import type { Channel } from './channel.js';
import type { EventSubscriber } from './events.js';

/** Receives the events of a connection. Does not throw. */
export interface StreamListener {
  /** The guest has written bytes. The listener may keep the bytes. */
  data(bytes: Uint8Array): void;
  /** The guest's end of the connection has accepted `bytes` more bytes. */
  credit(bytes: number): void;
  /** The guest has ended its side. */
  ended(): void;
  /**
   * The connection has closed: with an error, or because both directions have ended. No event
   * follows.
   */
  closed(error: Error | undefined): void;
}

/** An open connection. */
export interface OpenStream {
  /** Resolves when the connection is established. Rejects if no process listens at the target. */
  readonly opened: Promise<void>;
  /**
   * Sends a copy of the bytes. At most `STREAM_WINDOW_BYTES` sent bytes may be without credit.
   */
  write(bytes: Uint8Array): void;
  /** Ends the direction to the guest. The guest then reads the end of the stream. */
  end(): void;
  /** Returns credit for consumed bytes of the guest. */
  credit(bytes: number): void;
  /**
   * Closes the connection without further events. If `reset` is true, the guest gets a reset
   * instead of an end.
   */
  close(reset: boolean): void;
}

/** A pending wait for a listener. */
export interface ListenerWait {
  readonly answer: Promise<Listener>;
  /** Ends the wait. The promise `answer` rejects. */
  cancel(): void;
}

/** The network of a sidecar's runtimes. */
export interface NetworkLink {
  open(target: NetworkTarget, listener: StreamListener): OpenStream;
  wait(target: NetworkTarget): ListenerWait;
  /** Opens a connection to the request `number` out of a runtime, which waits for a function. */
  handle(runtime: RuntimeId, number: number, listener: StreamListener): OpenStream;
}

/** The network over a channel. */
export class ChannelNetwork implements NetworkLink {
  readonly #channel: Channel;
  /**
   * The listeners of open connections. A message that arrives after its connection was closed is
   * ignored.
   */
  readonly #listeners = new Map<RequestId, StreamListener>();
  /** Receives the events of connections. */
  readonly events: Pick<EventSubscriber, 'streamData' | 'streamCredit' | 'streamEnd' | 'streamClose'> = {
    streamData: (id, bytes) => this.#listeners.get(id)?.data(bytes),
    streamCredit: (id, bytes) => this.#listeners.get(id)?.credit(bytes),
    streamEnd: (id) => this.#listeners.get(id)?.ended(),
    streamClose: (id, error) => this.#close(id, error),
  };

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  open(target: NetworkTarget, listener: StreamListener): OpenStream {
    return this.#begin(target.runtime, listener, (id) => this.#channel.request('stream.open', target, { id }));
  }

  handle(runtime: RuntimeId, number: number, listener: StreamListener): OpenStream {
    return this.#begin(runtime, listener, (id) => this.#channel.request('stream.handle', { runtime, number }, { id }));
  }

  #begin(runtime: RuntimeId, listener: StreamListener, begin: (id: RequestId) => Promise<unknown>): OpenStream {
    const { notify, nextId } = this.#channel;
    const id = nextId();
    this.#listeners.set(id, listener);
    const opened = begin(id).then(() => {});
    opened.catch(() => this.#listeners.delete(id));
    return {
      opened,
      write: (data) => notify('stream.data', id, { runtime, data }),
      end: () => notify('stream.end', id, { runtime }),
      credit: (bytes) => notify('stream.credit', id, { runtime, bytes }),
      close: (reset) => {
        this.#listeners.delete(id);
        notify('stream.close', id, { runtime, reset: reset || undefined });
      },
    };
  }

  wait(target: NetworkTarget): ListenerWait {
    const { request, notify, nextId } = this.#channel;
    const id = nextId();
    const answer = request('listener.wait', target, { id });
    return { answer, cancel: () => notify('listener.cancel', id, { runtime: target.runtime }) };
  }

  /** Closes all connections with `error`, because the channel has closed. */
  close(error: Error): void {
    for (const id of [...this.#listeners.keys()]) this.#close(id, error);
  }

  #close(id: RequestId, error: Error | undefined): void {
    const listener = this.#listeners.get(id);
    this.#listeners.delete(id);
    listener?.closed(error);
  }
}
