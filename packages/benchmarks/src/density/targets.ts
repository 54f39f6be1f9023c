// The promises of density, each with the figure of this run; the numbers are those of `docs/specification.md`. A count at which one failed has no figure: a
// thousand of ten thousand are not dense.

import { judge, type TargetResult, target } from '../report/judge.js';
import type { KindName } from './kinds.js';
import type { DensityMeasurements } from './report.js';

export function judgeDensity({ rows, holds, bursts }: DensityMeasurements): TargetResult[] {
  const kib = (kind: KindName, count: number) =>
    rows.find((row) => row.kind === kind && row.count === count && row.successRate === 1)?.privateKib;
  const rates = [
    ...[...rows, ...holds].map(({ successRate }) => successRate),
    ...bursts.flatMap((burst) => burst.rows.map(({ successRate }) => successRate)),
  ];
  const worst = rates.length === 0 ? undefined : 100 * Math.min(...rates);
  const drafts = [
    target('D1', 'private memory each, 1,000 live, idle after one exec', 300, 'KiB', kib('idle', 1_000)),
    target('D2', 'private memory each, 10,000 live, idle after one exec', 300, 'KiB', kib('idle', 10_000)),
    target('D3', 'private memory each, 1,000 live resident runners', 300, 'KiB', kib('runner', 1_000)),
    target('D4', 'private memory each, 10,000 live resident runners', 300, 'KiB', kib('runner', 10_000)),
    target('D5', 'private memory each, 1,000 copies of a warm runner', 300, 'KiB', kib('clone', 1_000)),
    target('D6', 'private memory each, 10,000 copies of a warm runner', 300, 'KiB', kib('clone', 10_000)),
    { ...target('D7', 'made, and right when asked again, the worst row', 100, '%', worst), atLeast: true },
  ];
  return drafts.map(judge);
}
