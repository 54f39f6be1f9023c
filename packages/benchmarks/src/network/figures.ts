// The tables and charts of the network benchmark.

import type { Chart } from '../page/document.js';
import { drawRanges } from '../page/ranges.js';
import { seriesColor } from '../page/svg.js';
import { publishedNetwork } from '../published/network.js';
import { summarize } from '../statistics/statistics.js';
import { figure, type Table, table, times, words } from '../suite/table.js';
import { ms } from '../suite/text.js';
import type { IdleResult } from './idle.js';
import { inMilliseconds, type NetworkResult } from './row.js';

export const resultTable = (all: readonly NetworkResult[]): Table =>
  table('The sandbox and the floors', all, [
    words('row', ({ name }) => name),
    words('unit', ({ unit }) => unit),
    words('floor', ({ floorName, floor }) => (floor ? floorName : '')),
    ...times(['floor p50', 'p99'], ({ floor }: NetworkResult) => floor),
    ...times(['sandbox p50', 'p95', 'p99'], ({ sandbox }: NetworkResult) => sandbox),
    figure('ratio', ({ ratio }) => ratio?.toFixed(2)),
    figure('target', ({ bound }) => bound),
    words('failure', ({ error }) => error ?? ''),
  ]);

export const idleTable = (all: readonly IdleResult[]): Table =>
  table('Idle connections out of runtimes', all, [
    words('row', ({ name }) => name),
    figure('connections', ({ connections }) => connections),
    figure('replied', ({ replied }) => replied),
    figure('KiB each, sidecar', ({ sidecarKib }) => sidecarKib.toFixed(2)),
    figure('KiB each, edge', ({ edgeKib }) => edgeKib.toFixed(2)),
    figure('last 1,000 / first 1,000', ({ lastToFirst }) => lastToFirst.toFixed(2)),
  ]);

const besideOf = (all: readonly NetworkResult[], row: string | undefined): NetworkResult | undefined =>
  all.find(({ name }) => name === row);

export const publishedTable = (all: readonly NetworkResult[]): Table =>
  table('Published by others, beside ours: other machines, other classes of isolation', publishedNetwork, [
    words('system', ({ system }) => system),
    words('isolation', ({ isolation }) => isolation),
    words('rig', ({ rig }) => rig),
    words('measure', ({ what }) => what),
    figure('theirs', ({ theirs }) => theirs),
    figure('ours p50', ({ row }) => {
      const ours = besideOf(all, row);
      return ours?.sandbox ? `${ms(ours.sandbox.p50)} ${ours.unit}` : undefined;
    }),
    words('theirs is', ({ is }) => is),
    words('source', ({ source }) => source),
  ]);

/** Draws the published times, each followed by the row of the run that measures the operation. */
export const publishedChart = (all: readonly NetworkResult[]): Chart => ({
  heading: 'Published figures of other systems, beside the rows of this run',
  note: 'Grey: published by others, on other machines, with other classes of isolation. Dot: median; end of the bar: p99.',
  legend: [
    { name: 'published, other machine', color: PUBLISHED },
    { name: 'this run', color: OURS },
  ],
  drawing: drawRanges(
    publishedNetwork.flatMap(({ system, what, ms: time, row }) => {
      const theirs = time === undefined ? null : summarize([time]);
      const result = besideOf(all, row);
      const ours = result ? inMilliseconds(result.unit, result.sandbox) : null;
      return [
        ...(theirs ? [{ name: `${system}: ${what}`, statistics: theirs, color: PUBLISHED }] : []),
        ...(ours ? [{ name: `this run: ${row}`, statistics: ours, color: OURS }] : []),
      ];
    }),
    'Published times of network operations, and the medians and p99 of this run',
  ),
});

const OURS = seriesColor(0);
const PUBLISHED = 'var(--dim)';
