// Cold start against batch size: a line per scenario and mode (concurrent dashed), p95 as a whisker, the floors as grey lines.

import { SCENARIOS } from '../../config/knobs.js';
import type { RowResult } from '../../matrix/result.js';
import type { ColdstartReport } from '../report.js';
import { rowsOf } from '../select.js';
import { duration } from './axes.js';
import { drawLines, type Point } from './lines.js';
import { scenarioColor } from './svg.js';

const FLOORS = ['bin_true', 'node_e_pinned'];

export function batchChart(report: ColdstartReport): string {
  const sizes = [...new Set(report.results.map((row) => row.batchSize))].sort((a, b) => a - b);
  return drawLines({
    caption: 'Cold start (p50, whisker to p95) by batch size',
    places: sizes.map(String),
    series: SCENARIOS.flatMap((scenario) =>
      (['sequential', 'concurrent'] as const).map((mode) => ({
        color: scenarioColor(scenario),
        dashed: mode === 'concurrent',
        points: rowsOf(report.results, scenario, mode)
          .sort((a, b) => a.batchSize - b.batchSize)
          .flatMap(pointOf),
      })),
    ),
    levels: FLOORS.flatMap((name) => {
      const p50 = report.floors[name]?.statistics?.p50;
      return p50 === undefined ? [] : [{ name: `${name} ${duration(p50)}`, value: p50, text: `${name}: ${duration(p50)}` }];
    }),
    format: duration,
  });
}

function pointOf({ scenario, mode, batchSize, coldStart }: RowResult): Point[] {
  if (!coldStart) return [];
  const { p50, p95 } = coldStart;
  const text = `${scenario}, ${mode}, batch ${batchSize}: p50 ${duration(p50)}, p95 ${duration(p95)}`;
  return [{ at: `${batchSize}`, value: p50, high: p95, text }];
}
