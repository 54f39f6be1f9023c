// The drawings of the lifecycle page: where each operation stands, what one costs when there are more of them, and what the guest's writing adds.

import { publishedLifecycle } from '../peers/published.js';
import { duration } from '../report/charts/axes.js';
import { drawLines, type Point, type Series } from '../report/charts/lines.js';
import { drawRanges, floorEntries, type Range } from '../report/charts/ranges.js';
import { paletteColor } from '../report/charts/svg.js';
import type { OperationName } from './plan.js';
import type { LifecycleReport } from './report.js';
import { type Which, wallOf } from './select.js';

const CUBE = 'CubeSandbox (PVM)';

interface Line extends Which {
  name: string;
}

const LINES: readonly Line[] = [
  { name: 'snapshot', operation: 'snapshot', measure: 'snapshot' },
  { name: 'create, answered', operation: 'create', measure: 'answer' },
  { name: 'rollback', operation: 'rollback', measure: 'rollback' },
  { name: 'clone', operation: 'clone', measure: 'clone' },
  { name: 'pause', operation: 'pause', measure: 'pause' },
  { name: 'resume, answered', operation: 'pause', measure: 'answer' },
  { name: 'spawn, answered', operation: 'spawn', measure: 'total', way: 'clone' },
];

const SIZES: readonly Line[] = [
  { name: 'snapshot', operation: 'snapshot', measure: 'snapshot' },
  { name: 'create, answered', operation: 'snapshot', measure: 'answer' },
];

export const lifecycleLegend = LINES.map(({ name }, index) => ({ name, color: paletteColor(index) }));
export const sizeLegend = SIZES.map(({ name }, index) => ({ name, color: paletteColor(index) }));

export function rangesChart(report: LifecycleReport): string {
  const entries = LINES.flatMap((line, index): Range[] =>
    [0, 10, 100].flatMap((megabytes) => {
      const statistics = wallOf(report.rows, { ...line, megabytes });
      const name = `${line.name}${megabytes === 0 ? '' : `, ${megabytes} MB`}`;
      return statistics ? [{ name, statistics, color: paletteColor(index) }] : [];
    }),
  );
  return drawRanges(
    [...entries, ...floorEntries(report)],
    'Median (dot), p95 (tick) and p99 (end of the bar) of each operation and floor',
  );
}

/** Wall time divided by how many there are. */
export function countChart({ rows }: LifecycleReport): string {
  const counts = [...new Set(rows.map(({ n }) => n))].sort((a, b) => a - b);
  const series = LINES.flatMap((line, index): Series[] => {
    const points = counts.flatMap((n) => {
      const wall = wallOf(rows, { ...line, n });
      return wall ? [pointOf(`${n}`, wall.p50 / n, wall.p95 / n, `${line.name}, ${n}`)] : [];
    });
    const theirs = published(line, 0).map(({ n, ms }) => pointOf(`${n}`, ms / n, undefined, `${CUBE}: ${line.name}, ${n}`));
    return [
      { color: paletteColor(index), points },
      { color: paletteColor(index), dashed: true, points: theirs.filter(({ at }) => counts.includes(Number(at))) },
    ];
  });
  return drawLines({
    caption: 'Wall time divided by n (p50, whisker to p95)',
    places: counts.map(String),
    series,
    format: duration,
  });
}

export function sizeChart({ rows }: LifecycleReport): string {
  const own = rows.filter(({ operation, n, way }) => operation === 'snapshot' && n === 1 && way === undefined);
  const sizes = own.map(({ megabytes }) => megabytes).sort((a, b) => a - b);
  const series = SIZES.flatMap((line, index): Series[] => {
    const points = sizes.flatMap((megabytes) => {
      const wall = wallOf(rows, { ...line, megabytes });
      return wall ? [pointOf(`${megabytes} MB`, wall.p50, wall.p95, `${line.name}, ${megabytes} MB`)] : [];
    });
    const theirs = sizes.flatMap((megabytes) =>
      published(line, megabytes)
        .filter(({ n }) => n === 1)
        .map(({ ms }) => pointOf(`${megabytes} MB`, ms, undefined, `${CUBE}: ${line.name}, ${megabytes} MB`)),
    );
    return [
      { color: paletteColor(index), points },
      { color: paletteColor(index), dashed: true, points: theirs },
    ];
  });
  return drawLines({
    caption: 'By megabytes written (p50, whisker to p95)',
    places: sizes.map((size) => `${size} MB`),
    series,
    format: duration,
  });
}

const pointOf = (at: string, value: number, high: number | undefined, what: string): Point => ({
  at,
  value,
  ...(high !== undefined && { high }),
  text: `${what}: ${duration(value)}`,
});

/** The one peer that has published whole series. */
function published({ operation, measure }: { operation: OperationName; measure: string }, megabytes: number) {
  const theirs = measure === 'answer' ? (operation === 'pause' ? 'resume' : 'create') : measure;
  return publishedLifecycle.filter(
    (each) => each.system === CUBE && each.operation === operation && each.measure === theirs && each.megabytes === megabytes,
  );
}
