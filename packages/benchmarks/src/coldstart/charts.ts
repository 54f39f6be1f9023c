// Draws the range of each scenario, and the cold start by batch size.

import { duration } from '../page/axes.js';
import type { Chart } from '../page/document.js';
import { drawLines, type Point } from '../page/lines.js';
import { drawRanges, floorRanges, type Range } from '../page/ranges.js';
import { seriesColor } from '../page/svg.js';
import type { Measured } from '../suite/run.js';
import { type MatrixRun, pooled, rowsOf } from './figures.js';
import type { RowResult } from './row.js';
import { SCENARIO_NAMES, type ScenarioName } from './scenarios.js';

export const scenarioColor = (scenario: ScenarioName): string => seriesColor(SCENARIO_NAMES.indexOf(scenario));

export const scenarioLegend = SCENARIO_NAMES.map((name) => ({ name, color: scenarioColor(name) }));

export function rangeChart({ results, floors }: Measured<MatrixRun>): Chart {
  const entries = (['coldMs', 'warmMs'] as const).flatMap((samples) =>
    SCENARIO_NAMES.flatMap((scenario): Range[] => {
      const statistics = pooled(results, scenario, samples);
      const name = `${scenario} ${samples === 'coldMs' ? 'cold' : 'warm'}`;
      return statistics ? [{ name, statistics, color: scenarioColor(scenario) }] : [];
    }),
  );
  return {
    heading: 'Range of each scenario',
    note: 'Dot: median; tick: p95; end of the bar: p99. Logarithmic. All sequential samples.',
    drawing: drawRanges(
      [...entries, ...floorRanges(floors)],
      'Median (dot), p95 (tick) and p99 (end of the bar) of each scenario and floor',
    ),
  };
}

const LEVELS = ['bin_true', 'node_e_pinned'];

export function batchChart({ results, floors }: Measured<MatrixRun>): Chart {
  const sizes = [...new Set(results.map((row) => row.batchSize))].sort((a, b) => a - b);
  return {
    heading: 'Cold start by batch size',
    note: 'Full line: sequential; dashed: concurrent; whisker: p95. Logarithmic.',
    legend: scenarioLegend,
    drawing: drawLines({
      caption: 'Cold start (p50, whisker to p95) by batch size',
      positions: sizes.map(String),
      series: SCENARIO_NAMES.flatMap((scenario) =>
        (['sequential', 'concurrent'] as const).map((mode) => ({
          color: scenarioColor(scenario),
          dashed: mode === 'concurrent',
          points: rowsOf(results, scenario, mode)
            .sort((a, b) => a.batchSize - b.batchSize)
            .flatMap(pointOf),
        })),
      ),
      levels: LEVELS.flatMap((name) => {
        const p50 = floors[name]?.statistics?.p50;
        return p50 === undefined ? [] : [{ name: `${name} ${duration(p50)}`, value: p50, text: `${name}: ${duration(p50)}` }];
      }),
      format: duration,
    }),
  };
}

function pointOf({ scenario, mode, batchSize, coldStart }: RowResult): Point[] {
  if (!coldStart) return [];
  const { p50, p95 } = coldStart;
  const text = `${scenario}, ${mode}, batch ${batchSize}: p50 ${duration(p50)}, p95 ${duration(p95)}`;
  return [{ at: `${batchSize}`, value: p50, high: p95, text }];
}
