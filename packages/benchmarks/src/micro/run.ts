// Runs groups of micro-benchmarks with tinybench and sums up their samples with our own statistics.

import { Bench } from 'tinybench';
import { type Statistics, summarize } from '../stats/statistics.js';
import { now } from '../stats/timer.js';
import type { MicroGroup, MicroTask } from './task.js';

export interface MicroResult {
  name: string;
  what: string;
  /** Milliseconds per operation; `null` when a sample failed. */
  statistics: Statistics | null;
  error?: string;
}

export interface MicroShape {
  timeMs: number;
  warmupMs: number;
}

export async function runGroup(open: () => Promise<MicroGroup>, { timeMs, warmupMs }: MicroShape): Promise<MicroResult[]> {
  const group = await open();
  try {
    const results: MicroResult[] = [];
    for (const task of group.tasks) results.push(await runTask(task, { timeMs, warmupMs }));
    return results;
  } finally {
    await group.close();
  }
}

async function runTask({ name, what, sample, operations }: MicroTask, { timeMs, warmupMs }: MicroShape): Promise<MicroResult> {
  const bench = new Bench({ time: timeMs, warmupTime: warmupMs, retainSamples: true });
  bench.add(name, async () => {
    const begunAt = now();
    const elapsed = await sample();
    // The sample is one operation; the time budget goes by all that was spent, preparation included.
    return { overriddenDuration: elapsed / operations, overriddenIterationCost: now() - begunAt };
  });
  const [task] = await bench.run();
  const result = task?.result;
  if (result?.state === 'completed') return { name, what, statistics: summarize(result.latency.samples ?? []) };
  return {
    name,
    what,
    statistics: null,
    error: result?.state === 'errored' ? String(result.error) : `tinybench: ${result?.state}`,
  };
}
