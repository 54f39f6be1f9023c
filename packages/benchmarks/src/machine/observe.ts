// Records the circumstances of a run: the time, the machine, the clock, and the processor time that
// other processes used during the run. The record is the first part of every report.

import { availableParallelism } from 'node:os';
import { now, timerResolution } from '../statistics/timer.js';
import { describeHardware, type Hardware } from './hardware.js';
import { type UsageShares, withUsage } from './usage.js';

export interface Observed {
  startedAt: string;
  durationMs: number;
  hardware: Hardware;
  timer: { resolutionMs: number };
  machine?: UsageShares;
}

export async function observe<T>(work: (cores: number) => Promise<T>): Promise<{ head: Observed; result: T }> {
  const hardware = describeHardware();
  const cores = availableParallelism();
  const resolutionMs = timerResolution();
  const startedAt = new Date().toISOString();
  const begun = now();
  const { result, usage } = await withUsage(cores, () => work(cores));
  return { head: { startedAt, durationMs: now() - begun, hardware, timer: { resolutionMs }, ...usage }, result };
}
