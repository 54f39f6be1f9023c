// What a runtime's handle offers of its network. A class of its own, because `node-runtime.ts` is long enough: it checks what comes in and leaves the
// rest to `network/runtime-network.ts`.

import type { Dispatcher } from 'undici';
import type { ExposedPort } from '../network/exposed-port.js';
import type { GuestResponse } from '../network/fetch.js';
import type { GuestStream } from '../network/guest-stream.js';
import type { GuestListener } from '../network/listeners.js';
import type { RuntimeNetwork } from '../network/runtime-network.js';
import { acceptable, explain } from '../options/check.js';
import {
  type ConnectOptions,
  checkPort,
  checkTarget,
  type ExposePortOptions,
  type FetchOptions,
  type ListenerQuery,
  type WaitForListenerOptions,
} from '../options/network.js';

/** The calls of a runtime that are about its network. They reach guests; nothing here gives guests a way out. */
export abstract class NetworkMethods {
  /** @internal The runtime's network; throws when it has been disposed. */
  protected abstract network(): RuntimeNetwork;

  /**
   * Sends a request to a guest's HTTP server at `port`, and reads the whole answer. Redirects are not followed, and nothing is decompressed.
   * `request` is a path, options, or a `Request`, of whose URL only path and query count.
   *
   * @throws `ECONNREFUSED`, `ECONNRESET`, `ERR_FETCH_TIMEOUT`, `ERR_RESPONSE_TOO_LARGE`, `ERR_RESPONSE_INVALID`, the signal's reason; what
   * `exec()` throws about options, runtime and sidecar
   */
  async fetch(port: number, request: string | FetchOptions | Request = {}, options: FetchOptions = {}): Promise<GuestResponse> {
    checkPort('fetch()', port);
    const network = this.network();
    const given = typeof request === 'string' ? { path: request, ...options } : request;
    if (given instanceof Request) return network.fetch(port, await checked(options), given);
    return network.fetch(port, await checked({ ...given, ...options }));
  }

  /**
   * A dispatcher of undici whose requests go to a guest's port, whatever host their URL names: `fetch(url, { dispatcher })`. With streams in both
   * directions, kept connections and no limit on the answer. It ends with the runtime; a rollback or a sleep ends the requests of before.
   *
   * @throws `ERR_INVALID_OPTION`, `ERR_RUNTIME_DISPOSED`
   */
  dispatcher(port: number): Dispatcher {
    checkPort('dispatcher()', port);
    return this.network().dispatcher(port);
  }

  /**
   * Connects to who listens at a guest's TCP port or Unix socket: a Duplex of Node that emits `connect`, or `error` with `ECONNREFUSED`. It ends
   * with the runtime.
   *
   * @throws `ERR_INVALID_OPTION`, `ERR_RUNTIME_DISPOSED`
   */
  connect(target: ConnectOptions): GuestStream {
    checkTarget('connect()', target);
    return this.network().connect(target);
  }

  /**
   * Waits until somebody in the runtime listens at a TCP port or Unix socket; resolves at once when somebody does.
   *
   * @throws `ERR_LISTENER_TIMEOUT`, the signal's reason; what `exec()` throws about options, runtime and sidecar
   */
  async waitForListener(query: ListenerQuery, options: WaitForListenerOptions = {}): Promise<GuestListener> {
    checkTarget('waitForListener()', query);
    if (!acceptable('waitForListener()', options)) await explain('waitForListener()', options);
    return this.network().waitFor(query, options);
  }

  /**
   * Who listens at a TCP port or Unix socket of the runtime now.
   *
   * @throws what `exec()` throws about options, runtime and sidecar
   */
  async findListener(query: ListenerQuery): Promise<GuestListener | undefined> {
    checkTarget('findListener()', query);
    return (await this.network().listeners(query))[0];
  }

  /**
   * All who listen in the runtime.
   *
   * @throws `ERR_RUNTIME_DISPOSED`, `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`
   */
  async listeners(): Promise<GuestListener[]> {
    return this.network().listeners();
  }

  /**
   * Serves a guest's TCP port at an address of this machine's loopback, until it is closed or the runtime is disposed. Whoever can reach that address
   * reaches the guest's port.
   *
   * @throws the error of Node's `listen()` when the address is in use; what `exec()` throws about options and runtime
   */
  async exposePort(port: number, options: ExposePortOptions = {}): Promise<ExposedPort> {
    checkPort('exposePort()', port);
    if (!acceptable('exposePort()', options)) await explain('exposePort()', options);
    return this.network().expose(port, options.host ?? '127.0.0.1', options.hostPort ?? 0);
  }
}

async function checked(options: FetchOptions): Promise<FetchOptions> {
  if (!acceptable('fetch()', options)) await explain('fetch()', options);
  return options;
}
