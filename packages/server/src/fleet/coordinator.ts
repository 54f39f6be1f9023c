// The knowledge about the servers of a fleet. On one machine there is one server, and this file has
// its coordinator. A fleet has another coordinator with this interface.

import { homeOf } from '../ids.js';

/** The place of a sandbox: this server, another server, or no known server. */
export type Place = 'here' | 'unknown' | { readonly url: string };

/** Finds the server of a sandbox. */
export interface Coordinator {
  /** The constant part of the ids that this server hands out. */
  readonly home: string;
  /** The number of this start of the server. */
  readonly epoch: number;
  /** Returns the server that may have the sandbox `id`. */
  locate(id: string): Place;
}

/** Makes the coordinator of a server without a fleet. */
export const singleServer = (home: string, epoch: number): Coordinator => ({
  home,
  epoch,
  locate: (id) => (homeOf(id) === home ? 'here' : 'unknown'),
});
