// Which connection is behind a public handle. Kept apart from the handle's class, so that nothing of it shows in the public types.

import type { Opening } from '../channel/sidecar-connection.js';

const openings = new WeakMap<object, Opening>();

/** Remembers what is behind a new `Sidecar`. */
export function register(sidecar: object, opening: Opening): void {
  openings.set(sidecar, opening);
}

/** What is behind a `Sidecar`; `undefined` when `value` is none, or is one of another copy of this package. */
export function openingOf(value: unknown): Opening | undefined {
  return typeof value === 'object' && value !== null ? openings.get(value) : undefined;
}
