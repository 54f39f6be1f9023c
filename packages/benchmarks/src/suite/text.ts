// Formats numbers and tables as text. The terminal shows the tables, and the pages use the numbers.

/** Formats a value with three significant digits, such as 0.0123 and 123. */
export function ms(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(digits, 5));
}

/** Formats a share in percent. Only a share of exactly 1 is formatted as 100 %. */
export const percentage = (share: number): string => (share === 1 ? '100 %' : `${(Math.floor(share * 1000) / 10).toFixed(1)} %`);

export const seconds = (milliseconds: number): string => {
  const whole = Math.round(milliseconds / 1000);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
};

/**
 * Formats a table. The columns in `textColumns` are aligned to the left, all other columns to the
 * right.
 */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[], textColumns: readonly number[]): string {
  const widths = head.map((title, column) =>
    Math.max(...[title, ...rows.map((row) => row[column] ?? '')].map((cell) => cell.length)),
  );
  const line = (cells: readonly string[]) =>
    widths
      .map((width, column) =>
        textColumns.includes(column) ? (cells[column] ?? '').padEnd(width) : (cells[column] ?? '').padStart(width),
      )
      .join('  ')
      .trimEnd();
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
}
