// The charts of the density benchmark: memory by the number of live runtimes, creation by quarter,
// and bursts.

import { duration } from '../page/axes.js';
import type { Chart } from '../page/document.js';
import { drawLines, type Point } from '../page/lines.js';
import { seriesColor } from '../page/svg.js';
import { publishedMemory } from '../published/memory.js';
import type { BurstResult } from './bursts.js';
import { KIND_NAMES, KINDS, type KindName } from './kinds.js';
import type { LiveResult } from './live.js';

/** The systems whose published memory for 1,000 live sandboxes is drawn as a horizontal line. */
const LEVELS = ['zeroboot', 'Coppice', 'CubeSandbox (bare metal)'];

const colorOf = (kind: KindName): string => seriesColor(KIND_NAMES.indexOf(kind));

const legend = KIND_NAMES.map((kind) => ({ name: KINDS[kind].what, color: colorOf(kind) }));

const ascendingCounts = (counts: readonly number[]): number[] => [...new Set(counts)].sort((a, b) => a - b);

const kib = (value: number): string =>
  value < 1_000 ? `${Number(value.toPrecision(3))} KiB` : `${Number((value / 1024).toPrecision(3))} MiB`;

export function memoryChart(rows: readonly LiveResult[]): Chart {
  const levels = publishedMemory.filter(({ system, live }) => LEVELS.includes(system) && live === 1_000);
  const pointsOf = (kind: KindName): Point[] =>
    rows
      .filter((row) => row.kind === kind && row.privateKib > 0)
      .map(({ count, privateKib }) => ({
        at: `${count}`,
        value: privateKib,
        text: `${KINDS[kind].what}, ${count}: ${kib(privateKib)}`,
      }));
  return {
    heading: 'Private memory of each, by the number of live runtimes',
    note: 'Private pages and page tables of the sidecar, divided. Grey: published figures of micro-VMs for 1,000.',
    legend,
    drawing: drawLines({
      caption: 'Private memory of each live runtime by their number',
      positions: ascendingCounts(rows.map(({ count }) => count)).map(String),
      series: KIND_NAMES.map((kind) => ({ color: colorOf(kind), points: pointsOf(kind) })),
      levels: levels.map(({ system, kib: value }) => ({
        name: `${system} ${kib(value)}`,
        value,
        text: `${system}: ${kib(value)}`,
      })),
      format: kib,
    }),
  };
}

export function quarterChart(rows: readonly LiveResult[], holds: readonly LiveResult[]): Chart {
  const pointsOf = (kind: KindName, from: readonly LiveResult[]): Point[] => {
    const last = from.filter((row) => row.kind === kind && row.quarters.length === 4).at(-1);
    return (last?.quarters ?? []).map((value, index) => ({
      at: `quarter ${index + 1}`,
      value,
      text: `${KINDS[kind].what}, quarter ${index + 1} of ${last?.count}: ${duration(value)}`,
    }));
  };
  return {
    heading: 'Creation by quarter',
    note: `Median time to the first answer, from the first quarter of the largest count to the last.
Full: 16 at a time; dashed: all at once.`,
    legend,
    drawing: drawLines({
      caption: 'Time to the first answer by quarter of the calls',
      positions: [1, 2, 3, 4].map((quarter) => `quarter ${quarter}`),
      series: KIND_NAMES.flatMap((kind) => [
        { color: colorOf(kind), points: pointsOf(kind, rows) },
        { color: colorOf(kind), dashed: true, points: pointsOf(kind, holds) },
      ]),
      format: duration,
    }),
  };
}

export const burstChart = (bursts: readonly BurstResult[]): Chart => ({
  heading: 'Bursts',
  note: 'N at one moment: time to the first answer of each (p50, whisker to p95).',
  legend,
  drawing: drawLines({
    caption: 'Time to the first answer by the size of a burst',
    positions: ascendingCounts(bursts.flatMap(({ rows }) => rows.map(({ n }) => n))).map(String),
    series: bursts.map(({ kind, rows }) => ({
      color: colorOf(kind),
      points: rows.flatMap(({ n, answerMs }): Point[] =>
        answerMs
          ? [
              {
                at: `${n}`,
                value: answerMs.p50,
                high: answerMs.p95,
                text: `${KINDS[kind].what}, ${n}: ${duration(answerMs.p50)}`,
              },
            ]
          : [],
      ),
    })),
    format: duration,
  }),
});
