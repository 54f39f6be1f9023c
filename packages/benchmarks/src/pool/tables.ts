// The run's tables as rows of text.

import { ms, percentage } from '../report/format.js';
import { floorTable, type Table, targetTable } from '../report/tables.js';
import { type PublishedPool, publishedPools } from './published.js';
import type { PoolMeasurements, PoolReport } from './report.js';

/** Those that have rows; the targets are the last. */
export const poolTables = (report: PoolReport): Table[] =>
  [taskTable, crowdTable, hygieneTable, peerTable, floorTable, targetTable]
    .map((table) => table(report))
    .filter(({ rows }) => rows.length > 0);

const ratio = (value: number | undefined): string => (value === undefined ? '–' : percentage(value));
const whole = (value: number | undefined): string => (value === undefined ? '–' : `${Math.round(value)}`);

const taskTable = ({ amortised }: PoolReport): Table => ({
  title: 'A task: amortised is the wall time of everything, pool made and ended, divided by the tasks (ms)',
  head: [
    'way',
    'K',
    'at a time',
    'tasks',
    'amortised',
    'waited p50',
    'p95',
    'p99',
    'max',
    'hits',
    'made',
    'rollbacks',
    'slot RSS KiB',
    'private KiB',
    'right',
  ],
  rows: amortised.map((row) => [
    row.way,
    row.uses === undefined ? '–' : `${row.uses}`,
    `${row.width}`,
    `${row.total}`,
    ...[row.amortisedMs, row.eachMs?.p50, row.eachMs?.p95, row.eachMs?.p99, row.eachMs?.max].map(ms),
    ratio(row.hitRatio),
    ...[row.created, row.recycled, row.slotRssKib, row.slotPrivateKib].map(whole),
    percentage(row.successRate),
  ]),
  textColumns: [0],
});

const crowdTable = ({ crowds }: PoolReport): Table => ({
  title: 'Calls at one moment, each to its first answer (ms)',
  head: ['way', 'at once', 'rounds', 'mean', 'p50', 'p95', 'max', 'wall p50', 'hits', 'right'],
  rows: crowds.map(({ way, at, rounds, eachMs, wallMs, hitRatio, successRate }) => [
    way,
    `${at}`,
    `${rounds}`,
    ...[eachMs?.mean, eachMs?.p50, eachMs?.p95, eachMs?.max, wallMs?.p50].map(ms),
    ratio(hitRatio),
    percentage(successRate),
  ]),
  textColumns: [0],
});

function hygieneTable({ hygiene }: PoolReport): Table {
  const { left } = hygiene ?? {};
  const facts = left && Object.entries(left).map(([what, count]) => `${count} ${what}`);
  const timed = {
    checkout: hygiene?.eachMs,
    'release, until the caller goes on': hygiene?.releaseMs,
    'release, until the next one has it': hygiene?.readyMs,
  };
  return {
    title: `Taking a slot and giving it back (ms)${facts ? `; left behind: ${facts.join(', ')}` : ''}`,
    head: ['step', 'n', 'mean', 'p50', 'p95', 'max'],
    rows: Object.entries(timed).flatMap(([what, statistics]) =>
      statistics
        ? [[what, `${statistics.count}`, ...[statistics.mean, statistics.p50, statistics.p95, statistics.max].map(ms)]]
        : [],
    ),
    textColumns: [0],
  };
}

const peerTable = (report: PoolReport): Table => ({
  title: 'Published by others, beside ours (ms): other machines, other classes of isolation',
  head: ['system', 'isolation', 'rig', 'what', 'theirs', 'ours', 'what theirs is'],
  rows: publishedPools.map((peer) => [
    peer.system,
    peer.isolation,
    peer.rig,
    peer.what,
    ms(peer.ms),
    ms(oursOf(report, peer)),
    peer.is,
  ]),
  textColumns: [0, 1, 2, 3, 6],
});

/** Ours that stands beside a published figure. */
export function oursOf(
  { amortised, crowds, hygiene }: Omit<PoolMeasurements, 'floors'>,
  { ours }: PublishedPool,
): number | undefined {
  if ('uses' in ours) {
    const row = amortised.find(({ way, uses, width }) => way === 'pool' && uses === ours.uses && width === 1);
    return row?.successRate === 1 ? row.amortisedMs : undefined;
  }
  if ('way' in ours) {
    return crowds.find(({ way, at, successRate }) => way === ours.way && at === ours.at && successRate === 1)?.eachMs?.[
      ours.figure
    ];
  }
  return (ours.hygiene === 'checkout' ? hygiene?.eachMs : hygiene?.releaseMs)?.[ours.figure];
}
