// What a runtime's app does with its network: everything that has to end with the runtime, or with the state that it is in, is known here. Made at the
// first use, and what is not needed at once is loaded then: undici (its types are in the public API, so that what is given here can be handed to
// `fetch()` and to undici itself), and what answers with a promise anyway. Next: `fetch.ts`, one request and its answer; `port-dispatcher.ts`.

import type { Dispatcher } from 'undici';
import type { NetworkLink } from '../channel/network-link.js';
import { runtimeDisposed } from '../errors/make.js';
import type { ConnectOptions, FetchOptions, ListenerQuery, WaitForListenerOptions } from '../options/network.js';
import type { ExposedPort } from './exposed-port.js';
import type { GuestResponse } from './fetch.js';
import { GuestStream } from './guest-stream.js';
import type { GuestListener } from './listeners.js';
import { type PortDispatcher, portDispatcher } from './port-dispatcher.js';

const DEFAULT_WAIT_MS = 10_000;

// The time in which the runtime is in one state. What was asked in it must not reach another.
interface Era {
  /** Why it is over. */
  over?: Error;
}

/** See above. Options have been checked. */
export class RuntimeNetwork {
  readonly #link: NetworkLink;
  readonly #runtime: number;
  readonly #streams = new Set<GuestStream>();
  readonly #dispatchers = new Map<number, PortDispatcher>();
  readonly #exposed = new Set<ExposedPort>();
  readonly #waits = new Set<(error: Error) => void>();
  readonly #maxResponseBytes: number | undefined;
  // What is under way that may put another state in the place of this one.
  readonly #changes = new Set<Promise<unknown>>();
  #era: Era = {};

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
    const known = this.#dispatchers.get(port)?.dispatcher;
    // Whoever was handed it may have ended it.
    if (known !== undefined && !known.closed && !known.destroyed) return known;
    const made = portDispatcher(
      port,
      () => this.connect({ port }),
      () => this.#within.bind(this, this.#era),
    );
    this.#dispatchers.set(port, made);
    return made.dispatcher;
  }

  /** `request`: what it says counts where `options` say nothing. */
  async fetch(port: number, options: FetchOptions, request?: Request): Promise<GuestResponse> {
    const era = this.#era;
    const { fetchFrom, fromRequest } = await import('./fetch.js');
    assertNow(era);
    const given = request === undefined ? options : { ...fromRequest(request), ...options };
    const maxResponseBytes = given.maxResponseBytes ?? this.#maxResponseBytes;
    return fetchFrom(this.dispatcher(port), port, { ...given, maxResponseBytes });
  }

  async listeners(query: ListenerQuery = {}): Promise<GuestListener[]> {
    const { listenerOf } = await import('./listeners.js');
    return (await this.#link.listeners({ runtime: this.#runtime, ...query })).map(listenerOf);
  }

  async waitFor(query: ListenerQuery, options: WaitForListenerOptions): Promise<GuestListener> {
    const { timeoutMs = DEFAULT_WAIT_MS, signal } = options;
    const era = this.#era;
    const { waitFor } = await import('./listeners.js');
    assertNow(era);
    signal?.throwIfAborted();
    const onDispose = (end: (error: Error) => void) => {
      this.#waits.add(end);
      return () => this.#waits.delete(end);
    };
    return waitFor(this.#link, { runtime: this.#runtime, ...query }, query, { timeoutMs, signal, onDispose });
  }

  async expose(port: number, host: string, hostPort: number): Promise<ExposedPort> {
    const { ExposedPort } = await import('./exposed-port.js');
    assertNow(this.#era);
    const connect = (): GuestStream => this.connect({ port, allowHalfOpen: true });
    const exposed = await ExposedPort.open(host, hostPort, connect, (one) => this.#exposed.delete(one));
    this.#exposed.add(exposed);
    if (this.#era.over !== undefined) await exposed.close();
    assertNow(this.#era);
    return exposed;
  }

  /**
   * Does `work`, which puts another state in the place of this one unless it fails. Requests that were begun before it is done end with `reason`, also
   * those that still wait for a connection: none is made meanwhile, because it could lead into either state.
   */
  async change<T>(reason: Error, work: () => Promise<T>): Promise<T> {
    const change = work().then((done) => {
      this.renew(reason);
      return done;
    });
    this.#changes.add(change);
    try {
      return await change;
    } finally {
      this.#changes.delete(change);
    }
  }

  /** Another state has come, or is about to: ends the requests of this one. */
  renew(reason: Error): void {
    if (this.#era.over !== undefined) return; // disposed
    this.#era.over = reason;
    this.#era = {};
    for (const { renew } of this.#dispatchers.values()) renew(reason);
  }

  /** The runtime is being disposed: ends what there is. */
  async close(): Promise<void> {
    const reason = runtimeDisposed(this.#runtime);
    this.#era.over = reason;
    for (const end of [...this.#waits]) end(reason);
    for (const { dispatcher } of this.#dispatchers.values()) dispatcher.destroy(reason).catch(() => {});
    // Who does not listen for errors has not asked for one: this end is the app's own.
    for (const stream of [...this.#streams]) stream.destroy(stream.listenerCount('error') > 0 ? reason : undefined);
    await Promise.all([...this.#exposed].map((one) => one.close()));
  }

  async #within(era: Era, work: () => void): Promise<void> {
    while (this.#changes.size > 0) await Promise.allSettled(this.#changes);
    assertNow(era);
    work();
  }
}

// It may have ended while something was waited for.
function assertNow(era: Era): void {
  if (era.over !== undefined) throw era.over;
}
