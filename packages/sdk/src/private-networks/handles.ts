// Stores the connection and the number of each `Network` for the other modules of this package.

import type { SidecarConnection } from '../channel/sidecar-connection.js';
import { addNetwork } from '../options/handles.js';
import type { Membership } from '../options/private-network.js';
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

/** Returns options with the sidecar of the first network, if the options choose no sidecar. */
export function onSidecarOf<T extends { sidecar?: Sidecar | undefined; snapshot?: unknown; walls?: unknown }>(
  join: readonly Membership[] | undefined,
  options: T,
): T {
  const [first] = join ?? [];
  const { sidecar, snapshot, walls } = options;
  if (first === undefined || [sidecar, snapshot, walls].some((option) => option !== undefined)) return options;
  return { ...options, sidecar: entryOf(first.network).sidecar };
}
