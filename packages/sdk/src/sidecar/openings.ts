// Stores the connection of each `Sidecar` for the other modules of this package. A public field of
// the class would show the connection in the public types.

import type { Opening } from '../channel/sidecar-connection.js';
import { addSidecar } from '../options/handles.js';

const openings = new WeakMap<object, Opening>();

/** Stores the connection of a new `Sidecar`. */
export function register(sidecar: object, opening: Opening): void {
  addSidecar(sidecar);
  openings.set(sidecar, opening);
}

/**
 * Returns the connection of a `Sidecar`. The caller has checked that the value is a `Sidecar`.
 */
export const openingOf = (sidecar: object): Opening => openings.get(sidecar) as Opening;
