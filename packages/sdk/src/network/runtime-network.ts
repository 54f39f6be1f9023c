// The calls of the app into the network of one runtime. Objects that must end with the runtime, or
// with its present state, are registered in this module. The calls connect the app to guests. The
// calls allow no connection from a guest to the host machine.
//
// The module `undici` and the modules of asynchronous calls are loaded at their first use. The
// types of undici are public, so that a dispatcher can be passed to `fetch()` and to undici. Next:
// `fetch.ts`, one request and its response; `port-dispatcher.ts`.

import type { Agent } from 'node:http';
import type { Dispatcher } from 'undici';
import { runtimeDisposed } from '../errors/make.js';
import { checkArgument, checkOptions } from '../options/check.js';
import {
  CONNECT_TARGET,
  type ConnectOptions,
  type ExposePortOptions,
  type FetchOptions,
  LISTENER_QUERY,
  type ListenerQuery,
  PORT,
  type WaitForListenerOptions,
} from '../options/network.js';
import type { RuntimeAccess } from '../sidecar/runtime-access.js';
import type { ExposedPort } from './exposed-port.js';
import type { GuestResponse } from './fetch.js';
import { GuestStream } from './guest-stream.js';
import { keepingAgent, retire } from './kept-connections.js';
import type { GuestListener } from './listeners.js';
import { type PortDispatcher, portDispatcher } from './port-dispatcher.js';
import type { ProgramFailures } from './program-exit.js';

const DEFAULT_WAIT_MS = 10_000;

/**
 * A period in the life of a runtime. A rollback or a resumption ends the present era and starts
 * another era. A request of one era must not reach a later era.
 */
interface Era {
  /** The reason why the era has ended. */
  ended?: Error;
}

/** The calls of `NodeRuntime` for servers in the guest. */
export class RuntimeNetwork {
  readonly #access: RuntimeAccess;
  readonly #failures: ProgramFailures;
  readonly #streams = new Set<GuestStream>();
  readonly #dispatchers = new Map<number, PortDispatcher>();
  readonly #exposed = new Set<ExposedPort>();
  readonly #waits = new Set<(error: Error) => void>();
  readonly #maxResponseBytes: number | undefined;
  /** Pending restores. */
  readonly #restores = new Set<Promise<unknown>>();
  #era: Era = {};
  /** The agent of gateways in the present era. */
  #agent: Agent | undefined;

  /** `maxResponseBytes`: the bound for calls of `fetch()` without that option. */
  constructor(access: RuntimeAccess, failures: ProgramFailures, maxResponseBytes?: number) {
    this.#access = access;
    this.#failures = failures;
    this.#maxResponseBytes = maxResponseBytes;
  }

