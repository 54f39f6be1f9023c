// Runs one row: opens what its runtimes share, warms up, runs the batches that the row's time allows, closes.
//
// A row has one sidecar for all its batches, as a server would: its start is `sidecarSetupMs`, and the first start on it, which
// finds it cold, is `firstColdMs`. Both are reported and neither is mixed into the rest.

import { readTicks, sharesBetween } from '../machine/usage.js';
import type { ScenarioAdapter, ScenarioHost } from '../scenarios/adapter.js';
import { now } from '../stats/timer.js';
import { type Batch, runBatch } from './batch.js';
import { anotherFits } from './budget.js';
import { withDeadline } from './deadline.js';
import type { RowPlan } from './plan.js';
import type { RowResult } from './result.js';
import { summarizeBatches } from './summary.js';

/** Longer than any healthy sidecar needs to come or go. */
const HANG_MS = 10_000;

export async function runRow(adapter: ScenarioAdapter, plan: RowPlan, budgetMs: number, cores: number): Promise<RowResult> {
  const ticks = readTicks();
  const { setupMs, warm, measured, notes } = await measureRow(adapter, plan, now() + budgetMs);
  const machine = sharesBetween(ticks, readTicks(), cores);
  const firstColdMs = warm[0]?.samples[0]?.coldMs;
  return {
    scenario: plan.scenario,
    batchSize: plan.batchSize,
    mode: plan.mode,
    iterations: measured.length,
    concurrency: plan.concurrency,
    ...(adapter.hasSetup && { sidecarSetupMs: setupMs }),
    ...(firstColdMs !== undefined && { firstColdMs }),
    ...summarizeBatches(measured),
    ...(machine && { machine }),
    notes,
  };
}

async function measureRow(adapter: ScenarioAdapter, plan: RowPlan, deadline: number) {
  const openedAt = now();
  const host = await withDeadline(`opening ${adapter.name}`, HANG_MS, adapter.open());
  const setupMs = now() - openedAt;
  try {
    return { setupMs, ...(await runBatches(adapter, host, plan, deadline)) };
  } finally {
    await withDeadline(`closing ${adapter.name}`, HANG_MS, host.close());
  }
}

async function runBatches(adapter: ScenarioAdapter, host: ScenarioHost, plan: RowPlan, deadline: number) {
  const shape = { size: plan.batchSize, width: plan.concurrency, deadline };
  const warm: Batch[] = [];
  for (let round = 0; round < plan.warmup; round++) warm.push(await runBatch(adapter, host, shape));
  const measured: Batch[] = [];
  do measured.push(await runBatch(adapter, host, shape));
  while (measured.length < plan.iterations && anotherFits(measured, deadline - now()));
  return { warm, measured, notes: shortenings(plan, measured) };
}

function shortenings(plan: RowPlan, measured: readonly Batch[]): string[] {
  const notes: string[] = [];
  if (measured.length < plan.iterations) notes.push(`time budget: ${measured.length} of ${plan.iterations} batches`);
  const missing = measured.reduce((sum, batch) => sum + plan.batchSize - batch.samples.length, 0);
  if (missing > 0) notes.push(`time budget: ${missing} runtimes of ${measured.length} batches were not started`);
  return notes;
}
