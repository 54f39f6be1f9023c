// Where everything stands: one line per scenario (cold, warm) and floor, p50 as a dot, p50 to p99 as a bar, logarithmic.

import { SCENARIOS } from '../../config/knobs.js';
import type { Statistics } from '../../stats/statistics.js';
import type { ColdstartReport } from '../report.js';
import { pooled } from '../select.js';
import { duration, verticalGrid } from './axes.js';
import { bandScale, logScale } from './scale.js';
import { drawing, el, label, line, scenarioColor, title } from './svg.js';

export interface Range {
  name: string;
  statistics: Statistics;
  color: string;
}

const WIDTH = 860;
const LEFT = 230;
const RIGHT = 780;
const ROW = 26;

export const rangeChart = (report: ColdstartReport): string =>
  drawRanges(
    [...scenarioEntries(report), ...floorEntries(report)],
    'Median (dot), p95 (tick) and p99 (end of the bar) of each scenario and floor',
  );

export function drawRanges(entries: readonly Range[], caption: string): string {
  if (entries.length === 0) return '';
  const bottom = 14 + entries.length * ROW;
  const scale = logScale(
    entries.flatMap(({ statistics }) => [statistics.p50, statistics.p99]),
    LEFT,
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
      label(LEFT - 12, at + 4, name, { 'text-anchor': 'end' }),
      line(scale.at(statistics.p50), at, scale.at(statistics.p99), at, { class: 'range' }),
      line(scale.at(statistics.p95), at - 5, scale.at(statistics.p95), at + 5, { class: 'tick' }),
      el('circle', { cx: scale.at(statistics.p50), cy: at, r: 5, fill: 'currentColor' }),
      label(scale.at(statistics.p99) + 10, at + 4, duration(statistics.p50), { class: 'value' }),
    );
  });
  return drawing(WIDTH, bottom + 28, caption, verticalGrid(scale, 14, bottom), ...marks);
}

const scenarioEntries = ({ results }: ColdstartReport): Range[] =>
  (['coldMs', 'warmMs'] as const).flatMap((which) =>
    SCENARIOS.flatMap((scenario) => {
      const statistics = pooled(results, scenario, which);
      const name = `${scenario} ${which === 'coldMs' ? 'cold' : 'warm'}`;
      return statistics ? [{ name, statistics, color: scenarioColor(scenario) }] : [];
    }),
  );

export const floorEntries = ({ floors }: Pick<ColdstartReport, 'floors'>): Range[] =>
  Object.entries(floors).flatMap(([name, { statistics }]) => (statistics ? [{ name, statistics, color: 'var(--floor)' }] : []));
