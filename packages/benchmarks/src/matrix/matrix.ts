// Runs all rows of the plan within the budget. A row that cannot be opened, or for which no time is left, is listed as skipped with
// its reason and the others go on: one broken mode must not hide the figures of the rest.

import type { ScenarioName } from '../config/knobs.js';
import type { ScenarioAdapter } from '../scenarios/adapter.js';
import type { Budget } from './budget.js';
import type { RowPlan } from './plan.js';
import type { RowResult } from './result.js';
import { runRow } from './row.js';

export interface SkippedRow {
  scenario: ScenarioName;
  batchSize: number;
  mode: string;
  reason: string;
}

export interface MatrixEvents {
  rowStarts(row: RowPlan, index: number, etaMs: number): void;
  rowEnds(row: RowPlan, result: RowResult | SkippedRow): void;
}

export interface MatrixResult {
  results: RowResult[];
  skipped: SkippedRow[];
}

export async function runMatrix(
  rows: readonly RowPlan[],
  adapters: Readonly<Record<ScenarioName, ScenarioAdapter>>,
  budget: Budget,
  cores: number,
  events: MatrixEvents,
): Promise<MatrixResult> {
  const done: MatrixResult = { results: [], skipped: [] };
  for (const [index, row] of rows.entries()) {
    const left = rows.slice(index);
    events.rowStarts(row, index, Math.min(budget.guessMs(left), budget.leftMs));
    const result = await runOrSkip(row, adapters[row.scenario], budget, left, cores);
    if ('reason' in result) done.skipped.push(result);
    else done.results.push(result);
    events.rowEnds(row, result);
  }
  return done;
}

async function runOrSkip(
  row: RowPlan,
  adapter: ScenarioAdapter,
  budget: Budget,
  left: readonly RowPlan[],
  cores: number,
): Promise<RowResult | SkippedRow> {
  const { scenario, batchSize, mode } = row;
  if (budget.leftMs === 0) return { scenario, batchSize, mode, reason: 'no time left (BENCH_BUDGET_SECONDS)' };
  try {
    return await runRow(adapter, row, budget.shareOfFirst(left), cores);
  } catch (error) {
    return { scenario, batchSize, mode, reason: String(error) };
  }
}
