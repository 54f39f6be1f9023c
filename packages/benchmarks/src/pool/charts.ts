// The charts of the pool benchmark: the cost of a task by the uses of a slot, and concurrent calls.

import { duration } from '../page/axes.js';
import type { Chart } from '../page/document.js';
import { drawLines, type Point } from '../page/lines.js';
import { seriesColor } from '../page/svg.js';
import { publishedPools } from '../published/pool.js';
import { CALL_WAYS, type CallResult, type CallWay } from './calls.js';
import { POOLED_WAYS, type TaskResult } from './tasks.js';

const legendOf = (names: readonly string[]) => names.map((name, index) => ({ name, color: seriesColor(index) }));

export function taskChart(rows: readonly TaskResult[]): Chart {
  const alone = rows.filter(({ width }) => width === 1);
  const pointOf = ({ way, uses, amortisedMs }: TaskResult): Point => ({
    at: `${uses}`,
    value: amortisedMs,
    text: `${way}, K = ${uses}: ${duration(amortisedMs)}`,
  });
  return {
    heading: 'Cost of a task, by the uses of a slot',
    note: 'One at a time, amortised. Grey: the same task without a pool.',
    legend: legendOf(POOLED_WAYS),
    drawing: drawLines({
      caption: 'Amortised time of a task by the uses of a slot',
      positions: [...new Set(alone.flatMap(({ uses }) => uses ?? []))].map(String),
      series: POOLED_WAYS.map((way, index) => ({
        color: seriesColor(index),
        points: alone.filter((row) => row.way === way).map(pointOf),
      })),
      levels: alone
        .filter(({ uses }) => uses === undefined)
        .map(({ way, amortisedMs }) => ({
          name: `${way} ${duration(amortisedMs)}`,
          value: amortisedMs,
          text: `${way}: ${duration(amortisedMs)}`,
        })),
      format: duration,
    }),
  };
}

export function callChart(rows: readonly CallResult[]): Chart {
  const published = publishedPools.find(({ what }) => what === 'prewarmed pool, 1 at once');
  const pointsOf = (way: CallWay): Point[] =>
    rows
      .filter((row) => row.way === way)
      .flatMap(({ at, eachMs }) =>
        eachMs ? [{ at: `${at}`, value: eachMs.p50, high: eachMs.p95, text: `${way}, ${at}: ${duration(eachMs.p50)}` }] : [],
      );
  return {
    heading: 'Calls at one moment',
    note: 'From the call to the first answer (p50, whisker to p95). Grey: the published figure of a prewarmed pool of micro-VMs.',
    legend: legendOf(CALL_WAYS),
    drawing: drawLines({
      caption: 'Time to the first answer by the number of calls at one moment',
      positions: [...new Set(rows.map(({ at }) => at))].map(String),
      series: CALL_WAYS.map((way, index) => ({ color: seriesColor(index), points: pointsOf(way) })),
      levels: published
        ? [
            {
              name: `${published.system} ${duration(published.ms)}`,
              value: published.ms,
              text: `${published.what}: ${duration(published.ms)}`,
            },
          ]
        : [],
      format: duration,
    }),
  };
}
