// The promises of density, each with the figure of this run; the numbers are those of `docs/specification.md`. A count at which one failed has no figure: a
// thousand of ten thousand are not dense.
//
// Copies of a warm runner have no bound of memory: what they cost is what their program writes. So many of them meet the system's own limit first
// (`vm.max_map_count`): those are refused by name, and all that were made have to answer.

import { judge, type TargetResult, target } from '../report/judge.js';
import type { KindName } from './kinds.js';
import type { DensityMeasurements } from './report.js';
import type { LiveResult } from './result.js';

export function judgeDensity({ rows, holds, bursts }: DensityMeasurements): TargetResult[] {
  const kib = (kind: KindName, count: number) =>
    rows.find((row) => row.kind === kind && row.count === count && row.successRate === 1)?.privateKib;
  const crowds = [...rows, ...holds];
  const fresh = crowds.filter(({ kind }) => kind !== 'clone').map(({ successRate }) => successRate);
  const copies = crowds.filter(({ kind }) => kind === 'clone').map(ofThoseMade);
  const bursting = bursts.flatMap((burst) => burst.rows.map(({ successRate }) => successRate));
  const drafts = [
    target('D1', 'private memory each, 1,000 live, idle after one exec', 300, 'KiB', kib('idle', 1_000)),
    target('D2', 'private memory each, 10,000 live, idle after one exec', 300, 'KiB', kib('idle', 10_000)),
    target('D3', 'private memory each, 1,000 live resident runners', 300, 'KiB', kib('runner', 1_000)),
    target('D4', 'private memory each, 10,000 live resident runners', 300, 'KiB', kib('runner', 10_000)),
    { ...target('D5', 'made, and right when asked again, the worst row of both', 100, '%', worst(fresh)), atLeast: true },
    { ...target('D6', 'copies that were made, right when asked again', 100, '%', worst(copies)), atLeast: true },
    { ...target('D7', 'right in bursts of 4 to 64', 100, '%', worst(bursting)), atLeast: true },
  ];
  return drafts.map(judge);
}

const worst = (rates: readonly number[]): number | undefined => (rates.length === 0 ? undefined : 100 * Math.min(...rates));

/** Whether nothing is wrong but that the system's limit was reached, and said so. */
export const isRefusedByName = ({ outcomes: { partial, readinessFailed, refused }, failures }: LiveResult): boolean =>
  partial + readinessFailed === 0 &&
  refused === Object.entries(failures).reduce((sum, [why, count]) => (why.startsWith(EXHAUSTED) ? sum + count : sum), 0);

const EXHAUSTED = 'ERR_RESOURCE_EXHAUSTED';

const ofThoseMade = (row: LiveResult): number => (isRefusedByName(row) && row.outcomes.success > 0 ? 1 : row.successRate);
