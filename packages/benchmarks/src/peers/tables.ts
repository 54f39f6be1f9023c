// The tables and charts of the peers.

import type { Chart } from '../page/document.js';
import { drawRanges, type Range } from '../page/ranges.js';
import type { Statistics } from '../statistics/statistics.js';
import { type Table, table, time, times, words } from '../suite/table.js';
import { peers } from './catalogue.js';
import type { PeerResult } from './measure.js';

const KIB_PER_MIB = 1024;

export const peerTables = (results: readonly PeerResult[]): Table[] => [
  table(
    'Peers (ms; MiB of an additional live instance)',
    results.filter(({ error }) => error === undefined),
    [
      words('peer', ({ name }) => name),
      ...times(['cold p50', 'p95'], ({ cold }: PeerResult) => cold),
      ...times(['warm p50', 'p95'], ({ warm }: PeerResult) => warm),
      time('calls p50', ({ computations }) => computations.calls?.p50),
      time('objects p50', ({ computations }) => computations.objects?.p50),
      time('PSS', ({ memory }) => memory && memory.pssKib / KIB_PER_MIB),
      time('RSS', ({ memory }) => memory && memory.rssKib / KIB_PER_MIB),
      words('keeps state', ({ keepsState }) => (keepsState ? 'yes' : 'no')),
      words('isolation', ({ isolation }) => isolation),
    ],
  ),
  table(
    'Peers without figures',
    results.flatMap(({ name, error }) => (error === undefined ? [] : [{ name, error }])),
    [words('peer', ({ name }) => name), words('reason', ({ error }) => error)],
  ),
  table(
    'Packages',
    results.filter((result) => result.package !== null),
    [words('peer', ({ name }) => name), words('package', (result) => result.package ?? '')],
  ),
];

const colorOf = (name: string): string =>
  peers.some((peer) => peer.name === name && peer.isOurs) ? 'var(--series-1)' : 'var(--series-2)';

const LEGEND = [
  { name: 'Coldframe', color: 'var(--series-1)' },
  { name: 'peers', color: 'var(--series-2)' },
];

const NOTE = 'Dot: median; tick: p95; end of the bar: p99. Logarithmic. Compare peers with equal isolation.';

function chartOf(heading: string, results: readonly PeerResult[], pick: (result: PeerResult) => Statistics | null): Chart {
  const entries = results.flatMap((result): Range[] => {
    const statistics = pick(result);
    return statistics ? [{ name: result.name, statistics, color: colorOf(result.name) }] : [];
  });
  const sorted = entries.sort((a, b) => a.statistics.p50 - b.statistics.p50);
  return { heading, note: NOTE, legend: LEGEND, drawing: drawRanges(sorted, `${heading}: median, p95 and p99 of each peer`) };
}

export const peerCharts = (results: readonly PeerResult[]): Chart[] => [
  chartOf('Cold: start, and the first value', results, ({ cold }) => cold),
  chartOf('Warm: a further value of a live instance', results, ({ warm }) => warm),
  chartOf('Computation: calls', results, ({ computations }) => computations.calls),
  chartOf('Computation: objects and text', results, ({ computations }) => computations.objects),
];
