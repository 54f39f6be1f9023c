// The tables of the matrix: the medians of one lane alone beside Node, and the medians of each side
// in every column.

import { figure, type Table, table, time, words } from '../suite/table.js';
import { percentage } from '../suite/text.js';
import { columnName, columnsOf, medianOf, ratioToNode, sidesOf } from './columns.js';
import type { MatrixRow } from './row.js';
import { MODE_NAMES, type SideName } from './sides.js';

const MICROSECONDS = 1_000;

const ALONE = { width: 1, isBesideNeighbour: false };

const inMicroseconds = (value: number | undefined): number | undefined => value && value * MICROSECONDS;

const rightShareOf = ({ cells }: MatrixRow): string => {
  const total = cells.reduce((sum, { runs }) => sum + runs.total, 0);
  return total === 0 ? '–' : percentage(cells.reduce((sum, { runs }) => sum + runs.right, 0) / total);
};

export function matrixTables(rows: readonly MatrixRow[]): Table[] {
  const sides = sidesOf(rows);
  return [overviewTable(rows, sides), ...sides.map((side) => sideTable(rows, side))];
}

const overviewTable = (rows: readonly MatrixRow[], sides: readonly SideName[]): Table =>
  table('One call at a time (p50, µs), and divided by Node', rows, [
    words('group', ({ group }) => group),
    words('operation', ({ operation }) => operation),
    ...sides.map((side) => time<MatrixRow>(side, (row) => inMicroseconds(medianOf(row, side, ALONE)))),
    ...MODE_NAMES.filter((side) => sides.includes(side) && sides.includes('node')).map((side) =>
      figure<MatrixRow>(`${side} / node`, (row) => ratioToNode(row, side)?.toFixed(2)),
    ),
    figure('right', rightShareOf),
  ]);

const sideTable = (rows: readonly MatrixRow[], side: SideName): Table =>
  table(
    `${side}: several calls at once, and one call beside a neighbour (p50, µs)`,
    rows.filter(({ cells }) => cells.some((cell) => cell.side === side)),
    [
      words('operation', ({ operation }) => operation),
      ...columnsOf(rows).map((column) =>
        time<MatrixRow>(columnName(column), (row) => inMicroseconds(medianOf(row, side, column))),
      ),
    ],
  );
