// The charts of the lifecycle benchmark: the range of each operation, the cost by the number of
// runtimes, and the cost by written megabytes. The operations declare the lines.

import { duration } from '../page/axes.js';
import type { Chart } from '../page/document.js';
import { drawLines, type Point, type Series } from '../page/lines.js';
import { drawRanges, floorRanges, type Range } from '../page/ranges.js';
import { seriesColor } from '../page/svg.js';
import { publishedLifecycle } from '../published/lifecycle.js';
import type { Measured } from '../suite/run.js';
import { wallOf } from './figures.js';
import type { ChartLine } from './operation.js';
import { OPERATION_NAMES, type OperationName, operations } from './operations/index.js';
import type { LifecycleRow } from './row.js';

/** The only system that has published whole series. */
const PUBLISHED = 'CubeSandbox (PVM)';
const NOTE = `Dashed: published figures of CubeSandbox (micro-VMs, 16 vCPU).`;

interface Line extends ChartLine {
  operation: OperationName;
}

const linesOf = (pick: 'lines' | 'sizeLines'): Line[] =>
  OPERATION_NAMES.flatMap((operation) => (operations[operation][pick] ?? []).map((line) => ({ operation, ...line })));

const LINES = linesOf('lines');
const SIZE_LINES = linesOf('sizeLines');

const legendOf = (lines: readonly Line[]) => lines.map(({ name }, index) => ({ name, color: seriesColor(index) }));

export function rangesChart({ rows, floors }: Pick<Measured<{ rows: LifecycleRow[] }>, 'rows' | 'floors'>): Chart {
  const entries = LINES.flatMap((line, index): Range[] =>
    [0, 10, 100].flatMap((megabytes) => {
      const statistics = wallOf(rows, { ...line, megabytes });
      const name = `${line.name}${megabytes === 0 ? '' : `, ${megabytes} MB`}`;
      return statistics ? [{ name, statistics, color: seriesColor(index) }] : [];
    }),
  );
  return {
    heading: 'Range of each operation',
    note: 'One at a time. Dot: median; tick: p95; end of the bar: p99. Logarithmic.',
    drawing: drawRanges(
      [...entries, ...floorRanges(floors)],
      'Median (dot), p95 (tick) and p99 (end of the bar) of each operation and floor',
    ),
  };
}

export function countChart(rows: readonly LifecycleRow[]): Chart {
  const counts = [...new Set(rows.map(({ n }) => n))].sort((a, b) => a - b);
  const ours = (line: Line): Point[] =>
    counts.flatMap((n) => {
      const wall = wallOf(rows, { ...line, n });
      return wall ? [pointOf(`${n}`, wall.p50 / n, wall.p95 / n, `${line.name}, ${n}`)] : [];
    });
  const theirs = (line: Line): Point[] =>
    publishedFor(line, 0)
      .filter(({ n }) => counts.includes(n))
      .map(({ n, ms }) => pointOf(`${n}`, ms / n, undefined, `${PUBLISHED}: ${line.name}, ${n}`));
  return {
    heading: 'Cost of each, by their number',
    note: `Wall time divided by n. ${NOTE}`,
    legend: legendOf(LINES),
    drawing: drawLines({
      caption: 'Wall time divided by n (p50, whisker to p95)',
      positions: counts.map(String),
      series: seriesOf(LINES, ours, theirs),
      format: duration,
    }),
  };
}

export function sizeChart(rows: readonly LifecycleRow[]): Chart {
  const own = rows.filter(({ operation, n, way }) => operation === 'snapshot' && n === 1 && way === undefined);
  const sizes = own.map(({ megabytes }) => megabytes).sort((a, b) => a - b);
  const ours = (line: Line): Point[] =>
    sizes.flatMap((megabytes) => {
      const wall = wallOf(rows, { ...line, megabytes });
      return wall ? [pointOf(`${megabytes} MB`, wall.p50, wall.p95, `${line.name}, ${megabytes} MB`)] : [];
    });
  const theirs = (line: Line): Point[] =>
    sizes.flatMap((megabytes) =>
      publishedFor(line, megabytes)
        .filter(({ n }) => n === 1)
        .map(({ ms }) => pointOf(`${megabytes} MB`, ms, undefined, `${PUBLISHED}: ${line.name}, ${megabytes} MB`)),
    );
  return {
    heading: "Cost by the guest's writing",
    note: `A snapshot, and a runtime from it to the first answer of the live runner in it. ${NOTE}`,
    legend: legendOf(SIZE_LINES),
    drawing: drawLines({
      caption: 'By megabytes written (p50, whisker to p95)',
      positions: sizes.map((size) => `${size} MB`),
      series: seriesOf(SIZE_LINES, ours, theirs),
      format: duration,
    }),
  };
}

const seriesOf = (lines: readonly Line[], ours: (line: Line) => Point[], theirs: (line: Line) => Point[]): Series[] =>
  lines.flatMap((line, index) => [
    { color: seriesColor(index), points: ours(line) },
    { color: seriesColor(index), dashed: true, points: theirs(line) },
  ]);

const pointOf = (at: string, value: number, high: number | undefined, what: string): Point => ({
  at,
  value,
  ...(high !== undefined && { high }),
  text: `${what}: ${duration(value)}`,
});

/**
 * Returns the published figures of a line. The time to a reply is compared with a published
 * creation or resume.
 */
function publishedFor({ operation, measure }: Line, megabytes: number) {
  const theirs = measure === 'answer' ? (operation === 'pause' ? 'resume' : 'create') : measure;
  return publishedLifecycle.filter(
    (each) =>
      each.system === PUBLISHED && each.operation === operation && each.measure === theirs && each.megabytes === megabytes,
  );
}
