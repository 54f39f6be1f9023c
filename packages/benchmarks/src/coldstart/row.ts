// Runs one row of the matrix: opens the shared sidecar, warms up, runs the batches that the row's
// time allows, and summarizes the batches.
//
// A row has one sidecar for all its batches, as a server would. The start of the sidecar is
// `sidecarSetupMs`, and the first warm-up start on the fresh sidecar is `firstColdMs`. The two
// times are reported, and no other figure contains these times.

import { type UsageShares, withUsage } from '../machine/usage.js';
import { type Statistics, summarize } from '../statistics/statistics.js';
import { now } from '../statistics/timer.js';
import { withDeadline } from '../suite/deadline.js';
import { countRuns, type Runs } from '../suite/failures.js';
import { anotherFits, runRounds } from '../suite/rounds.js';
import { type Batch, runBatch } from './batch.js';
import type { Mode, RowPlan } from './plan.js';
import type { Scenario } from './scenario.js';
import type { ScenarioName } from './scenarios.js';

/**
 * One result in the JSON: the fields of the published matrix, and facts that show how reliable the
 * figures are.
 */
export interface RowResult {
  scenario: ScenarioName;
  batchSize: number;
  mode: Mode;
  /** Counted batches. */
  iterations: number;
  /** Runtimes alive at once. */
  concurrency: number;
  sidecarSetupMs?: number;
  firstColdMs?: number;
  /** `null` when no run was right. */
  coldStart: Statistics | null;
  warmStart: Statistics | null;
  /** Wall time of a batch divided by its size: one value per batch. */
  amortised: Statistics | null;
  phases: Record<string, Statistics>;
  /** Phases of the second snippet. */
  warmPhases: Record<string, Statistics>;
  runs: Runs;
  /** Raw milliseconds in order of completion. */
  samples: { coldMs: number[]; warmMs: number[]; batchWallMs: number[] };
  machine?: UsageShares;
  notes: string[];
}

/** Milliseconds after which the start or the end of a sidecar counts as hung. */
const HANG_MS = 10_000;

/** Each runtime makes two runs. A runtime that could not be started has failed both runs. */
const RUNS_PER_RUNTIME = 2;

export async function runRow(scenario: Scenario, plan: RowPlan, budgetMs: number, cores: number): Promise<RowResult> {
  const deadline = now() + budgetMs;
  const { result, usage } = await withUsage(cores, () => measureRow(scenario, plan, deadline));
  const { setupMs, warmups, batches } = result;
  const firstColdMs = warmups[0]?.samples[0]?.coldMs;
  return {
    scenario: plan.scenario,
    batchSize: plan.batchSize,
    mode: plan.mode,
    iterations: batches.length,
    concurrency: plan.concurrency,
    ...(scenario.hasSetup && { sidecarSetupMs: setupMs }),
    ...(firstColdMs !== undefined && { firstColdMs }),
    ...summarizeBatches(batches),
    ...usage,
    notes: shortenings(plan, batches),
  };
}

async function measureRow(scenario: Scenario, plan: RowPlan, deadline: number) {
  const openedAt = now();
  const provisioner = await withDeadline(`opening ${plan.scenario}`, HANG_MS, scenario.open());
  const setupMs = now() - openedAt;
  try {
    const shape = { size: plan.batchSize, width: plan.concurrency, deadline };
    const [warmups, batches]: [Batch[], Batch[]] = [[], []];
    await runRounds(
      { warmup: plan.warmup, rounds: plan.iterations },
      async (isWarmup) => void (isWarmup ? warmups : batches).push(await runBatch(scenario, provisioner, shape)),
      () => batches.length === 0 || anotherFits(batches, deadline - now()),
    );
    return { setupMs, warmups, batches };
  } finally {
    await withDeadline(`closing ${plan.scenario}`, HANG_MS, provisioner.close());
  }
}

function shortenings(plan: RowPlan, batches: readonly Batch[]): string[] {
  const notes: string[] = [];
  if (batches.length < plan.iterations) notes.push(`time budget: ${batches.length} of ${plan.iterations} batches`);
  const missing = batches.reduce((sum, batch) => sum + plan.batchSize - batch.samples.length, 0);
  if (missing > 0) notes.push(`time budget: ${missing} runtimes of ${batches.length} batches were not started`);
  return notes;
}

function summarizeBatches(batches: readonly Batch[]) {
  const samples = batches.flatMap((batch) => batch.samples);
  const coldMs = samples.flatMap((sample) => sample.coldMs ?? []);
  const warmMs = samples.flatMap((sample) => sample.warmMs ?? []);
  const amortised = batches.filter((batch) => batch.samples.length > 0).map((batch) => batch.wallMs / batch.samples.length);
  return {
    coldStart: summarize(coldMs),
    warmStart: summarize(warmMs),
    amortised: summarize(amortised),
    phases: phaseStatistics(samples.flatMap(({ coldMs: right, coldPhases }) => (right === undefined ? [] : [coldPhases]))),
    warmPhases: phaseStatistics(samples.flatMap(({ warmMs: right, warmPhases }) => (right === undefined ? [] : [warmPhases]))),
    runs: countRuns(
      samples.length * RUNS_PER_RUNTIME,
      samples.flatMap((sample) => sample.failures),
      coldMs.length + warmMs.length,
    ),
    samples: { coldMs, warmMs, batchWallMs: batches.map((batch) => batch.wallMs) },
  };
}

function phaseStatistics(maps: readonly Map<string, number>[]): Record<string, Statistics> {
  const byPhase = new Map<string, number[]>();
  for (const phases of maps) {
    for (const [phase, durationMs] of phases) {
      const durations = byPhase.get(phase);
      if (durations) durations.push(durationMs);
      else byPhase.set(phase, [durationMs]);
    }
  }
  return Object.fromEntries(
    [...byPhase].flatMap(([phase, values]) => {
      const statistics = summarize(values);
      return statistics ? [[phase, statistics] as const] : [];
    }),
  );
}
