// The connection behind a public handle. Stored apart from the class of the handle, so that no
// connection appears in the public types.

import type { Opening } from '../channel/sidecar-connection.js';
import { addSidecar } from '../options/handles.js';

const openings = new WeakMap<object, Opening>();

/** Stores the connection behind a new `Sidecar`. */
export function register(sidecar: object, opening: Opening): void {
  addSidecar(sidecar);
  openings.set(sidecar, opening);
}

/**
 * Returns the connection behind a `Sidecar`. The caller has checked that the value is a `Sidecar`.
 */
export const openingOf = (sidecar: object): Opening => openings.get(sidecar) as Opening;
