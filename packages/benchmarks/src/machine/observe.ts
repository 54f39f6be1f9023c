// The head of every report: when, on what, with which clock, and who else used the processors meanwhile.

import { availableParallelism } from 'node:os';
import { now, timerResolution } from '../stats/timer.js';
import { describeHardware, type Hardware } from './hardware.js';
import { readTicks, sharesBetween, type UsageShares } from './usage.js';

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
  const [begun, ticks] = [now(), readTicks()];
  const result = await work(cores);
  const machine = sharesBetween(ticks, readTicks(), cores);
  return {
    head: { startedAt, durationMs: now() - begun, hardware, timer: { resolutionMs }, ...(machine && { machine }) },
    result,
  };
}
