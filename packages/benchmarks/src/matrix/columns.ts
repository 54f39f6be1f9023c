// Plans the columns of the matrix, names the columns, and finds the cells of a row.

import { ratioOf } from '../statistics/statistics.js';
import type { Cell, Column, MatrixRow } from './row.js';
import type { SideName } from './sides.js';

/** Returns a column for each number of lanes, and the column of one lane beside a neighbour. */
export const planColumns = (widths: readonly number[]): Column[] => [
  ...[...widths].sort((a, b) => a - b).map((width) => ({ width, isBesideNeighbour: false })),
  { width: 1, isBesideNeighbour: true },
];

export const columnName = ({ width, isBesideNeighbour }: Column): string =>
  isBesideNeighbour ? 'neighbour' : width === 1 ? 'alone' : `${width} at once`;

/** Returns the columns of a run, in the order of the first row with cells. */
export function columnsOf(rows: readonly MatrixRow[]): Column[] {
  const byName = new Map(rows.flatMap(({ cells }) => cells).map((cell) => [columnName(cell), cell]));
  return [...byName.values()].map(({ width, isBesideNeighbour }) => ({ width, isBesideNeighbour }));
}

/** Returns the sides of a run, in the order of the first row with cells. */
export const sidesOf = (rows: readonly MatrixRow[]): SideName[] => [
  ...new Set(rows.flatMap(({ cells }) => cells.map(({ side }) => side))),
];

export const cellOf = ({ cells }: MatrixRow, side: SideName, column: Column): Cell | undefined =>
  cells.find((cell) => cell.side === side && columnName(cell) === columnName(column));

export const medianOf = (row: MatrixRow, side: SideName, column: Column): number | undefined =>
  cellOf(row, side, column)?.statistics?.p50;

const ALONE: Column = { width: 1, isBesideNeighbour: false };

/** Returns the median of a side alone, divided by the median of Node alone. */
export const ratioToNode = (row: MatrixRow, side: SideName): number | undefined =>
  ratioOf(medianOf(row, side, ALONE), medianOf(row, 'node', ALONE));

/** Returns the median of a column, divided by the median of one lane alone. */
export const slowdownOf = (row: MatrixRow, side: SideName, column: Column): number | undefined =>
  ratioOf(medianOf(row, side, column), medianOf(row, side, ALONE));
