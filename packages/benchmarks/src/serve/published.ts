// Published figures of other systems for requests to their servers, and the row of this benchmark
// with the same definition. The authors measured the figures on other machines.

import { publishedLifecycle } from '../published/lifecycle.js';
import type { PublishedRig } from '../published/system.js';

/** A published time beside a row. */
export interface PublishedServe extends PublishedRig {
  what: string;
  ms: number;
  is: string;
  row: string;
}

const ROWS: Readonly<Record<number, string>> = {
  1: 'create and delete, 1 in flight',
  10: 'create and delete, 10 in flight',
  20: 'create and delete, 20 in flight',
  50: 'create and delete, 50 in flight',
};

const COPPICE = { system: 'Coppice, pool', isolation: 'micro-VM', rig: 'Ryzen 9 5900HX' } as const;

// The figures of a creation are the time of one request, among `n` requests in flight.
const creations = publishedLifecycle.flatMap(({ system, isolation, rig, operation, n, ms, is }): PublishedServe[] => {
  const row = operation === 'create' ? ROWS[n] : undefined;
  return row === undefined ? [] : [{ system, isolation, rig, what: `create, ${n} in flight`, ms, is, row }];
});

/** The figures. */
export const publishedServe: readonly PublishedServe[] = [
  ...creations,
  {
    ...COPPICE,
    what: 'create, until a first command has answered',
    ms: 10,
    is: 'mean',
    row: 'create, first command and delete, 1 in flight',
  },
];
