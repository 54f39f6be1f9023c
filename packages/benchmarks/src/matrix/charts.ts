// Draws the ranges of one call at a time, a chart for each group, and the slowdown by the number of
// calls at once.

import type { Chart } from '../page/document.js';
import { drawLines } from '../page/lines.js';
import { drawRanges, type Range } from '../page/ranges.js';
import { seriesColor } from '../page/svg.js';
import { median } from '../statistics/statistics.js';
import { cellOf, columnName, columnsOf, sidesOf, slowdownOf } from './columns.js';
import { GROUPS } from './operation.js';
import type { MatrixRow } from './row.js';
import { MODE_NAMES, type SideName } from './sides.js';

const ALONE = { width: 1, isBesideNeighbour: false };

const sideColor = (side: SideName): string => (side === 'node' ? 'var(--floor)' : seriesColor(MODE_NAMES.indexOf(side)));

const legendOf = (rows: readonly MatrixRow[]) => sidesOf(rows).map((name) => ({ name, color: sideColor(name) }));

export const matrixCharts = (rows: readonly MatrixRow[]): Chart[] => [
  slowdownChart(rows),
  ...GROUPS.map((group) =>
    rangeChart(
      group,
      rows.filter((row) => row.group === group),
    ),
  ),
];

function rangeChart(group: string, rows: readonly MatrixRow[]): Chart {
  const entries = rows.flatMap((row) =>
    sidesOf([row]).flatMap((side): Range[] => {
      const statistics = cellOf(row, side, ALONE)?.statistics;
      return statistics ? [{ name: `${row.operation}, ${side}`, statistics, color: sideColor(side) }] : [];
    }),
  );
  return {
    heading: `One call at a time: ${group}`,
    note: 'Dot: median; tick: p95; end of the bar: p99. Logarithmic.',
    legend: legendOf(rows),
    drawing: drawRanges(entries, `Median (dot), p95 (tick) and p99 (end of the bar) of ${group}, by side`),
  };
}

function slowdownChart(rows: readonly MatrixRow[]): Chart {
  const columns = columnsOf(rows);
  const series = sidesOf(rows).map((side) => ({
    color: sideColor(side),
    points: columns.flatMap((column) => {
      const ratios = rows.flatMap((row) => slowdownOf(row, side, column) ?? []);
      if (ratios.length === 0) return [];
      const value = median(ratios);
      const at = columnName(column);
      return [{ at, value, text: `${side}, ${at}: ${value.toFixed(2)} × (${ratios.length} operations)` }];
    }),
  }));
  return {
    heading: 'Slowdown of a call',
    note: 'The median over all operations of the time of a call, divided by the time of a call alone. Logarithmic.',
    legend: legendOf(rows),
    drawing: drawLines({
      caption: 'Time of a call divided by the time of a call alone, by the number of calls at once, for each side',
      positions: columns.map(columnName),
      series,
      format: (value) => `${value} ×`,
    }),
  };
}
