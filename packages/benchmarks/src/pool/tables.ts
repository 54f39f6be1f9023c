// The tables of the pool benchmark: tasks, calls, checkouts, and published figures.

import { type PublishedPool, publishedPools } from '../published/pool.js';
import { figure, type Table, table, time, times, words } from '../suite/table.js';
import { ms, percentage } from '../suite/text.js';
import type { CallResult } from './calls.js';
import type { CheckoutResult } from './checkouts.js';
import type { TaskResult } from './tasks.js';

const rounded = (value: number | undefined): number | undefined => (value === undefined ? undefined : Math.round(value));
const share = (value: number | undefined): string | undefined => (value === undefined ? undefined : percentage(value));

export const taskTable = (rows: readonly TaskResult[]): Table =>
  table('A task: amortised is the wall time of everything, divided by the tasks (ms)', rows, [
    words('way', ({ way }) => way),
    figure('K', ({ uses }) => uses),
    figure('at a time', ({ width }) => width),
    figure('tasks', ({ total }) => total),
    time('amortised', ({ amortisedMs }) => amortisedMs),
    ...times(['waited p50', 'p95', 'p99', 'max'], ({ eachMs }: TaskResult) => eachMs),
    figure('hits', ({ hitRatio }) => share(hitRatio)),
    figure('made', ({ created }) => rounded(created)),
    figure('rollbacks', ({ recycled }) => rounded(recycled)),
    figure('slot RSS KiB', ({ slotRssKib }) => rounded(slotRssKib)),
    figure('private KiB', ({ slotPrivateKib }) => rounded(slotPrivateKib)),
    figure('right', ({ successRate }) => percentage(successRate)),
  ]);

export const callTable = (rows: readonly CallResult[]): Table =>
  table('Calls at one moment, each to its first answer (ms)', rows, [
    words('way', ({ way }) => way),
    figure('at once', ({ at }) => at),
    figure('rounds', ({ rounds }) => rounds),
    ...times(['mean', 'p50', 'p95', 'max'], ({ eachMs }: CallResult) => eachMs),
    time('wall p50', ({ wallMs }) => wallMs?.p50),
    figure('hits', ({ hitRatio }) => share(hitRatio)),
    figure('right', ({ successRate }) => percentage(successRate)),
  ]);

export function checkoutTable({ eachMs, releaseMs, readyMs, left }: CheckoutResult): Table {
  const remains = Object.entries(left).map(([what, count]) => `${count} ${what}`);
  const steps = [
    { step: 'checkout', statistics: eachMs },
    { step: 'release, until the caller continues', statistics: releaseMs },
    { step: 'release, until the next caller has the slot', statistics: readyMs },
  ];
  const measured = steps.filter(({ statistics }) => statistics !== null);
  type Step = (typeof steps)[number];
  return table(`Taking and releasing a slot (ms); left behind: ${remains.join(', ')}`, measured, [
    words('step', ({ step }) => step),
    figure('n', ({ statistics }) => statistics?.count),
    ...times(['mean', 'p50', 'p95', 'max'], ({ statistics }: Step) => statistics),
  ]);
}

interface PoolResults {
  amortised: readonly TaskResult[];
  crowds: readonly CallResult[];
  hygiene: CheckoutResult | null;
}

export const publishedTable = (run: PoolResults): Table =>
  table('Published by others, beside ours (ms): other machines, other classes of isolation', publishedPools, [
    words('system', ({ system }) => system),
    words('isolation', ({ isolation }) => isolation),
    words('rig', ({ rig }) => rig),
    words('measure', ({ what }) => what),
    time('theirs', (published) => published.ms),
    figure('ours', (published) => ms(oursBeside(run, published))),
    words('theirs is', ({ is }) => is),
  ]);

/** Returns the figure to compare with a published figure. A row with a failure has no figure. */
export function oursBeside({ amortised, crowds, hygiene }: PoolResults, { ours }: PublishedPool): number | undefined {
  if ('uses' in ours) {
    const row = amortised.find(({ way, uses, width }) => way === 'pool' && uses === ours.uses && width === 1);
    return row?.successRate === 1 ? row.amortisedMs : undefined;
  }
  if ('way' in ours) {
    const row = crowds.find(({ way, at, successRate }) => way === ours.way && at === ours.at && successRate === 1);
    return row?.eachMs?.[ours.figure];
  }
  return (ours.checkout === 'take' ? hygiene?.eachMs : hygiene?.releaseMs)?.[ours.figure];
}
