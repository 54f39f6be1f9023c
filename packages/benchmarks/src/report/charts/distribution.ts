// All sequential cold starts of each scenario as a cumulative curve: how many of 100 starts are done by when. Tails that a p50 hides are
// the right ends of these curves.

import { SCENARIOS } from '../../config/knobs.js';
import { ascending } from '../../stats/statistics.js';
import type { ColdstartReport } from '../report.js';
import { rowsOf } from '../select.js';
import { verticalGrid } from './axes.js';
import { logScale } from './scale.js';
import { drawing, el, label, line, scenarioColor, title } from './svg.js';

const WIDTH = 860;
const HEIGHT = 320;
const LEFT = 70;
const RIGHT = 840;
const TOP = 14;
const BOTTOM = 280;
const POINTS = 200;

export function distributionChart({ results }: ColdstartReport): string {
  const curves = SCENARIOS.map((scenario) => ({
    scenario,
    sorted: ascending(rowsOf(results, scenario, 'sequential').flatMap((row) => row.samples.coldMs)),
  })).filter(({ sorted }) => sorted.length > 0);
  if (curves.length === 0) return '';
  const scale = logScale(
    curves.flatMap(({ sorted }) => [sorted[0] ?? 0, sorted.at(-1) ?? 0]),
    LEFT,
    RIGHT,
  );
  const y = (share: number) => BOTTOM - (BOTTOM - TOP) * share;
  const shares = [0, 0.5, 0.95, 1].map(
    (share) =>
      line(LEFT, y(share), RIGHT, y(share), { class: 'grid' }) +
      label(LEFT - 8, y(share) + 4, `${share * 100} %`, { class: 'axis', 'text-anchor': 'end' }),
  );
  const lines = curves.map(({ scenario, sorted }) => {
    const points = Array.from({ length: POINTS + 1 }, (_, step) => {
      const index = Math.round((step / POINTS) * (sorted.length - 1));
      return `${scale.at(sorted[index] ?? 0).toFixed(1)},${y((index + 1) / sorted.length).toFixed(1)}`;
    });
    const name = title(`${scenario}: ${sorted.length} cold starts`);
    return el(
      'g',
      { style: `color:${scenarioColor(scenario)}` },
      name,
      el('polyline', { points: points.join(' '), class: 'series' }),
    );
  });
  return drawing(
    WIDTH,
    HEIGHT,
    'Share of cold starts that were done by a given time',
    verticalGrid(scale, TOP, BOTTOM),
    ...shares,
    ...lines,
  );
}
