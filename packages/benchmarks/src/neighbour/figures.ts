// The tables and charts of the neighbour benchmark.

import type { Chart } from '../page/document.js';
import { drawRanges } from '../page/ranges.js';
import { seriesColor } from '../page/svg.js';
import { figure, type Table, table, time, times, words } from '../suite/table.js';
import { percentage } from '../suite/text.js';
import type { CallResult } from './calls/search.js';
import type { PressureResult } from './pressure.js';

/** The bounds of the p99 of the neighbour's calls, in milliseconds. */
export const EXEC_MS = 20;
export const PING_MS = 5;
/** The bound of one call of a guest, in milliseconds. */
export const CALL_MS = 5;

const verdictOf = ({ exec, ping }: PressureResult): string => {
  const over = [...(exec && exec.p99 <= EXEC_MS ? [] : ['exec']), ...(ping && ping.p99 <= PING_MS ? [] : ['ping'])];
  return over.length === 0 ? 'within' : `over: ${over.join(', ')}`;
};

const worstFirst = <Item>(items: readonly Item[], value: (item: Item) => number | undefined): Item[] =>
  [...items].sort((a, b) => (value(b) ?? Number.POSITIVE_INFINITY) - (value(a) ?? Number.POSITIVE_INFINITY));

export const pressureTable = (rows: readonly PressureResult[]): Table =>
  table(
    `A neighbour's calls under each hostile program (ms); bounds: exec p99 ${EXEC_MS}, ping p99 ${PING_MS}`,
    worstFirst(rows, ({ exec }) => exec?.p99),
    [
      words('program', ({ name }) => name),
      figure('copies', ({ copies }) => copies),
      ...times(['exec p50', 'p99', 'max'], ({ exec }: PressureResult) => exec),
      ...times(['ping p50', 'p99', 'max'], ({ ping }: PressureResult) => ping),
      time('dispose', ({ disposeMs }) => disposeMs),
      figure('restarts', ({ restarts }) => restarts),
      figure('right', ({ runs }) => percentage(runs.successRate)),
      words('verdict', verdictOf),
    ],
  );

export const pressureChart = (rows: readonly PressureResult[]): Chart => ({
  heading: "A neighbour's calls under each hostile program",
  note: 'Dot: median; tick: p95; end of the bar: p99. Logarithmic. The worst program is first.',
  legend: [
    { name: 'exec', color: seriesColor(0) },
    { name: 'ping', color: seriesColor(1) },
  ],
  drawing: drawRanges(
    worstFirst(rows, ({ exec }) => exec?.p99).flatMap(({ name, exec, ping }) => [
      ...(exec ? [{ name: `${name}, exec`, statistics: exec, color: seriesColor(0) }] : []),
      ...(ping ? [{ name: `${name}, ping`, statistics: ping, color: seriesColor(1) }] : []),
    ]),
    'Median (dot), p95 (tick) and p99 (end of the bar) of the calls of a neighbour, by hostile program',
  ),
});

export const callTable = (rows: readonly CallResult[]): Table =>
  table(
    `The slowest single calls that a random search found (ms); bound ${CALL_MS}`,
    worstFirst(rows, ({ worstMs }) => worstMs),
    [
      words('call', ({ name }) => name),
      figure('tries', ({ tries }) => tries),
      time('worst', ({ worstMs }) => worstMs),
      words('parameters', ({ parameters }) => JSON.stringify(parameters)),
      words('verdict', ({ worstMs }) => (worstMs <= CALL_MS ? 'within' : 'over')),
    ],
  );
