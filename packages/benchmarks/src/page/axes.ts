// Draws the grid lines and labels of a logarithmic axis.

import { ms } from '../suite/text.js';
import type { Scale } from './scale.js';
import { label, line } from './svg.js';

/**
 * Formats a duration in the largest suitable unit: `0.1` becomes `100 µs`, `1500` becomes `1.50 s`.
 */
export function duration(milliseconds: number): string {
  if (milliseconds < 1) return `${Number((milliseconds * 1000).toPrecision(3))} µs`;
  if (milliseconds < 1000) return `${Number(milliseconds.toPrecision(3))} ms`;
  return `${ms(milliseconds / 1000)} s`;
}

export const horizontalGrid = (scale: Scale, left: number, right: number, format: (value: number) => string): string =>
  scale.ticks
    .map((tick) => {
      const y = scale.at(tick);
      const text = scale.isLabelled(tick) ? label(left - 8, y + 4, format(tick), { class: 'axis', 'text-anchor': 'end' }) : '';
      return line(left, y, right, y, { class: scale.isLabelled(tick) ? 'grid' : 'grid faint' }) + text;
    })
    .join('');

export const verticalGrid = (scale: Scale, top: number, bottom: number): string =>
  scale.ticks
    .map((tick) => {
      const x = scale.at(tick);
      const text = scale.isLabelled(tick)
        ? label(x, bottom + 18, duration(tick), { class: 'axis', 'text-anchor': 'middle' })
        : '';
      return line(x, top, x, bottom, { class: scale.isLabelled(tick) ? 'grid' : 'grid faint' }) + text;
    })
    .join('');
