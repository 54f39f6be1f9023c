// Response headers with one text for each name, as secure-exec returns them.

/** Joins several values of one header with a comma. */
export function joinHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value ?? '')]));
}
