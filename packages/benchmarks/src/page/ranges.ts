// Draws one line per entry on a logarithmic axis. A dot is the median, a tick is p95, and a bar
// reaches from the median to p99.

import type { Floors } from '../floors/floor.js';
import type { Statistics } from '../statistics/statistics.js';
import { duration, verticalGrid } from './axes.js';
import { bandScale, logScale } from './scale.js';
import { drawing, el, label, line, title } from './svg.js';

export interface Range {
  name: string;
  statistics: Statistics;
  color: string;
}

const WIDTH = 860;
/** The least space for the names, and the space for one character of the longest name. */
const LEFT = 230;
const CHARACTER = 7;
const RIGHT = 780;
const ROW = 26;

export function drawRanges(entries: readonly Range[], caption: string): string {
  if (entries.length === 0) return '';
  const bottom = 14 + entries.length * ROW;
  const left = Math.max(LEFT, 24 + CHARACTER * Math.max(...entries.map(({ name }) => name.length)));
  const scale = logScale(
    entries.flatMap(({ statistics }) => [statistics.p50, statistics.p99]),
    left,
    RIGHT,
  );
  const y = bandScale(entries.length, 14, bottom);
  const marks = entries.map(({ name, statistics, color }, index) => {
    const at = y(index);
    const text = `${name}: p50 ${duration(statistics.p50)}, p95 ${duration(statistics.p95)}, p99 ${duration(statistics.p99)}`;
    return el(
      'g',
      { style: `color:${color}` },
      title(text),
      label(left - 12, at + 4, name, { 'text-anchor': 'end' }),
      line(scale.at(statistics.p50), at, scale.at(statistics.p99), at, { class: 'range' }),
      line(scale.at(statistics.p95), at - 5, scale.at(statistics.p95), at + 5, { class: 'tick' }),
      el('circle', { cx: scale.at(statistics.p50), cy: at, r: 5, fill: 'currentColor' }),
      label(scale.at(statistics.p99) + 10, at + 4, duration(statistics.p50), { class: 'value' }),
    );
  });
  return drawing(WIDTH, bottom + 28, caption, verticalGrid(scale, 14, bottom), ...marks);
}

/** Returns an entry for each floor. */
export const floorRanges = (floors: Floors): Range[] =>
  Object.entries(floors).flatMap(([name, { statistics }]) => (statistics ? [{ name, statistics, color: 'var(--floor)' }] : []));
