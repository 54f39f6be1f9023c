// The connections out of one runtime: the policy in force, its changes, the dry run, the open
// connections and the events.
//
// The sidecar records events only while a listener exists, and holds a bounded number for this
// process. Next: `event-listeners.ts`.

import type { SidecarConnection } from '../channel/sidecar-connection.js';
import { invalidOption } from '../errors/make.js';
import { frozenCopy } from '../frozen-copy.js';
import { checkArgument, checkGivenOptions, checkOptions } from '../options/check.js';
import {
  CHECKED_URL,
  NETWORK_CHANGE,
  type NetworkChange,
  type NetworkCheckOptions,
  type NetworkEventType,
  type NetworkOptions,
  type NetworkUpdateOptions,
} from '../options/outside.js';
import { type MembershipOptions, NETWORK_HANDLE } from '../options/private-network.js';
import { entryOf, type NetworkEntry } from '../private-networks/handles.js';
import type { NetworkMember } from '../protocol/generated/messages.js';
import type { RuntimeAccess } from '../sidecar/runtime-access.js';
import { type Wall, wallsFrom } from '../sidecar/walls.js';
import { EventListeners, type NetworkEvents } from './event-listeners.js';
import { RuntimeHandlers } from './handlers.js';
import { afterChange, inForce, wireUpdate } from './policy.js';
import { supplyRoots } from './roots.js';

/** The result of `check()`. */
export interface NetworkVerdict {
  /**
   * Whether a connection is allowed. The address of a name is judged when the name is looked up.
   */
  readonly allowed: boolean;
  /** The reason of a denial, as in the program's error. Absent if a connection is allowed. */
  readonly reason?: string;
  /** The rule that decides, such as `deny[3]`. Absent if `outside` decides. */
  readonly rule?: string;
  /** The text of the rule, as in the options. */
  readonly pattern?: string;
}

/** An open connection out of a runtime, or the datagrams between a socket and one peer. */
export interface NetworkFlow {
  readonly protocol: 'tcp' | 'udp';
  /** The name that the program has looked up. Absent if a rule about addresses decided. */
  readonly host?: string;
  /** The address of the peer. */
  readonly address: string;
  readonly port: number;
  /** The rule that allowed the connection, such as `allow[1]`. Absent if `outside` allowed it. */
  readonly rule?: string;
  /** The text of the rule, as in the options. */
  readonly pattern?: string;
  /** Bytes that the program has sent. */
  readonly sent: number;
  /** Bytes that the program has received. */
  readonly received: number;
  /** Datagrams of both directions that were dropped, for UDP. */
  readonly dropped?: number;
  /** The time at which the connection was opened, in milliseconds since 1970. */
  readonly since: number;
}

/** The connections out of one runtime: `runtime.network`. */
export class OutsideNetwork {
  readonly #access: RuntimeAccess;
  readonly #listeners: EventListeners;
  /** The connection of the sidecar, without the idle policy of the runtime. */
  readonly #home: SidecarConnection;
  readonly #handlers: RuntimeHandlers;
  #options: NetworkOptions | undefined;
  /** The end of the last update. The next update is sent after that end. */
  #lastUpdate: Promise<unknown> = Promise.resolve();

  /** @internal */
  constructor(access: RuntimeAccess, initial: NetworkOptions | undefined, home: SidecarConnection) {
    this.#access = access;
    this.#home = home;
    this.#options = initial && inForce(initial);
    this.#handlers = new RuntimeHandlers(home, access.runtime);
    this.#handlers.set(this.#options);
    this.#listeners = new EventListeners(access);
  }

  /** Returns the options in force, as a frozen copy. Omitted fields have their defaults. */
  get(): NetworkOptions {
    return this.#options ?? inForce({});
  }

