// Selects figures of the lifecycle rows, for targets, charts and tables. A row in which a runtime
// failed has no figure, because an incomplete clone can be a fast clone.

import type { ShapeSelection } from './operation.js';
import { OPERATION_NAMES, type OperationName, operations } from './operations/index.js';
import type { LifecycleRow } from './row.js';

export interface Selection extends ShapeSelection {
  operation: OperationName;
  measure: string;
}

/**
 * Returns the statistics of the wall time of the selected row, or `undefined` if a runtime of the
 * row failed.
 */
export function wallOf(rows: readonly LifecycleRow[], { operation, measure, n = 1, megabytes = 0, way }: Selection) {
  const row = rows.find(
    (each) => each.operation === operation && each.n === n && each.megabytes === megabytes && each.way === way,
  );
  return row?.runs.successRate === 1 ? (row.measures[measure]?.wall ?? undefined) : undefined;
}

export const wallP50 = (rows: readonly LifecycleRow[], selection: Selection): number | undefined => wallOf(rows, selection)?.p50;

const [ONE, TEN] = [1, 10];

/**
 * The compared selections: each measure of `tenAgainstOne`, for each size and way that has rows
 * with one runtime and with ten runtimes.
 */
const comparedWithTen: readonly Selection[] = OPERATION_NAMES.flatMap((operation) => {
  const { sizes, tenAgainstOne } = operations[operation];
  const sizesOf = (n: number) => sizes.filter((shape) => shape.n === n);
  const both = sizesOf(ONE).filter(({ megabytes, way }) =>
    sizesOf(TEN).some((ten) => ten.megabytes === megabytes && ten.way === way),
  );
  const ascending = both.sort((a, b) => a.megabytes - b.megabytes);
  return tenAgainstOne.flatMap((measure) =>
    ascending.map(({ megabytes, way }) => ({ operation, measure, megabytes, ...(way !== undefined && { way }) })),
  );
});

export interface TenAgainstOne {
  name: string;
  one: number | undefined;
  ten: number | undefined;
  ratio: number | undefined;
}

/** Compares the rows with ten runtimes at once with the rows of one runtime and equal size. */
export const tenAgainstOne = (rows: readonly LifecycleRow[]): TenAgainstOne[] =>
  comparedWithTen.map((selection) => {
    const [one, ten] = [ONE, TEN].map((n) => wallP50(rows, { ...selection, n }));
    const { operation, measure, megabytes, way } = selection;
    const name = [operation, measure === operation ? [] : measure, way ?? [], megabytes ? `${megabytes} MB dirty` : []]
      .flat()
      .join(', ');
    return { name, one, ten, ratio: one && ten ? ten / one : undefined };
  });

/**
 * Returns the longest single time of all rows: the time of one runtime, or of one call for all
 * runtimes. The guest's own writing is not included.
 */
export function slowest(rows: readonly LifecycleRow[]): number | undefined {
  const all = rows.flatMap((row) => Object.values(row.measures).flatMap(({ each }) => each?.max ?? []));
  return all.length === 0 ? undefined : Math.max(...all);
}

/** Returns the largest value, or `undefined` if a value is missing. */
export const worstOf = (values: readonly (number | undefined)[]): number | undefined =>
  values.length === 0 || values.includes(undefined) ? undefined : Math.max(...values.filter((value) => value !== undefined));
