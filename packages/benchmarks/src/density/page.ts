// The HTML page of a density run, made from the JSON alone.

import { publishedMemory } from '../peers/published.js';
import { duration } from '../report/charts/axes.js';
import { drawLines, type Point } from '../report/charts/lines.js';
import { paletteColor } from '../report/charts/svg.js';
import { legend, renderDocument, renderTable, section } from '../report/document.js';
import { KINDS, type KindName, WHAT } from './kinds.js';
import type { DensityReport } from './report.js';
import { densityTables } from './tables.js';

const LEVELS = ['zeroboot', 'Coppice', 'CubeSandbox (bare metal)'];

export function renderDensity(report: DensityReport): string {
  const tables = densityTables(report).map(renderTable);
  const names = legend(KINDS.map((kind) => ({ name: WHAT[kind], color: colorOf(kind) })));
  const withNames = (chart: string) => (chart === '' ? '' : names + chart);
  return renderDocument('Coldframe: many live runtimes', report, [
    ...tables.slice(-1),
    section(
      'Private memory of each, by how many live',
      'Private pages and page tables of the sidecar, divided. Grey: what micro-VMs have published for 1,000.',
      withNames(memoryChart(report)),
    ),
    section(
      'Making one more, by quarter',
      'Median time to the first answer, from the first quarter of the largest count to the last; full: 16 at a time, dashed: all at once.',
      withNames(quarterChart(report)),
    ),
    section('Bursts', 'N at one moment: time to the first answer of each (p50, whisker to p95).', withNames(burstChart(report))),
    ...tables.slice(0, -1),
  ]);
}

const colorOf = (kind: KindName): string => paletteColor(KINDS.indexOf(kind));

const kib = (value: number): string =>
  value < 1_000 ? `${Number(value.toPrecision(3))} KiB` : `${Number((value / 1024).toPrecision(3))} MiB`;

function memoryChart({ rows }: DensityReport): string {
  const counts = [...new Set(rows.map(({ count }) => count))].sort((a, b) => a - b);
  const levels = publishedMemory.filter(({ system, live }) => LEVELS.includes(system) && live === 1_000);
  return drawLines({
    caption: 'Private memory of each live runtime by their number',
    places: counts.map(String),
    series: KINDS.map((kind) => ({
      color: colorOf(kind),
      points: rows
        .filter((row) => row.kind === kind && row.privateKib > 0)
        .map(
          (row): Point => ({
            at: `${row.count}`,
            value: row.privateKib,
            text: `${WHAT[kind]}, ${row.count}: ${kib(row.privateKib)}`,
          }),
        ),
    })),
    levels: levels.map(({ system, kib: value }) => ({
      name: `${system} ${kib(value)}`,
      value,
      text: `${system}: ${kib(value)}`,
    })),
    format: kib,
  });
}

function quarterChart({ rows, holds }: DensityReport): string {
  const pointsOf = (kind: KindName, from: DensityReport['rows']): Point[] => {
    const last = from.filter((row) => row.kind === kind && row.quarters.length === 4).at(-1);
    return (last?.quarters ?? []).map((value, index) => ({
      at: `quarter ${index + 1}`,
      value,
      text: `${WHAT[kind]}, quarter ${index + 1} of ${last?.count}: ${duration(value)}`,
    }));
  };
  return drawLines({
    caption: 'Time to the first answer by quarter of the calls',
    places: [1, 2, 3, 4].map((quarter) => `quarter ${quarter}`),
    series: KINDS.flatMap((kind) => [
      { color: colorOf(kind), points: pointsOf(kind, rows) },
      { color: colorOf(kind), dashed: true, points: pointsOf(kind, holds) },
    ]),
    format: duration,
  });
}

function burstChart({ bursts }: DensityReport): string {
  const sizes = [...new Set(bursts.flatMap(({ rows }) => rows.map(({ n }) => n)))].sort((a, b) => a - b);
  return drawLines({
    caption: 'Time to the first answer by the size of a burst',
    places: sizes.map(String),
    series: bursts.map(({ kind, rows }) => ({
      color: colorOf(kind),
      points: rows.flatMap(({ n, answerMs }): Point[] =>
        answerMs
          ? [{ at: `${n}`, value: answerMs.p50, high: answerMs.p95, text: `${WHAT[kind]}, ${n}: ${duration(answerMs.p50)}` }]
          : [],
      ),
    })),
    format: duration,
  });
}
