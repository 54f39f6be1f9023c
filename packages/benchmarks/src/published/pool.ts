// Published figures of other systems for pools.

import type { PublishedRig } from './system.js';

export interface PublishedPool extends PublishedRig {
  what: string;
  ms: number;
  is: string;
  /** Selects the figure of a run that the table shows beside the published figure. */
  ours:
    | { uses: number }
    | { way: string; at: number; figure: 'mean' | 'p95' }
    | { checkout: 'take' | 'release'; figure: 'mean' | 'p95' };
}

const CLRK = { system: 'CLRK', isolation: 'container', rig: 'c4a and others' } as const;
const COPPICE = { system: 'Coppice', isolation: 'micro-VM', rig: 'Ryzen 9 5900HX' } as const;

const calls = (way: string, what: string, figures: readonly [number, number, number]): PublishedPool[] =>
  ([1, 10, 50] as const).map((at, index) => {
    const figure = at === 50 ? 'p95' : 'mean';
    return { ...COPPICE, what: `${what}, ${at} at once`, ms: figures[index] ?? 0, is: figure, ours: { way, at, figure } };
  });

export const publishedPools: readonly PublishedPool[] = [
  { ...CLRK, what: 'amortised task, K = 10', ms: 31, is: 'its formula, 110 / K + 20', ours: { uses: 10 } },
  { ...CLRK, what: 'amortised task, K = 100', ms: 21, is: 'its formula, 110 / K + 20', ours: { uses: 100 } },
  ...calls('cold', 'cold start', [3_906, 5_846, 100_194]),
  ...calls('prewarm', 'prewarmed pool', [10, 10, 41]),
  ...calls('durable', 'durable pool', [271, 1_565, 3_103]),
  ...calls('durable prewarm', 'durable, prewarmed', [17, 39, 1_290]),
  { ...COPPICE, what: 'checkout', ms: 21.5, is: 'mean', ours: { checkout: 'take', figure: 'mean' } },
  { ...COPPICE, what: 'checkout', ms: 23, is: 'p95', ours: { checkout: 'take', figure: 'p95' } },
  { ...COPPICE, what: 'release', ms: 308, is: 'mean', ours: { checkout: 'release', figure: 'mean' } },
  { ...COPPICE, what: 'release', ms: 610, is: 'p95', ours: { checkout: 'release', figure: 'p95' } },
];
