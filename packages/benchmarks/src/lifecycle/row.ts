// Runs one row: a sidecar and a folder of its own, warm-up, rounds, and the end of all of it.
//
// A round that throws has failed in all its places; it may have left anything behind, so the row goes on with a new sidecar. After three of those
// it is given up. Nothing waits for ever: a round that hangs is one that throws.

import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readTicks, sharesBetween } from '../machine/usage.js';
import { anotherFits } from '../matrix/budget.js';
import { withDeadline } from '../matrix/deadline.js';
import { now } from '../stats/timer.js';
import { type OpenHost, reason } from './box.js';
import { type Opened, type Operation, Place } from './operation.js';
import type { RowPlan } from './plan.js';
import type { LifecycleRow } from './result.js';
import type { Round } from './round.js';
import { summarizeRounds } from './summary.js';

export interface RowSetting {
  open: OpenHost;
  operation: Operation;
  /** Where folders for snapshots may be made. */
  scratch: string;
  budgetMs: number;
  cores: number;
  /** Between two rounds. */
  settleMs: number;
  hangMs?: number;
}

const HANG_MS = 60_000;
const MOST_BROKEN = 3;

export async function runRow(plan: RowPlan, setting: RowSetting): Promise<LifecycleRow> {
  const ticks = readTicks();
  const rounds: Round[] = [];
  const notes: string[] = [];
  const deadline = now() + setting.budgetMs;
  const directory = mkdtempSync(join(setting.scratch, 'row-'));
  try {
    let broken = 0;
    for (let done = false; !done && broken < MOST_BROKEN; ) {
      const problem = await runUntilBroken(plan, setting, directory, rounds, deadline);
      done = problem === undefined;
      if (done) break;
      broken++;
      notes.push(`a round broke: ${problem}`);
    }
    if (broken === MOST_BROKEN) notes.push(`given up after ${MOST_BROKEN} broken rounds`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  if (rounds.length < plan.rounds) notes.push(`${rounds.length} of ${plan.rounds} rounds`);
  const machine = sharesBetween(ticks, readTicks(), setting.cores);
  return { ...summarizeRounds(plan, rounds, notes), ...(machine && { machine }) };
}

/** Adds to `rounds`; resolves with what broke, or with nothing at the row's end. */
async function runUntilBroken(
  plan: RowPlan,
  { open, operation, settleMs, hangMs = HANG_MS }: RowSetting,
  directory: string,
  rounds: Round[],
  deadline: number,
): Promise<string | undefined> {
  let place: Place | undefined;
  let opened: Opened | undefined;
  const walls: { wallMs: number }[] = [];
  try {
    place = await withDeadline('opening a sidecar', hangMs, Place.open(open, directory));
    opened = await withDeadline(`preparing ${plan.operation}`, hangMs, operation(place, plan));
    for (let index = -plan.warmup; index < plan.rounds; index++) {
      if (rounds.length === plan.rounds || (walls.length > 0 && rounds.length > 0 && !anotherFits(walls, deadline - now())))
        break;
      await new Promise((resolve) => setTimeout(resolve, settleMs));
      const from = now();
      const round = await withDeadline(`a round of ${plan.operation}`, hangMs, opened.round());
      walls.push({ wallMs: now() - from + settleMs });
      if (index >= 0) rounds.push(round);
    }
    await withDeadline('closing the row', hangMs, opened.close?.() ?? Promise.resolve());
    return undefined;
  } catch (error) {
    rounds.push({ timings: {}, attempts: plan.n, failures: Array.from({ length: plan.n }, () => reason(error)), facts: {} });
    return reason(error);
  } finally {
    await withDeadline('closing the sidecar', hangMs, place?.close() ?? Promise.resolve()).catch(() => {});
  }
}
