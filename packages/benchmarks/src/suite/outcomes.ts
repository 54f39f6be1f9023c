// Collects the numbers of right runs from all results, for the warnings and the exit code. A
// benchmark is complete if every row has a result and every run was right.

import type { AnySection, Benchmark, Outcome } from './benchmark.js';
import { isFailure, type Measured } from './run.js';

/**
 * Calls `visit` with each result of a run, in the order of the sections. Joins the returned lists.
 */
export function flatMapResults<Run, Item>(
  { sections }: Pick<Benchmark<never, never, Run>, 'sections'>,
  run: Run,
  visit: (section: AnySection<never, Run>, result: unknown) => readonly Item[],
): Item[] {
  // If sections share a field, their methods for its results are equal, so any of these sections is
  // used.
  const byField = new Map(sections.map((section) => [section.field, section]));
  return [...byField.values()].flatMap((section) => {
    const value: unknown = run[section.field];
    const results: readonly unknown[] = Array.isArray(value) ? value : value ? [value] : [];
    return results.flatMap((result) => visit(section, result));
  });
}

/**
 * Returns the outcomes of all results. The outcome of a failed row has no runs, and makes the
 * benchmark incomplete.
 */
export const outcomesOf = <Run>(benchmark: Pick<Benchmark<never, never, Run>, 'sections'>, run: Measured<Run>): Outcome[] =>
  flatMapResults(benchmark, run, (section, result): readonly Outcome[] =>
    section.recordsFailures && isFailure(result)
      ? [{ name: 'not measured', total: 0, right: 0, failure: result.error, isAccepted: false }]
      : section.outcomes(result),
  );

/** Returns whether no row was skipped and every outcome is right or accepted. */
export const isComplete = (outcomes: readonly Outcome[], skipped: readonly unknown[]): boolean =>
  skipped.length === 0 && outcomes.every(({ right, total, isAccepted = right === total }) => isAccepted);

/** Returns the share of right runs, or `undefined` without runs. */
export function rightShare(outcomes: readonly Outcome[]): number | undefined {
  const total = outcomes.reduce((sum, outcome) => sum + outcome.total, 0);
  return total === 0 ? undefined : outcomes.reduce((sum, { right }) => sum + right, 0) / total;
}
