// Lists the reasons to doubt a run. Each warning names the row, the floor or the figure that caused
// the warning.

import type { FloorResult } from '../floors/floor.js';
import type { Hardware } from '../machine/hardware.js';
import type { UsageShares } from '../machine/usage.js';
import type { Benchmark } from './benchmark.js';
import { outcomesOf } from './outcomes.js';
import type { Measured } from './run.js';

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

export function machineWarnings(hardware: Hardware, machine: UsageShares | undefined): string[] {
  const warnings: string[] = [];
  const [load = 0] = hardware.loadAverage;
  if (load > hardware.cores / 2) warnings.push(`machine busy at the start: load average ${load} on ${hardware.cores} processors`);
  if (!machine) return warnings;
  if (machine.others > 0.1) warnings.push(`machine busy: other processes used ${percent(machine.others)} of all processor time`);
  if (machine.steal > 0.01) warnings.push(`steal: the hypervisor took ${percent(machine.steal)} of all processor time`);
  return warnings;
}

/** Returns the warnings of the measurements: floors, failed runs, notes of rows, skipped rows. */
export const measurementWarnings = <Run>(
  benchmark: Pick<Benchmark<never, never, Run>, 'sections' | 'warnings' | 'nameSkipped'>,
  run: Measured<Run>,
  resolutionMs: number,
): string[] => [
  ...floorWarnings(run.floors),
  ...outcomesOf(benchmark, run).flatMap(({ name, total, right, failure, notes = [] }) => [
    ...(right < total ? [`${name}: ${total - right} of ${total} failed: ${failure ?? 'unknown'}`] : []),
    ...(right === total && failure !== undefined ? [`${name}: ${failure}`] : []),
    ...notes.map((note) => `${name}: ${note}`),
  ]),
  ...skippedWarnings(benchmark, run),
  ...(benchmark.warnings?.(run, resolutionMs) ?? []),
];

function floorWarnings(floors: Readonly<Record<string, FloorResult>>): string[] {
  const warnings: string[] = [];
  for (const [name, { drift, error }] of Object.entries(floors)) {
    if (error) warnings.push(`floor ${name}: ${error}`);
    if (drift && Math.abs(Math.log(drift)) > Math.log(1.25)) {
      warnings.push(`floor ${name} changed during the run: ${drift.toFixed(2)} × its first half`);
    }
  }
  return warnings;
}

/** Returns one warning for all rows that have one name and were skipped for one reason. */
function skippedWarnings(
  { nameSkipped = ({ row }) => `${row}` }: Pick<Benchmark<never, never, object>, 'nameSkipped'>,
  { skipped }: Pick<Measured<object>, 'skipped'>,
): string[] {
  const counts = new Map<string, number>();
  for (const { reason, ...key } of skipped) {
    const name = key.row ?? nameSkipped(key);
    const warning = `${name} skipped: ${reason}`;
    counts.set(warning, (counts.get(warning) ?? 0) + 1);
  }
  return [...counts].map(([warning, count]) => `${warning} (${count} ${count === 1 ? 'row' : 'rows'})`);
}