  /**
   * Changes the options. A field replaces the present value, `null` restores the default, and an
   * omitted field stays unchanged. After the call has resolved, no byte moves that the new options
   * deny. Open connections that the new options deny are reset, unless `existing` is `'keep'`. If
   * one entry is invalid, nothing changes.
   * @throws `ERR_INVALID_OPTION`, `ERR_INVALID_REQUEST` (an invalid entry); otherwise as
   * `processes()`
   */
  async update(change: NetworkChange, options: NetworkUpdateOptions = {}): Promise<void> {
    this.#access.assertUsable();
    checkArgument('network.update()', 'change', NETWORK_CHANGE, change);
    checkOptions('network.update()', options);
    const { connection, runtime } = this.#access;
    const copy = frozenCopy(change);
    const body = wireUpdate(runtime, copy, options);
    const updated = this.#lastUpdate.then(async () => {
      const next = afterChange(this.get(), copy);
      await supplyRoots(this.#home);
      // Requests of both policies arrive during the update.
      this.#handlers.set(this.#options, next);
      try {
        await connection.request('outside.update', body);
        this.#options = next;
      } finally {
        this.#handlers.set(this.#options);
      }
    });
    this.#lastUpdate = updated.catch(() => {});
    return updated;
  }

  /**
   * Judges a URL by the present options, without a lookup and without a connection.
   * @throws `ERR_INVALID_OPTION`, `ERR_INVALID_REQUEST` (text that is no URL with a host and a
   * port), `ERR_EDGE_ENDED`; otherwise as `processes()`
   */
  async check(url: string | URL, options: NetworkCheckOptions = {}): Promise<NetworkVerdict> {
    this.#access.assertUsable();
    checkArgument('network.check()', 'url', CHECKED_URL, url);
    checkOptions('network.check()', options);
    const { connection, runtime } = this.#access;
    return { ...(await connection.request('outside.check', { runtime, url: String(url), method: options.method })) };
  }

  /**
   * Iterates over the connections that are open at the start of the iteration.
   * @throws in the iteration: `ERR_EDGE_ENDED`; otherwise as `processes()`
   */
  async *flows(): AsyncIterableIterator<NetworkFlow> {
    this.#access.assertUsable();
    const { connection, runtime } = this.#access;
    const { flows } = await connection.request('outside.flows', { runtime });
    for (const { sinceUs, ...flow } of flows) yield { ...flow, since: sinceUs / 1_000 };
  }

  /**
   * Returns the parts of the wall around the edge process, which the runtimes of a sidecar share,
   * and the reason for each missing part. Empty before the first start of the process, and without
   * the option `network`. Starts no process.
   * @throws as `processes()`
   */
  async edgeWalls(): Promise<readonly Wall[]> {
    this.#access.assertUsable();
    const { connection, runtime } = this.#access;
    const { walls } = await connection.request('outside.walls', { runtime });
    return wallsFrom(walls);
  }

  /**
   * Calls `listener` for each event of one type: `open`, `close`, `denied`, `dns`, `request`,
   * `limit`, and `lost` with the number of events that were not delivered. Returns a function that
   * unsubscribes, after all events so far were delivered. A program never waits for a listener.
   * @throws `ERR_INVALID_OPTION`; otherwise as `processes()`
   */
  async on<T extends NetworkEventType>(type: T, listener: (event: NetworkEvents[T]) => void): Promise<() => Promise<void>> {
    this.#access.assertUsable();
    return this.#listeners.add(type, listener);
  }

  /**
   * Joins a private network, until `leave()`, a rollback, a pause or the end of the runtime.
   * Returns the name and the addresses of this member.
   * @throws `ERR_INVALID_OPTION`, `ERR_INVALID_REQUEST` (a name that another member has, a disposed
   * network); otherwise as `processes()`
   */
  async join(network: { readonly name: string }, options: MembershipOptions): Promise<NetworkMember> {
    const entry = this.#entryOf('network.join()', network);
    checkGivenOptions('network.join()', options);
    const { connection, runtime } = this.#access;
    return connection.request('network.join', { network: entry.network, runtime, name: options.as, tags: options.tags });
  }

  /**
   * Leaves a private network, and resets the connections of the network. Does nothing if the
   * runtime is no member.
   * @throws as `join()`
   */
  async leave(network: { readonly name: string }): Promise<void> {
    const entry = this.#entryOf('network.leave()', network);
    const { connection, runtime } = this.#access;
    await connection.request('network.leave', { network: entry.network, runtime });
  }

  #entryOf(call: string, network: object): NetworkEntry {
    this.#access.assertUsable();
    checkArgument(call, 'network', NETWORK_HANDLE, network);
    const entry = entryOf(network);
    if (entry.connection === this.#home) return entry;
    const expected = "a Network of the runtime's sidecar";
    throw invalidOption(call, { option: 'network', expected, received: 'a Network of another sidecar' });
  }

  /** The options in force, or `undefined` if no option was ever set. @internal */
  get options(): NetworkOptions | undefined {
    return this.#options;
  }

  /** Replaces all options, which the sidecar receives with the next resumption. @internal */
  replace(options: NetworkOptions): void {
    this.#options = inForce(options);
    this.#handlers.set(this.#options);
  }

  /** Aborts the requests of a paused runtime that functions of the app handle. @internal */
  abortRequests(): void {
    this.#handlers.abort();
  }

  /**
   * Aborts the requests that functions of the app handle. No function is called again. @internal
   */
  end(): void {
    this.#handlers.end();
  }
}
