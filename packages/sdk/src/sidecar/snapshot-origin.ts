// Stores the origin of each `Snapshot`: the sidecar in which the snapshot was taken or found. This
// module is separate from the class, so that options and runtimes can read the origin without
// loading the class.

import { isColdframeError } from '../errors/error.js';
import { snapshotLost } from '../errors/make.js';
import { addSnapshot } from '../options/handles.js';
import type { SidecarLease } from './lease.js';

const origins = new WeakMap<object, SidecarLease>();

/** Stores the origin of a new `Snapshot`. */
export function registerSnapshot(snapshot: object, lease: SidecarLease): void {
  addSnapshot(snapshot);
  origins.set(snapshot, lease);
}

/** Returns the origin of a `Snapshot`, or `undefined` for any other value. */
export function originOf(value: unknown): SidecarLease | undefined {
  return typeof value === 'object' && value !== null ? origins.get(value) : undefined;
}

/** The parts of a `Snapshot` that an error about the snapshot names. */
interface NamedSnapshot {
  readonly id: string;
  readonly stored: 'memory' | 'disk' | 'both';
}

/**
 * Returns `error`, or a clearer error if the snapshot is missing because the sidecar that stored
 * the snapshot has ended.
 */
export function explainMissing(error: unknown, snapshot: unknown, tenant: string): unknown {
  const origin = originOf(snapshot);
  if (origin === undefined || origin.isOpen() || !isColdframeError(error, 'ERR_SNAPSHOT_NOT_FOUND')) return error;
  const { id, stored } = snapshot as NamedSnapshot;
  return snapshotLost(id, tenant, stored, error);
}
