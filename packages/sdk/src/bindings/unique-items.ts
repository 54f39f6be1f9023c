// Bounds the cost of `uniqueItems`. The validator compares every pair of items deeply. A long list
// of a hostile guest would block this process for minutes. If a schema has the keyword, the cost of
// an input is computed before the validation. Next: `validator.ts`.

/** The largest number of comparisons of single values: about a quarter of a second of work. */
const MAX_COMPARISONS = 4_000_000;

/** Returns whether a schema contains `uniqueItems: true`. */
export function asksForUnique(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  return Object.entries(schema).some(([key, inner]) => (key === 'uniqueItems' && inner === true) || asksForUnique(inner));
}

/**
 * Returns whether comparing all lists in `input` deeply needs at most `MAX_COMPARISONS`
 * comparisons. `input` is JSON with bounded nesting.
 */
export function isComparable(input: unknown): boolean {
  let comparisons = 0;
  const valuesIn = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 1;
    let count = 1;
    for (const inner of Object.values(value)) count += valuesIn(inner);
    if (Array.isArray(value)) comparisons += value.length * count;
    return count;
  };
  valuesIn(input);
  return comparisons <= MAX_COMPARISONS;
}
