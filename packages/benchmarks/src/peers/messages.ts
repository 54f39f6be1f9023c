// The messages between the benchmark and the processes of the peers.

import type { Work } from './work.js';

/**
 * `cold`: start, evaluate, dispose. `warm`: evaluate in one live instance. `start`: start instances
 * that stay alive. `again`: evaluate in each of these instances. `end`: dispose of all instances.
 */
export interface HostRequest {
  id: number;
  kind: 'cold' | 'warm' | 'start' | 'again' | 'end' | 'close';
  work: readonly Work[];
}

/** Milliseconds of each right piece of work, and the reason of each wrong piece. */
export interface Times {
  samples: number[];
  failures: string[];
}

export type HostReply = { id: number; times: Times } | { id: number; error: string };
