// Cold start against batch size: a line per scenario and mode (concurrent dashed), p95 as a whisker, the floors as grey lines.

import { SCENARIOS } from '../../config/knobs.js';
import type { RowResult } from '../../matrix/result.js';
import type { ColdstartReport } from '../report.js';
import { rowsOf } from '../select.js';
import { duration, horizontalGrid } from './axes.js';
import { bandScale, logScale } from './scale.js';
import { drawing, el, label, line, scenarioColor, title } from './svg.js';

const WIDTH = 860;
const HEIGHT = 420;
const LEFT = 70;
const RIGHT = 690;
const TOP = 14;
const BOTTOM = 380;
const FLOORS = ['bin_true', 'node_e_pinned'];

export function batchChart(report: ColdstartReport): string {
  const rows = report.results.filter((row) => row.coldStart);
  if (rows.length === 0) return '';
  const sizes = [...new Set(rows.map((row) => row.batchSize))].sort((a, b) => a - b);
  const floors = FLOORS.flatMap((name) =>
    report.floors[name]?.statistics ? [{ name, p50: report.floors[name].statistics.p50 }] : [],
  );
  const values = [...rows.flatMap((row) => [row.coldStart?.p50 ?? 0, row.coldStart?.p95 ?? 0]), ...floors.map(({ p50 }) => p50)];
  const scale = logScale(values, BOTTOM, TOP);
  const band = bandScale(sizes.length, LEFT, RIGHT);
  const x = (row: RowResult) => band(sizes.indexOf(row.batchSize));
  const floorLines = floors.map(({ name, p50 }) =>
    el(
      'g',
      { style: 'color:var(--floor)' },
      title(`${name}: ${duration(p50)}`),
      line(LEFT, scale.at(p50), RIGHT, scale.at(p50), { class: 'floor' }),
      label(RIGHT + 6, scale.at(p50) + 4, `${name} ${duration(p50)}`),
    ),
  );
  const series = SCENARIOS.flatMap((scenario) =>
    (['sequential', 'concurrent'] as const).map((mode) => drawSeries(rowsOf(rows, scenario, mode), x, scale.at)),
  );
  const sizeLabels = sizes.map((size, index) =>
    label(band(index), BOTTOM + 20, `${size}`, { class: 'axis', 'text-anchor': 'middle' }),
  );
  const caption = 'Cold start (p50, whisker to p95) by batch size';
  const grid = horizontalGrid(scale, LEFT, RIGHT);
  return drawing(WIDTH, HEIGHT, caption, grid, ...sizeLabels, ...floorLines, ...series);
}

function drawSeries(unsorted: readonly RowResult[], x: (row: RowResult) => number, y: (value: number) => number): string {
  const rows = unsorted.filter((row) => row.coldStart).sort((a, b) => a.batchSize - b.batchSize);
  const last = rows.at(-1);
  if (!last) return '';
  const shift = last.mode === 'sequential' ? -4 : 4;
  const points = rows.map((row) => ({ row, px: x(row) + shift, p50: row.coldStart?.p50 ?? 0, p95: row.coldStart?.p95 ?? 0 }));
  const marks = points.map(({ row, px, p50, p95 }) =>
    el(
      'g',
      {},
      title(`${row.scenario}, ${row.mode}, batch ${row.batchSize}: p50 ${duration(p50)}, p95 ${duration(p95)}`),
      line(px, y(p50), px, y(p95), { class: 'whisker' }),
      el('circle', { cx: px, cy: y(p50), r: 4, class: row.mode === 'sequential' ? 'dot' : 'dot open' }),
    ),
  );
  const path = points.map(({ px, p50 }) => `${px.toFixed(1)},${y(p50).toFixed(1)}`).join(' ');
  const lines = el('polyline', { points: path, class: last.mode === 'sequential' ? 'series' : 'series dashed' });
  return el('g', { style: `color:${scenarioColor(last.scenario)}` }, lines, ...marks);
}
