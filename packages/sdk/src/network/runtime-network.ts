// What a runtime's app does with its network: everything that has to end with the runtime is known here. Made at the first use, and what is not needed
// at once is loaded then: undici (its types are in the public API, so that what is given here can be handed to `fetch()` and to undici itself), and
// what answers with a promise anyway. Next: `fetch.ts`, one request and its answer.

import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { runtimeDisposed } from '../errors/make.js';
import type { ConnectOptions, FetchOptions, ListenerQuery, WaitForListenerOptions } from '../options/network.js';
import type { ExposedPort } from './exposed-port.js';
import type { GuestResponse } from './fetch.js';
import { GuestStream } from './guest-stream.js';
import type { NetworkLink } from './link.js';
import type { GuestListener } from './listeners.js';

const DEFAULT_WAIT_MS = 10_000;
// Connections to one port (under one host): with the guest's ends they fit into its sockets, and the rest of the requests wait their turn.
const CONNECTIONS = 64;

const require = createRequire(import.meta.url);

/** See above. Options have been checked. */
export class RuntimeNetwork {
  readonly #link: NetworkLink;
  readonly #runtime: number;
  readonly #streams = new Set<GuestStream>();
  readonly #dispatchers = new Map<number, Dispatcher & { closed?: boolean; destroyed?: boolean }>();
  readonly #exposed = new Set<ExposedPort>();
  readonly #waits = new Set<(error: Error) => void>();
  readonly #maxResponseBytes: number | undefined;
  #closed = false;

  /** `maxResponseBytes`: the runtime's, for calls of `fetch` that say nothing of it. */
  constructor(link: NetworkLink, runtime: number, maxResponseBytes?: number) {
    this.#link = link;
    this.#runtime = runtime;
    this.#maxResponseBytes = maxResponseBytes;
  }

  connect({ port, host, path, allowHalfOpen = false }: ConnectOptions): GuestStream {
    const stream = new GuestStream(this.#link, { runtime: this.#runtime, port, host, path }, allowHalfOpen);
    this.#streams.add(stream);
    stream.once('close', () => this.#streams.delete(stream));
    return stream;
  }

  dispatcher(port: number): Dispatcher {
    const known = this.#dispatchers.get(port);
    // Whoever was handed it may have ended it.
    if (known !== undefined && !known.closed && !known.destroyed) return known;
    const made = dispatcherFor(port, () => this.connect({ port }));
    this.#dispatchers.set(port, made);
    return made;
  }

  async fetch(port: number, options: FetchOptions): Promise<GuestResponse> {
    const { fetchFrom } = await import('./fetch.js');
    this.#assertOpen();
    const maxResponseBytes = options.maxResponseBytes ?? this.#maxResponseBytes;
    return fetchFrom(this.dispatcher(port), port, { ...options, maxResponseBytes });
  }

  async fetchRequest(port: number, request: Request, options: FetchOptions): Promise<GuestResponse> {
    const { fromRequest } = await import('./fetch.js');
    return this.fetch(port, { ...fromRequest(request), ...options });
  }

  async listeners(query: ListenerQuery = {}): Promise<GuestListener[]> {
    const { listenerOf } = await import('./listeners.js');
    return (await this.#link.listeners({ runtime: this.#runtime, ...query })).map(listenerOf);
  }

  async waitFor(query: ListenerQuery, options: WaitForListenerOptions): Promise<GuestListener> {
    const { timeoutMs = DEFAULT_WAIT_MS, signal } = options;
    const { waitFor } = await import('./listeners.js');
    this.#assertOpen();
    signal?.throwIfAborted();
    const onDispose = (end: (error: Error) => void) => {
      this.#waits.add(end);
      return () => this.#waits.delete(end);
    };
    return waitFor(this.#link, { runtime: this.#runtime, ...query }, query, { timeoutMs, signal, onDispose });
  }

  async expose(port: number, host: string, hostPort: number): Promise<ExposedPort> {
    const { ExposedPort } = await import('./exposed-port.js');
    this.#assertOpen();
    const connect = (): GuestStream => this.connect({ port, allowHalfOpen: true });
    const exposed = await ExposedPort.open(host, hostPort, connect, (one) => this.#exposed.delete(one));
    this.#exposed.add(exposed);
    if (this.#closed) {
      await exposed.close();
      throw runtimeDisposed(this.#runtime);
    }
    return exposed;
  }

  /** The runtime is being disposed: ends what there is. */
  async close(): Promise<void> {
    this.#closed = true;
    const reason = runtimeDisposed(this.#runtime);
    for (const end of [...this.#waits]) end(reason);
    for (const dispatcher of this.#dispatchers.values()) dispatcher.destroy(reason).catch(() => {});
    // Who does not listen for errors has not asked for one: this end is the app's own.
    for (const stream of [...this.#streams]) stream.destroy(stream.listenerCount('error') > 0 ? reason : undefined);
    await Promise.all([...this.#exposed].map((one) => one.close()));
  }

  // It may have been closed while something was loaded.
  #assertOpen(): void {
    if (this.#closed) throw runtimeDisposed(this.#runtime);
  }
}

// A dispatcher for `port`: of a URL only path and query decide, and its host is what the guest reads as `host`.
function dispatcherFor(port: number, connect: () => GuestStream): Dispatcher {
  const { Agent } = require('undici') as typeof import('undici');
  const agent = new Agent({
    connections: CONNECTIONS,
    connect: (_options, callback) => {
      const stream = connect();
      const failed = (error: Error): void => callback(error, null);
      stream.once('error', failed);
      stream.once('connect', () => {
        stream.off('error', failed);
        // undici needs of a socket what every Duplex has.
        callback(null, stream as unknown as Socket);
      });
    },
  });
  const origin = `http://localhost:${port}`;
  return agent.compose((dispatch) => (options, handler) => dispatch({ ...options, origin: options.origin ?? origin }, handler));
}
