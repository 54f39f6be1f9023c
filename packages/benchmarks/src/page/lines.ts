// Draws lines over named positions, such as batch sizes or megabytes, on a logarithmic axis.
//
// Each value has a dot, and a whisker up to its `high`. A level is a horizontal line across the
// chart, such as a floor or a published figure of another system.

import { horizontalGrid } from './axes.js';
import { bandScale, logScale } from './scale.js';
import { drawing, el, label, line, title } from './svg.js';

export interface Point {
  /** The name of a position on the axis. */
  at: string;
  value: number;
  high?: number;
  /** Text that is shown on hover. */
  text: string;
}

export interface Series {
  color: string;
  dashed?: boolean;
  points: Point[];
}

export interface Level {
  name: string;
  value: number;
  text: string;
}

export interface LineChart {
  caption: string;
  positions: readonly string[];
  series: readonly Series[];
  levels?: readonly Level[];
  /** Formats a value of the axis. */
  format(value: number): string;
}

const WIDTH = 860;
const HEIGHT = 420;
const LEFT = 70;
const RIGHT = 690;
const TOP = 14;
const BOTTOM = 380;
/**
 * The distance by which full and dashed lines are moved apart, so that the two lines are visible at
 * one position.
 */
const SHIFT = 4;

export function drawLines({ caption, positions, series, levels = [], format }: LineChart): string {
  const drawn = series.filter(({ points }) => points.length > 0);
  if (drawn.length === 0) return '';
  const values = drawn.flatMap(({ points }) => points.flatMap(({ value, high = value }) => [value, high]));
  const scale = logScale([...values, ...levels.map(({ value }) => value)], BOTTOM, TOP);
  const band = bandScale(positions.length, LEFT, RIGHT);
  const x = (at: string) => band(positions.indexOf(at));
  const levelLines = levels.map(({ name, value, text }) =>
    el(
      'g',
      { style: 'color:var(--floor)' },
      title(text),
      line(LEFT, scale.at(value), RIGHT, scale.at(value), { class: 'floor' }),
      label(RIGHT + 6, scale.at(value) + 4, name),
    ),
  );
  const names = positions.map((position, index) =>
    label(band(index), BOTTOM + 20, position, { class: 'axis', 'text-anchor': 'middle' }),
  );
  const lines = drawn.map((each) => drawSeries(each, x, scale.at));
  return drawing(WIDTH, HEIGHT, caption, horizontalGrid(scale, LEFT, RIGHT, format), ...names, ...levelLines, ...lines);
}

function drawSeries({ color, dashed = false, points }: Series, x: (at: string) => number, y: (value: number) => number): string {
  const placed = points.map((point) => ({ ...point, px: x(point.at) + (dashed ? SHIFT : -SHIFT) }));
  const marks = placed.map(({ px, value, high = value, text }) =>
    el(
      'g',
      {},
      title(text),
      line(px, y(value), px, y(high), { class: 'whisker' }),
      el('circle', { cx: px, cy: y(value), r: 4, class: dashed ? 'dot open' : 'dot' }),
    ),
  );
  const path = placed.map(({ px, value }) => `${px.toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  return el(
    'g',
    { style: `color:${color}` },
    el('polyline', { points: path, class: dashed ? 'series dashed' : 'series' }),
    ...marks,
  );
}
