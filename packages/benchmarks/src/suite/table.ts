// Builds the tables of a run. The terminal and the page show the same tables.
//
// A column is declared once, with its heading and its cell. Sections and benchmarks build their own
// tables; `report.ts` adds the tables of floors and targets, which all benchmarks share.

import type { Statistics } from '../statistics/statistics.js';
import { ms } from './text.js';

export interface Table {
  title: string;
  head: string[];
  rows: string[][];
  /** Indexes of the columns that contain words. The other columns contain numbers. */
  textColumns: number[];
}

export interface Column<Line> {
  head: string;
  cell(line: Line): string;
  isText?: boolean;
}

/** Declares a column of words. */
export const words = <Line>(head: string, cell: (line: Line) => string): Column<Line> => ({ head, cell, isText: true });

/** Declares a column of numbers. `undefined` is shown as a dash. */
export const figure = <Line>(head: string, cell: (line: Line) => string | number | undefined): Column<Line> => ({
  head,
  cell: (line) => `${cell(line) ?? '–'}`,
});

/** Declares a column of times, or of other values with three significant digits. */
export const time = <Line>(head: string, value: (line: Line) => number | null | undefined): Column<Line> => ({
  head,
  cell: (line) => ms(value(line)),
});

/**
 * Declares a column for each heading. The last word of a heading names the value: `wall p50` and
 * `p95` show the percentiles, `MAD` shows the deviation.
 */
export const times = <Line>(
  heads: readonly string[],
  statistics: (line: Line) => Partial<Statistics> | null | undefined,
): Column<Line>[] =>
  heads.map((head) => {
    const name = (head.split(' ').at(-1) ?? '').toLowerCase() as keyof Statistics;
    return time(head, (line: Line) => statistics(line)?.[name]);
  });

export const table = <Line>(title: string, lines: readonly Line[], columns: readonly Column<Line>[]): Table => ({
  title,
  head: columns.map(({ head }) => head),
  rows: lines.map((line) => columns.map((column) => column.cell(line))),
  textColumns: columns.flatMap(({ isText }, index) => (isText ? [index] : [])),
});
