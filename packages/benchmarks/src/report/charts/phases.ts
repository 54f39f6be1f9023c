// What a cold start is made of: for each scenario, the medians of its phases side by side, as shares of their sum.
//
// Only phases that do not contain each other are drawn: those of the provisioning, and inside the first snippet those that the
// sidecar times itself; what is left of the cold start's median is transport, scheduling and the SDK, drawn as "rest".

import { SCENARIOS } from '../../config/knobs.js';
import type { ColdstartReport } from '../report.js';
import { largest } from '../select.js';
import { duration } from './axes.js';
import { drawing, el, label, scenarioColor, title } from './svg.js';

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

export function phaseChart({ results }: ColdstartReport): string {
  const rows = SCENARIOS.flatMap((scenario) => largest(results, scenario, 'sequential') ?? []).filter((row) => row.coldStart);
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
