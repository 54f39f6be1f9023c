// Tables for people. Texts of sandboxes may contain control characters, which a terminal would
// obey, so tables never contain them.

/** Returns a text without control characters. */
export const plain = (text: string): string => text.replaceAll(/\p{Cc}/gu, (letter) => (letter === '\t' ? ' ' : '\u{fffd}'));

/** Returns a table with a heading. Every column but the last is padded. */
export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [heading, ...rows.map((row) => row.map(plain))];
  const widths = heading.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Returns a time of RFC 3339 as a distance from now, such as `5 min` or `-3 s`. */
export function distance(time: string, now = Date.now()): string {
  const seconds = Math.round((Date.parse(time) - now) / 1_000);
  const size = Math.abs(seconds);
  const sign = seconds < 0 ? '-' : '';
  if (size < 120) return `${sign}${size} s`;
  if (size < 7_200) return `${sign}${Math.round(size / 60)} min`;
  return size < 172_800 ? `${sign}${Math.round(size / 3_600)} h` : `${sign}${Math.round(size / 86_400)} d`;
}
