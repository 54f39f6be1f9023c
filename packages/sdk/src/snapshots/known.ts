// What is behind a `Snapshot`. Kept apart from its class, so that options can be checked without loading it.

import type { Household } from '../sidecar/household.js';

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
