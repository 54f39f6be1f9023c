// Copies checked options. `structuredClone()` serializes its value, and needs several microseconds
// for the smallest object.

/** Returns a frozen copy of lists and objects with options. Other values are not copied. */
export function frozenCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map((item) => frozenCopy(item))) as T;
  // Every name becomes a property of its own, also `__proto__`.
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([name, item]) => [name, frozenCopy(item)]))) as T;
}
