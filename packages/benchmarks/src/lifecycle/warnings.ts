// Reasons to doubt a lifecycle run, in words.

import { failed } from '../report/report.js';
import { floorWarnings } from '../report/warnings.js';
import type { LifecycleMeasurements } from './report.js';

export function lifecycleWarnings({ floors, rows, skipped, soak }: LifecycleMeasurements): string[] {
  const warnings = floorWarnings(floors);
  for (const { operation, variant, n, runs, notes } of rows) {
    const name = `${operation}, ${variant}, ${n}`;
    const wrong = runs.total - runs.right;
    if (wrong > 0) warnings.push(`${name}: ${wrong} of ${runs.total} failed: ${Object.keys(runs.failures)[0] ?? 'unknown'}`);
    warnings.push(...notes.map((note) => `${name}: ${note}`));
  }
  for (const { operation, variant, n, reason } of skipped) warnings.push(`${operation}, ${variant}, ${n} skipped: ${reason}`);
  if (soak && failed(soak)) warnings.push(`not measured: ${soak.error}`);
  else if (soak && soak.right < soak.cycles) {
    warnings.push(`soak: ${soak.cycles - soak.right} of ${soak.cycles} cycles failed: ${soak.failures[0] ?? 'unknown'}`);
  }
  return warnings;
}
