// Draws all sequential cold starts of each scenario as a cumulative curve: the share of starts that
// took at most a given time. The right ends of the curves are the tails that a p50 hides.

import { verticalGrid } from '../page/axes.js';
import type { Chart } from '../page/document.js';
import { logScale } from '../page/scale.js';
import { drawing, el, label, line, title } from '../page/svg.js';
import { ascending } from '../statistics/statistics.js';
import { scenarioColor, scenarioLegend } from './charts.js';
import { rowsOf } from './figures.js';
import type { RowResult } from './row.js';
import { SCENARIO_NAMES } from './scenarios.js';

const WIDTH = 860;
const HEIGHT = 320;
const LEFT = 70;
const RIGHT = 840;
const TOP = 14;
const BOTTOM = 280;
const POINTS = 200;

export const distributionChart = (results: readonly RowResult[]): Chart => ({
  heading: 'Distribution of cold starts',
  note: 'Share of the sequential starts that took at most a given time.',
  legend: scenarioLegend,
  drawing: draw(results),
});

function draw(results: readonly RowResult[]): string {
  const curves = SCENARIO_NAMES.map((scenario) => ({
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
    'Share of cold starts that took at most a given time',
    verticalGrid(scale, TOP, BOTTOM),
    ...shares,
    ...lines,
  );
}
