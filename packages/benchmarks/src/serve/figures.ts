// The tables and the chart of the server benchmark.

import type { Chart } from '../page/document.js';
import { drawRanges } from '../page/ranges.js';
import { seriesColor } from '../page/svg.js';
import { summarize } from '../statistics/statistics.js';
import { figure, type Table, table, times, words } from '../suite/table.js';
import { ms } from '../suite/text.js';
import type { LiveServeResult } from './live.js';
import { publishedServe } from './published.js';
import type { RateResult } from './rates.js';
import type { TimeResult } from './row.js';

export const timeTable = (all: readonly TimeResult[]): Table =>
  table('Single calls over HTTP, and the floors, in milliseconds', all, [
    words('row', ({ name }) => name),
    words('floor', ({ floorName }) => floorName),
    ...times(['floor p50', 'p99'], ({ floor }: TimeResult) => floor),
    ...times(['server p50', 'p95', 'p99'], ({ server }: TimeResult) => server),
    figure('ratio', ({ ratio }) => ratio?.toFixed(2)),
    figure('target', ({ bound }) => bound),
    words('failure', ({ error }) => error ?? ''),
  ]);

export const rateTable = (all: readonly RateResult[]): Table =>
  table('Calls at once, times in milliseconds', all, [
    words('row', ({ name }) => name),
    figure('in flight', ({ width }) => width),
    figure('right', ({ right, total }) => `${right} of ${total}`),
    figure('per second', ({ perSecond }) => perSecond.toFixed(0)),
    ...times(['mean', 'p50', 'p95', 'p99'], ({ times: statistics }: RateResult) => statistics),
    words('failure', ({ failure }) => failure ?? ''),
  ]);

export const liveTable = (all: readonly LiveServeResult[]): Table =>
  table('Sandboxes that live at once, times in milliseconds', all, [
    figure('sandboxes', ({ count }) => count),
    figure('live', ({ live }) => live),
    figure('answered', ({ answered }) => answered),
    figure('KiB each', ({ kibEach }) => kibEach.toFixed(0)),
    ...times(['create p50', 'p99'], ({ createMs }: LiveServeResult) => createMs),
    ...times(['command p50', 'p99'], ({ commandMs }: LiveServeResult) => commandMs),
    words('failure', ({ failure }) => failure ?? ''),
  ]);

export const publishedTable = (all: readonly RateResult[]): Table =>
  table('Published by others, beside ours: other machines, other classes of isolation', publishedServe, [
    words('system', ({ system }) => system),
    words('isolation', ({ isolation }) => isolation),
    words('rig', ({ rig }) => rig),
    words('measure', ({ what }) => what),
    figure('theirs, ms', ({ ms: time }) => time),
    words('theirs is', ({ is }) => is),
    figure('ours mean, ms', ({ row }) => ms(all.find(({ name }) => name === row)?.times?.mean)),
    figure('ours p95, ms', ({ row }) => ms(all.find(({ name }) => name === row)?.times?.p95)),
  ]);

export const publishedChart = (all: readonly RateResult[]): Chart => ({
  heading: 'Published times of other systems, beside the rows of this run',
  note: 'Grey: published by others, on other machines, with other classes of isolation. Dot: median; end of the bar: p99.',
  legend: [
    { name: 'published, other machine', color: PUBLISHED },
    { name: 'this run', color: OURS },
  ],
  drawing: drawRanges(
    publishedServe.flatMap(({ system, what, ms: time, row }) => {
      const theirs = summarize([time]);
      const ours = all.find(({ name }) => name === row)?.times ?? null;
      return [
        ...(theirs ? [{ name: `${system}: ${what}`, statistics: theirs, color: PUBLISHED }] : []),
        ...(ours ? [{ name: `this run: ${row}`, statistics: ours, color: OURS }] : []),
      ];
    }),
    'Published times of creations over HTTP, and the medians and p99 of this run',
  ),
});

const OURS = seriesColor(0);
const PUBLISHED = 'var(--dim)';
