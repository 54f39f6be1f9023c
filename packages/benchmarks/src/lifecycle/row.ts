// Runs one row of the lifecycle benchmark. A row has a sidecar and a folder of its own, a warm-up
// round, and the counted rounds.
//
// A round that throws has failed for all its runtimes. The state of the sidecar is then unknown, so
// the row continues with a new sidecar. After three such rounds the row ends. Each step has a
// deadline, so a round that hangs throws.

import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type UsageShares, withUsage } from '../machine/usage.js';
import type { OpenSidecar } from '../sandbox/runtime.js';
import { type Statistics, summarize } from '../statistics/statistics.js';
import { now } from '../statistics/timer.js';
import { withDeadline } from '../suite/deadline.js';
import { countRuns, type Runs, reason } from '../suite/failures.js';
import { anotherFits, runRounds } from '../suite/rounds.js';
import { type OpenOperation, type Operation, RowSidecar } from './operation.js';
import type { OperationName } from './operations/index.js';
import { type RowPlan, variantOf } from './plan.js';
import type { Round } from './round.js';

export interface Measure {
  /**
   * From the common start to the end of the last runtime, failures included: one value per round.
   */
  wall: Statistics | null;
  /** Wall time divided by `n`. */
  per: Statistics | null;
  /**
   * The time of each right runtime from the common start, or the time of the single call that
   * creates all runtimes.
   */
  each: Statistics | null;
  /** Raw milliseconds in order. */
  samples: { wallMs: number[]; eachMs: number[] };
}

/** One result in the JSON. */
export interface LifecycleRow {
  operation: OperationName;
  variant: string;
  n: number;
  megabytes: number;
  way?: string;
  rounds: number;
  warmup: number;
  measures: Record<string, Measure>;
  runs: Runs;
  /** Facts about the rounds other than times, such as the number of dirty bytes. */
  facts: Record<string, Statistics>;
  machine?: UsageShares;
  notes: string[];
}

export interface RowConditions {
  open: OpenSidecar;
  operation: Operation;
  /** Folder in which the row makes its folder for snapshots. */
  scratch: string;
  budgetMs: number;
  cores: number;
  /** Wait between two rounds. */
  settleMs: number;
  hangMs?: number;
}

const HANG_MS = 60_000;
const MOST_BROKEN = 3;

export async function runRow(plan: RowPlan, conditions: RowConditions): Promise<LifecycleRow> {
  const deadline = now() + conditions.budgetMs;
  const directory = mkdtempSync(join(conditions.scratch, 'row-'));
  try {
    const { result, usage } = await withUsage(conditions.cores, () => runAllRounds(plan, conditions, directory, deadline));
    return { ...summarizeRounds(plan, result.rounds, result.notes), ...usage };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function runAllRounds(plan: RowPlan, conditions: RowConditions, directory: string, deadline: number) {
  const rounds: Round[] = [];
  const notes: string[] = [];
  for (let broken = 0; broken < MOST_BROKEN; broken++) {
    const problem = await runUntilBroken(plan, conditions, directory, rounds, deadline);
    if (problem === undefined) break;
    notes.push(`a round broke: ${problem}`);
    if (broken === MOST_BROKEN - 1) notes.push(`given up after ${MOST_BROKEN} broken rounds`);
  }
  if (rounds.length < plan.rounds) notes.push(`${rounds.length} of ${plan.rounds} rounds`);
  return { rounds, notes };
}

/**
 * Runs rounds and adds their records to `rounds`. Resolves with the reason why a round threw, or
 * `undefined` at the row's end.
 */
async function runUntilBroken(
  plan: RowPlan,
  { open, operation, settleMs, hangMs = HANG_MS }: RowConditions,
  directory: string,
  rounds: Round[],
  deadline: number,
): Promise<string | undefined> {
  let row: RowSidecar | undefined;
  const walls: { wallMs: number }[] = [];
  try {
    row = await withDeadline('opening a sidecar', hangMs, RowSidecar.open(open, directory));
    const opened: OpenOperation = await withDeadline(`preparing ${plan.operation}`, hangMs, operation.open(row, plan));
    const { warmup } = plan;
    const fits = () => rounds.length === 0 || anotherFits(walls, deadline - now());
    const left = plan.rounds - rounds.length;
    await runRounds(
      { warmup: left > 0 ? warmup : 0, rounds: left },
      async (isWarmup) => {
        await new Promise((resolve) => setTimeout(resolve, settleMs));
        const from = now();
        const round = await withDeadline(`a round of ${plan.operation}`, hangMs, opened.round());
        walls.push({ wallMs: now() - from + settleMs });
        if (!isWarmup) rounds.push(round);
      },
      fits,
    );
    await withDeadline('closing the row', hangMs, opened.close?.() ?? Promise.resolve());
    return undefined;
  } catch (error) {
    rounds.push({ timings: {}, attempts: plan.n, failures: Array.from({ length: plan.n }, () => reason(error)), facts: {} });
    return reason(error);
  } finally {
    await withDeadline('closing the sidecar', hangMs, row?.close() ?? Promise.resolve()).catch(() => {});
  }
}

export function summarizeRounds(plan: RowPlan, rounds: readonly Round[], notes: string[]): LifecycleRow {
  const { operation, n, megabytes, way, warmup } = plan;
  const total = rounds.reduce((sum, { attempts }) => sum + attempts, 0);
  return {
    operation,
    variant: variantOf(plan),
    n,
    megabytes,
    ...(way !== undefined && { way }),
    rounds: rounds.length,
    warmup,
    measures: Object.fromEntries(namesOf(rounds.map(({ timings }) => timings)).map((name) => [name, measureOf(name, rounds, n)])),
    runs: countRuns(
      total,
      rounds.flatMap((round) => round.failures),
    ),
    facts: Object.fromEntries(
      namesOf(rounds.map(({ facts }) => facts)).flatMap((name) => {
        const statistics = summarize(rounds.flatMap(({ facts }) => facts[name] ?? []));
        return statistics ? [[name, statistics] as const] : [];
      }),
    ),
    notes,
  };
}

function measureOf(name: string, rounds: readonly Round[], n: number): Measure {
  const timings = rounds.flatMap((round) => round.timings[name] ?? []);
  const wallMs = timings.map((timing) => timing.wallMs);
  const eachMs = timings.flatMap((timing) => timing.eachMs);
  return {
    wall: summarize(wallMs),
    per: summarize(wallMs.map((value) => value / n)),
    each: summarize(eachMs),
    samples: { wallMs, eachMs },
  };
}

const namesOf = (records: readonly Readonly<Record<string, unknown>>[]): string[] => [...new Set(records.flatMap(Object.keys))];
