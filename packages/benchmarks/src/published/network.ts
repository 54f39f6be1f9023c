// Published figures of other systems for the network of their sandboxes. The authors measured them
// on other machines, between the kernels of virtual machines.

import type { PublishedRig } from './system.js';

export interface PublishedNetwork extends PublishedRig {
  what: string;
  /** The figure as published. */
  theirs: string;
  /** The figure in milliseconds, if the figure is a time. */
  ms?: number;
  is: string;
  /** The place of the publication. */
  source: string;
  /** The row of a run that is shown beside the figure. */
  row?: string;
}

const COPPICE = { system: 'Coppice', isolation: 'micro-VM', rig: 'Ryzen 9 5900HX', source: 'cubenet benchmarks' } as const;
const CUBE = {
  system: 'CubeSandbox',
  isolation: 'micro-VM',
  rig: 'not stated',
  is: 'stated by Coppice, not measured',
  source: 'cubenet benchmarks',
} as const;
const ISORUN = { system: 'isorun', isolation: 'micro-VM', rig: 'not stated', is: 'claim', source: 'README' } as const;

export const publishedNetwork: readonly PublishedNetwork[] = [
  {
    ...COPPICE,
    what: 'one rule added, until a connection is denied',
    theirs: '4.2 ms',
    ms: 4.2,
    is: 'most of it starts pfctl',
    row: 'an update of one rule',
  },
  {
    ...COPPICE,
    what: '1,000 addresses added, until a connection is denied',
    theirs: '4 ms',
    ms: 4,
    is: 'measured',
    row: 'an update of 1,000 rules',
  },
  { ...COPPICE, what: 'a policy loaded beside 1,000 others', theirs: '1.5 ms', ms: 1.5, is: 'p95' },
  {
    ...COPPICE,
    what: 'the p99 of a round trip that 10 updates per second add',
    theirs: '43 µs',
    ms: 0.043,
    is: 'at 14 Gbit/s',
  },
  { ...COPPICE, what: 'a round trip between two sandboxes', theirs: '7 µs', ms: 0.007, is: 'p50; p99 8 µs' },
  { ...COPPICE, what: 'a stream between two sandboxes', theirs: '14.6 Gbit/s', is: 'measured' },
  { ...CUBE, what: 'a round trip between two sandboxes', theirs: '5 to 10 µs', ms: 0.0075 },
  { ...CUBE, what: 'a round trip between two sandboxes, second figure', theirs: '10 to 15 µs', ms: 0.0125 },
  { ...ISORUN, what: 'a request through the filter, against no filter', theirs: '0.4 ms', ms: 0.4 },
];