  async fetch(port: number, request: string | FetchOptions | Request, options: FetchOptions): Promise<GuestResponse> {
    checkArgument('fetch()', 'port', PORT, port);
    this.#access.assertUsable();
    const isRequest = request instanceof Request;
    const given = typeof request === 'string' ? { path: request } : isRequest ? {} : request;
    const own = isRequest ? options : { ...given, ...options };
    checkOptions('fetch()', own);
    const era = this.#era;
    const { fetchFrom, fromRequest } = await import('./fetch.js');
    assertCurrent(era);
    const all = isRequest ? { ...fromRequest(request), ...own } : own;
    const maxResponseBytes = all.maxResponseBytes ?? this.#maxResponseBytes;
    return fetchFrom(this.#dispatcher(port), port, { ...all, maxResponseBytes });
  }

  dispatcher(port: number): Dispatcher {
    checkArgument('dispatcher()', 'port', PORT, port);
    this.#access.assertUsable();
    return this.#dispatcher(port);
  }

  connect(target: ConnectOptions): GuestStream {
    checkArgument('connect()', 'target', CONNECT_TARGET, target);
    this.#access.assertUsable();
    return this.#connect(target);
  }

  /** Returns the agent that keeps the connections of gateways, for the present era. */
  agent(): Agent {
    this.#access.assertUsable();
    this.#agent ??= keepingAgent((port) => this.#connect({ port, allowHalfOpen: true }));
    return this.#agent;
  }

  async waitForListener(query: ListenerQuery, options: WaitForListenerOptions): Promise<GuestListener> {
    checkArgument('waitForListener()', 'target', LISTENER_QUERY, query);
    checkOptions('waitForListener()', options);
    this.#access.assertUsable();
    const { timeoutMs = DEFAULT_WAIT_MS, signal, process: program } = options;
    const [era, earlierFailures] = [this.#era, this.#failures.failures];
    const [{ waitFor }, { endOfWait }] = await Promise.all([import('./listeners.js'), import('./program-exit.js')]);
    await this.#noRestore(era);
    signal?.throwIfAborted();
    const onEnd = (end: (error: Error) => void) => {
      this.#waits.add(end);
      return () => this.#waits.delete(end);
    };
    const { connection, runtime } = this.#access;
    const onExit = endOfWait(this.#access, this.#failures, { query, program, earlierFailures });
    return waitFor(connection.network, { runtime, ...query }, query, { timeoutMs, signal, onEnd, onExit });
  }

  async findListener(query: ListenerQuery): Promise<GuestListener | undefined> {
    checkArgument('findListener()', 'target', LISTENER_QUERY, query);
    return (await this.listeners(query))[0];
  }

  async listeners(query: ListenerQuery = {}): Promise<GuestListener[]> {
    this.#access.assertUsable();
    const { listenerOf } = await import('./listeners.js');
    const { connection, runtime } = this.#access;
    return (await connection.request('listener.list', { runtime, ...query })).listeners.map(listenerOf);
  }

  async exposePort(port: number, options: ExposePortOptions): Promise<ExposedPort> {
    checkArgument('exposePort()', 'port', PORT, port);
    checkOptions('exposePort()', options);
    this.#access.assertUsable();
    const { host = '127.0.0.1', hostPort = 0 } = options;
    const { ExposedPort } = await import('./exposed-port.js');
    assertCurrent(this.#era);
    const connect = (): GuestStream => this.#connect({ port, allowHalfOpen: true });
    const exposed = await ExposedPort.open(host, hostPort, connect, (closed) => this.#exposed.delete(closed));
    this.#exposed.add(exposed);
    if (this.#era.ended !== undefined) await exposed.close();
    assertCurrent(this.#era);
    return exposed;
  }

  /**
   * Runs `restore`, which restores another state of the runtime. If `restore` succeeds, requests
   * that started before the end of `restore` fail with `reason`, including requests that wait for a
   * connection. No connection and no wait for a listener is made during the restore, because each
   * could reach the old or the new state.
   */
  async whileRestoring<T>(reason: Error, restore: () => Promise<T>): Promise<T> {
    const restored = restore().then((result) => {
      this.startEra(reason);
      return result;
    });
    this.#restores.add(restored);
    try {
      return await restored;
    } finally {
      this.#restores.delete(restored);
    }
  }

  /** Ends the requests and waits of the present era with `reason`, and starts another era. */
  startEra(reason: Error): void {
    if (this.#era.ended !== undefined) return; // the network is closed
    this.#era.ended = reason;
    this.#era = {};
    for (const end of [...this.#waits]) end(reason);
    for (const { renew } of this.#dispatchers.values()) renew(reason);
    this.#endKept();
  }

  /** Ends all connections, requests and waits, because the runtime is being disposed. */
  async close(): Promise<void> {
    const reason = runtimeDisposed(this.#access.runtime);
    this.#era.ended = reason;
    for (const end of [...this.#waits]) end(reason);
    for (const { dispatcher } of this.#dispatchers.values()) dispatcher.destroy(reason).catch(() => {});
    this.#endKept();
    // The app itself ends the runtime, so a stream without an error listener gets no error, which
    // would be an uncaught exception.
    for (const stream of [...this.#streams]) stream.destroy(stream.listenerCount('error') > 0 ? reason : undefined);
    await Promise.all([...this.#exposed].map((exposed) => exposed.close()));
  }

  #connect({ port, host, path, allowHalfOpen = false }: ConnectOptions): GuestStream {
    const { connection, runtime } = this.#access;
    const stream = new GuestStream((listener) => connection.network.open({ runtime, port, host, path }, listener), allowHalfOpen);
    this.#streams.add(stream);
    stream.once('close', () => this.#streams.delete(stream));
    return stream;
  }

  #endKept(): void {
    if (this.#agent !== undefined) retire(this.#agent);
    this.#agent = undefined;
  }

  #dispatcher(port: number): Dispatcher {
    const present = this.#dispatchers.get(port)?.dispatcher;
    // The app may have closed or destroyed the dispatcher. Then another dispatcher is made.
    if (present !== undefined && !present.closed && !present.destroyed) return present;
    const made = portDispatcher(
      port,
      () => this.#connect({ port }),
      () => this.#within.bind(this, this.#era),
    );
    this.#dispatchers.set(port, made);
    return made.dispatcher;
  }

  async #within(era: Era, work: () => void): Promise<void> {
    await this.#noRestore(era);
    work();
  }

  // Waits until no restore is pending. Throws if `era` has ended.
  async #noRestore(era: Era): Promise<void> {
    while (this.#restores.size > 0) await Promise.allSettled(this.#restores);
    assertCurrent(era);
  }
}

// Throws the reason if the era ended, which may happen during an `await`.
function assertCurrent(era: Era): void {
  if (era.ended !== undefined) throw era.ended;
}
