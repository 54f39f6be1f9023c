// The promises of pools, each with the figure of this run; the numbers are those of `docs/specification.md`. A row in which something was wrong has no time.

import { judge, type TargetResult, target } from '../report/judge.js';
import type { AmortisedRow } from './amortised.js';
import type { PoolMeasurements } from './report.js';

export function judgePools({ amortised, crowds, hygiene }: Omit<PoolMeasurements, 'floors'>): TargetResult[] {
  const task = (way: AmortisedRow['way'], uses?: number) =>
    amortised.find((row) => row.way === way && row.uses === uses && row.width === 1 && row.successRate === 1);
  const crowd = (at: number) => crowds.find((row) => row.way === 'prewarm' && row.at === at && row.successRate === 1);
  const all = [...amortised, ...crowds, ...(hygiene ? [hygiene] : [])].map(({ successRate }) => successRate);
  const hits = crowds.flatMap(({ hitRatio }) => hitRatio ?? []);
  const left = hygiene && Object.values(hygiene.left).reduce((sum, count) => sum + Math.max(0, count), 0);
  const drafts = [
    target('W1', 'task in a slot that lies ready, K = 100, as its caller sees it', 0.5, 'ms', task('pool', 100)?.eachMs?.p50),
    target('W2', 'task, K = 100, everything that the pool does included', 1.5, 'ms', task('pool', 100)?.amortisedMs),
    target(
      'W3',
      'task, K = 100, against `node -e`',
      0.1,
      '×',
      over(task('pool', 100)?.amortisedMs, task('node -e')?.amortisedMs),
    ),
    target('W4', '10 calls at once for slots that lie ready, first answer', 10, 'ms', crowd(10)?.eachMs?.mean),
    target('W5', 'checkout', 0.1, 'ms', hygiene?.eachMs?.p50),
    target('W6', 'release, until the caller goes on', 0.1, 'ms', hygiene?.releaseMs?.p50),
    {
      ...target(
        'W7',
        'hits, slots made before the calls came',
        100,
        '%',
        hits.length === 0 ? undefined : 100 * Math.min(...hits),
      ),
      atLeast: true,
    },
    target('W8', 'left behind by a pool: runtimes, processes, descriptors, files', 0, '', left),
    { ...target('W9', 'right, the worst row', 100, '%', all.length === 0 ? undefined : 100 * Math.min(...all)), atLeast: true },
  ];
  return drafts.map(judge);
}

const over = (a: number | undefined, b: number | undefined): number | undefined => (a === undefined || !b ? undefined : a / b);
