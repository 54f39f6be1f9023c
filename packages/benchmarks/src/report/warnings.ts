// Reasons to doubt a run, in words: each names the figure that raised it.

import { SCENARIOS } from '../config/knobs.js';
import type { FloorResult } from '../floors/floor.js';
import type { Hardware } from '../machine/hardware.js';
import type { UsageShares } from '../machine/usage.js';
import type { SkippedRow } from '../matrix/matrix.js';
import { timerDoubt } from '../stats/timer.js';
import { failed, type Measurements } from './report.js';
import { pooled } from './select.js';

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

export function floorWarnings(floors: Readonly<Record<string, FloorResult>>): string[] {
  const warnings: string[] = [];
  for (const [name, { drift, error }] of Object.entries(floors)) {
    if (error) warnings.push(`floor ${name}: ${error}`);
    if (drift && Math.abs(Math.log(drift)) > Math.log(1.25)) {
      warnings.push(`floor ${name} changed during the run: ${drift.toFixed(2)} × its first half`);
    }
  }
  return warnings;
}

export function measurementWarnings(run: Measurements, resolutionMs: number): string[] {
  const warnings = floorWarnings(run.floors);
  for (const scenario of SCENARIOS) {
    const p50 = pooled(run.results, scenario, 'warmMs')?.p50;
    const samples = run.results.filter((row) => row.scenario === scenario).flatMap((row) => row.samples.warmMs);
    const doubt = timerDoubt(samples, resolutionMs);
    if (doubt) warnings.push(`clock too coarse for ${scenario} warm (p50 ${p50} ms, resolution ${resolutionMs} ms): ${doubt}`);
  }
  for (const row of run.results) {
    const { total, right, failures } = row.runs;
    const name = `${row.scenario} ${row.batchSize} ${row.mode}`;
    if (right < total)
      warnings.push(`${name}: ${total - right} of ${total} runs were wrong: ${Object.keys(failures)[0] ?? 'unknown'}`);
    warnings.push(...row.notes.map((note) => `${name}: ${note}`));
  }
  warnings.push(...skippedWarnings(run.skipped));
  const extras = [run.throughput, run.sidecarBinary, ...run.starts, ...run.density].filter((extra) => extra !== undefined);
  warnings.push(...extras.filter((extra) => failed(extra)).map(({ error }) => `not measured: ${error}`));
  if (run.sidecarBinary && !failed(run.sidecarBinary) && !run.sidecarBinary.stripped) {
    warnings.push('the sidecar binary is not stripped: its size is not that of a release');
  }
  return warnings;
}

/** One line for all rows of a scenario that were skipped for the same reason. */
function skippedWarnings(skipped: readonly SkippedRow[]): string[] {
  const rows = new Map<string, number>();
  for (const { scenario, reason } of skipped) {
    const key = `${scenario} skipped: ${reason}`;
    rows.set(key, (rows.get(key) ?? 0) + 1);
  }
  return [...rows].map(([key, count]) => `${key} (${count} ${count === 1 ? 'row' : 'rows'})`);
}
