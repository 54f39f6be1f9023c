// Picks figures out of the rows. A row in which anything failed has none: a wrong copy may be a quick one.

import type { Statistics } from '../stats/statistics.js';
import type { OperationName } from './plan.js';
import type { LifecycleRow } from './result.js';

export interface Which {
  operation: OperationName;
  measure: string;
  n?: number;
  megabytes?: number;
  way?: string;
}

export const rowOf = (rows: readonly LifecycleRow[], { operation, n = 1, megabytes = 0, way }: Which): LifecycleRow | undefined =>
  rows.find((row) => row.operation === operation && row.n === n && row.megabytes === megabytes && row.way === way);

export function wallOf(rows: readonly LifecycleRow[], which: Which): Statistics | undefined {
  const row = rowOf(rows, which);
  return row?.runs.successRate === 1 ? (row.measures[which.measure]?.wall ?? undefined) : undefined;
}

/** What is compared one against ten: the last measure of each operation that can be done by ten at once. */
const AT_ONCE: readonly Which[] = [
  { operation: 'snapshot', measure: 'snapshot' },
  { operation: 'snapshot', measure: 'snapshot', megabytes: 100 },
  { operation: 'create', measure: 'answer' },
  { operation: 'rollback', measure: 'rollback' },
  { operation: 'rollback', measure: 'rollback', megabytes: 100 },
  { operation: 'clone', measure: 'clone' },
  { operation: 'clone', measure: 'clone', megabytes: 10 },
  { operation: 'pause', measure: 'pause' },
  { operation: 'pause', measure: 'answer' },
  { operation: 'spawn', measure: 'total', way: 'clone' },
  { operation: 'spawn', measure: 'total', way: 'create' },
];

export interface AtOnce {
  name: string;
  one: number | undefined;
  ten: number | undefined;
  ratio: number | undefined;
}

export const atOnce = (rows: readonly LifecycleRow[]): AtOnce[] =>
  AT_ONCE.map((which) => {
    const [one, ten] = [1, 10].map((n) => wallOf(rows, { ...which, n })?.p50);
    const { operation, measure, megabytes, way } = which;
    const name = [operation, measure === operation ? [] : measure, way ?? [], megabytes ? `${megabytes} MB dirty` : []]
      .flat()
      .join(', ');
    return { name, one, ten, ratio: one && ten ? ten / one : undefined };
  });

/** The longest time of any single one, over all rows; the guest's own writing is not in it. */
export function slowest(rows: readonly LifecycleRow[]): number | undefined {
  const all = rows.flatMap((row) => Object.values(row.measures).flatMap(({ each }) => each?.max ?? []));
  return all.length === 0 ? undefined : Math.max(...all);
}

/** Of several figures the worst, and none unless all are there. */
export const worst = (values: readonly (number | undefined)[]): number | undefined =>
  values.length === 0 || values.includes(undefined) ? undefined : Math.max(...values.filter((value) => value !== undefined));
