// A private network: connections between runtimes of one sidecar, without the outside. Next:
// `../options/private-network.ts`.

import { asyncDispose } from '../async-dispose.js';
import { checkArgument, checkGivenOptions } from '../options/check.js';
import {
  type MemberEventType,
  type MembershipOptions,
  NETWORK_RULES,
  type NetworkCreateOptions,
  type NetworkRule,
} from '../options/private-network.js';
import type { NetworkMember } from '../protocol/generated/messages.js';
import { openingOf } from '../sidecar/openings.js';
import type { Sidecar } from '../sidecar/sidecar.js';
import { entryOf, type NetworkEntry, registerNetwork } from './handles.js';
import { type MemberEvents, MemberListeners } from './member-events.js';
import { wireRules } from './rules.js';

export type { NetworkMember };

/** A runtime that can be a member, such as a `NodeRuntime`. */
export interface NetworkRuntime {
  readonly network: {
    join(network: { readonly name: string }, options: MembershipOptions): Promise<NetworkMember>;
    leave(network: { readonly name: string }): Promise<void>;
  };
}

/** An open connection between two members. */
export interface MemberFlow {
  /** The name of the connecting member. */
  readonly from: string;
  /** The name of the listening member. */
  readonly to: string;
  /** The port of the listener. */
  readonly port: number;
  /** Bytes that the connecting member has sent. */
  readonly sent: number;
  /** Bytes that the listening member has sent. */
  readonly received: number;
  /** The time at which the connection was begun, in milliseconds since 1970. */
  readonly since: number;
}

/**
 * A private network of runtimes. Members connect to each other by name. No byte leaves the sidecar.
 *
 * @example
 * await using network = await Network.create({ sidecar, name: 'shop' });
 * const db = await NodeRuntime.create({ sidecar, network: { join: [{ network, as: 'db' }] } });
 */
export class Network implements AsyncDisposable {
  /** The name, which is a part of the full names of members. */
  readonly name: string;
  readonly #listeners: MemberListeners;
  #disposal: Promise<void> | undefined;

  private constructor(name: string, entry: NetworkEntry) {
    this.name = name;
    this.#listeners = new MemberListeners(entry, () => this.#disposal !== undefined);
  }

  /**
   * Makes a network without members.
   * @throws `ERR_INVALID_OPTION`, `ERR_RESOURCE_EXHAUSTED`, `ERR_SIDECAR_EXITED`,
   * `ERR_SIDECAR_DISPOSED`
   */
  static async create(options: NetworkCreateOptions<Sidecar>): Promise<Network> {
    checkGivenOptions('Network.create()', options);
    const { sidecar, name, rules } = options;
    const { connection } = openingOf(sidecar);
    const { network: number } = await connection.request('network.create', { name, rules: wireRules(rules) });
    const entry = { connection, network: number, sidecar };
    const network = new Network(name, entry);
    registerNetwork(network, entry);
    return network;
  }

  /**
   * Makes a running runtime a member, until `remove()`, a rollback, a pause or the end of the
   * runtime. Returns the name and the addresses of the member.
   * @throws `ERR_INVALID_OPTION`, `ERR_INVALID_REQUEST` (a name that another member has, a disposed
   * network); otherwise as `runtime.processes()`
   */
  add(runtime: NetworkRuntime, options: MembershipOptions): Promise<NetworkMember> {
    return runtime.network.join(this, options);
  }

  /**
   * Removes a member. Its connections of the network are reset. Does nothing for other runtimes.
   * @throws as `add()`
   */
  remove(runtime: NetworkRuntime): Promise<void> {
    return runtime.network.leave(this);
  }

  /**
   * Replaces the rules, and resets the connections that the new rules do not allow. `undefined`
   * allows every connection. After the call has resolved, no byte moves that the rules do not
   * allow.
   * @throws `ERR_INVALID_OPTION`, `ERR_INVALID_REQUEST` (a disposed network)
   */
  async setRules(rules: readonly NetworkRule[] | undefined): Promise<void> {
    if (rules !== undefined) checkArgument('setRules()', 'rules', NETWORK_RULES, rules);
    const { connection, network } = entryOf(this);
    await connection.request('network.rules', { network, rules: wireRules(rules) });
  }

  /** Returns the members, in the order of their addresses. @throws as `setRules()` */
  async members(): Promise<NetworkMember[]> {
    const { connection, network } = entryOf(this);
    return [...(await connection.request('network.members', { network })).members];
  }

  /**
   * Iterates over the connections that are open at the start of the iteration, the oldest first.
   * @throws in the iteration: as `setRules()`
   */
  async *flows(): AsyncIterableIterator<MemberFlow> {
    const { connection, network } = entryOf(this);
    const { flows } = await connection.request('network.flows', { network });
    for (const { sinceUs, ...flow } of flows) yield { ...flow, since: sinceUs / 1_000 };
  }

  /**
   * Calls `listener` for each event of the type. Returns a function that removes the listener after
   * the delivery of all events so far. A program never waits for a listener.
   * @throws as `setRules()`
   */
  on<T extends MemberEventType>(type: T, listener: (event: MemberEvents[T]) => void): Promise<() => Promise<void>> {
    return this.#listeners.add(type, listener);
  }

  /**
   * Removes all members, resets all connections, and ends the delivery of events. Further calls do
   * nothing.
   */
  dispose(): Promise<void> {
    const { connection, network } = entryOf(this);
    this.#disposal ??= connection.request('network.dispose', { network }).then(() => connection.dropMembers(network));
    return this.#disposal;
  }

  /** Calls `dispose()`, for `await using`. */
  [asyncDispose](): Promise<void> {
    return this.dispose();
  }
}
