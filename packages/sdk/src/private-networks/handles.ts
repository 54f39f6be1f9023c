// Stores the connection and the number of each `Network` for the other modules of this package.

import type { SidecarConnection } from '../channel/sidecar-connection.js';
import { addNetwork } from '../options/handles.js';
import type { NetworkOptions } from '../options/outside.js';
import {
  type Membership,
  type MembershipOptions,
  type RuntimeNetworkOptions,
  withoutMemberships,
} from '../options/private-network.js';
import type { NetworkId } from '../protocol/generated/messages.js';
import type { Sidecar } from '../sidecar/sidecar.js';

/** A network of a sidecar. */
export interface NetworkEntry {
  readonly connection: SidecarConnection;
  readonly network: NetworkId;
  readonly sidecar: Sidecar;
}

const entries = new WeakMap<object, NetworkEntry>();

/** Stores the entry of a new `Network`. */
export function registerNetwork(network: object, entry: NetworkEntry): void {
  addNetwork(network);
  entries.set(network, entry);
}

/** Returns the entry of a `Network`. The caller has checked that the value is a `Network`. */
export const entryOf = (network: object): NetworkEntry => entries.get(network) as NetworkEntry;

/** The options of a new runtime that concern its networks and its sidecar. */
interface Joining {
  network?: RuntimeNetworkOptions | undefined;
  sidecar?: Sidecar | undefined;
  snapshot?: unknown;
  walls?: unknown;
}

/**
 * Returns options without memberships, and with the sidecar of the first network if the options
 * choose no sidecar.
 */
export function onSidecarOfNetwork<T extends Joining>(options: T): T & { network?: NetworkOptions | undefined } {
  const lasting = withoutMemberships(options);
  const [first] = options.network?.join ?? [];
  const { sidecar, snapshot, walls } = options;
  if (first === undefined || [sidecar, snapshot, walls].some((option) => option !== undefined)) return lasting;
  return { ...lasting, sidecar: entryOf(first.network).sidecar };
}

/** A new runtime. */
interface JoiningRuntime {
  readonly network: { join(network: Membership['network'], options: MembershipOptions): Promise<unknown> };
  dispose(): Promise<void>;
}

/** Makes a new runtime a member of its networks. Disposes the runtime if it cannot join. */
export async function joinAll<R extends JoiningRuntime>(runtime: R, join: readonly Membership[] = []): Promise<R> {
  try {
    for (const { network, ...membership } of join) await runtime.network.join(network, membership);
    return runtime;
  } catch (error) {
    await runtime.dispose();
    throw error;
  }
}
