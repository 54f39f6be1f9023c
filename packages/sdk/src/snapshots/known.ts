// What is behind a `Snapshot`. Kept apart from its class, so that options can be checked without loading it.

import { isColdframeError } from '../errors/error.js';
import { snapshotGone } from '../errors/make.js';
import type { Household } from '../sidecar/household.js';
import type { Snapshot } from './snapshot.js';

/** Where a snapshot was taken or found. */
export interface Known {
  readonly household: Household;
}

const known = new WeakMap<object, Known>();

/** Remembers what is behind a new `Snapshot`. */
export function remember(snapshot: object, what: Known): void {
  known.set(snapshot, what);
}

/** What is behind a `Snapshot`; `undefined` when `value` is none, or is one of another copy of this package. */
export function knownOf(value: unknown): Known | undefined {
  return typeof value === 'object' && value !== null ? known.get(value) : undefined;
}

/** Whether `value` is a `Snapshot` of this copy of the package. */
export const isSnapshot = (value: unknown): boolean => knownOf(value) !== undefined;

/** `error`, or what it means when the sidecar is gone in whose memory the snapshot lay, or in whose folder. */
export function explained(error: unknown, snapshot: unknown, tenant: string): unknown {
  const known = knownOf(snapshot);
  if (known === undefined || known.household.isOpen() || !isColdframeError(error, 'ERR_SNAPSHOT_NOT_FOUND')) return error;
  const { id, stored } = snapshot as Snapshot;
  return snapshotGone(id, tenant, stored, error);
}
