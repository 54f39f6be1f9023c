// What `uniqueItems` may cost. The validator compares every two items of a list with each other, all the way down: for a list that a hostile guest
// has made long, that is minutes in which this process does nothing else. So an input is looked at before, when the schema has the word.
// Next: `validator.ts`.

/** Comparisons of single values; about a quarter of a second. */
const MAX_COMPARISONS = 4_000_000;

/** Whether a schema says `uniqueItems` anywhere. */
export function asksForUnique(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  return Object.entries(schema).some(([key, inner]) => (key === 'uniqueItems' && inner === true) || asksForUnique(inner));
}

/** Whether comparing the items of all lists in `input`, as deep as they are, is affordable. `input` is JSON whose nesting has an end. */
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
