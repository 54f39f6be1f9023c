// Draws the parts of a cold start: for each scenario, the medians of its phases as shares of the
// median of the cold start.
//
// The chart shows only phases that do not overlap: the phases of the provisioning, and the phases
// of the first snippet that the sidecar measures. The remainder of the cold start's median is
// transport, scheduling and the SDK, and is drawn as `rest`.

import { duration } from '../page/axes.js';
import type { Chart } from '../page/document.js';
import { drawing, el, label, title } from '../page/svg.js';
import { scenarioColor } from './charts.js';
import { largest } from './figures.js';
import type { RowResult } from './row.js';
import { SCENARIO_NAMES } from './scenarios.js';

const DISJOINT = [
  'sidecar_spawn',
  'session_open',
  'vm_create',
  'vm_configure',
  'memory_map',
  'instantiate',
  'guest_start',
  'guest_run',
];

const WIDTH = 860;
const LEFT = 150;
const RIGHT = 760;
const ROW = 40;

export const phaseChart = (results: readonly RowResult[]): Chart => ({
  heading: 'Parts of a cold start',
  note: 'Medians of the phases in the largest sequential batch.',
  drawing: draw(results),
});

function draw(results: readonly RowResult[]): string {
  const rows = SCENARIO_NAMES.flatMap((scenario) => largest(results, scenario, 'sequential') ?? []).filter(
    (row) => row.coldStart,
  );
  if (rows.length === 0) return '';
  const bars = rows.map((row, index) => {
    const cold = row.coldStart?.p50 ?? 0;
    const known = DISJOINT.map((name) => ({ name, value: row.phases[name]?.p50 ?? 0 })).filter(({ value }) => value > 0);
    const sum = known.reduce((total, { value }) => total + value, 0);
    const parts = [...known, { name: 'rest', value: Math.max(0, cold - sum) }];
    const total = Math.max(cold, sum);
    let x = LEFT;
    const top = 8 + index * ROW;
    const boxes = parts.map(({ name, value }, part) => {
      const width = ((RIGHT - LEFT) * value) / total;
      const box = el('rect', {
        x,
        y: top,
        width,
        height: ROW - 14,
        fill: 'currentColor',
        'fill-opacity': 0.6 - 0.5 * (part / parts.length),
      });
      const text = width > name.length * 7.2 ? label(x + 5, top + 17, name, { class: 'inbox' }) : '';
      x += width;
      return el('g', { class: 'part' }, title(`${row.scenario} ${name}: ${duration(value)}`), box, text);
    });
    const ends = [
      label(LEFT - 12, top + 17, row.scenario, { 'text-anchor': 'end' }),
      label(RIGHT + 10, top + 17, duration(cold), { class: 'value' }),
    ];
    return el('g', { style: `color:${scenarioColor(row.scenario)}` }, ...ends, ...boxes);
  });
  return drawing(WIDTH, 12 + rows.length * ROW, 'Phases of a cold start, as shares of its median', ...bars);
}
