// Finds the key `__proto__` in parsed JSON. `JSON.parse()` makes an own property of the key. Code
// of the app that copies such an object property by property would set the prototype of the copy.

/**
 * Returns whether the value of a JSON text can have the key. `\\u` may be an escape in the key.
 * The check is much faster than a search in the value.
 */
export const mayHaveProtoKey = (text: string): boolean => /__proto__|\\u/.test(text);

/** Returns whether an object has the key itself. */
export const ownsProtoKey = (value: object): boolean => !Array.isArray(value) && Object.hasOwn(value, '__proto__');

/** Returns whether an object in a value has the key. `text` is the JSON text of the value. */
export function hasProtoKey(text: string, value: unknown): boolean {
  if (!mayHaveProtoKey(text)) return false;
  const left = [value];
  for (let item = left.pop(); item !== undefined; item = left.pop()) {
    if (typeof item !== 'object' || item === null) continue;
    if (ownsProtoKey(item)) return true;
    for (const inner of Object.values(item)) left.push(inner);
  }
  return false;
}
