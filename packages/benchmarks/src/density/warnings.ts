// Reasons to doubt a density run, in words.

import { floorWarnings } from '../report/warnings.js';
import type { DensityMeasurements } from './report.js';
import type { LiveResult } from './result.js';

export function densityWarnings({ floors, rows, holds, bursts, skipped }: DensityMeasurements): string[] {
  const crowd = (name: string) => (row: LiveResult) => {
    const wrong = row.count - row.outcomes.success;
    const why = Object.keys(row.failures)[0] ?? 'unknown';
    return wrong === 0 ? [] : [`${row.kind}, ${row.count}${name}: ${wrong} of ${row.count} failed: ${why}`];
  };
  return [
    ...floorWarnings(floors),
    ...rows.flatMap(crowd('')),
    ...holds.flatMap(crowd(' at once')),
    ...bursts.flatMap(({ kind, rows: sizes }) =>
      sizes.flatMap(({ n, successRate, failures }) =>
        successRate < 1 || failures.length > 0 ? [`${kind}, bursts of ${n}: ${failures[0] ?? 'unknown'}`] : [],
      ),
    ),
    ...skipped.map(({ kind, count, reason }) => `${kind}, ${count} skipped: ${reason}`),
  ];
}
