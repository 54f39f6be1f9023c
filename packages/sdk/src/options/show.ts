// Describes a wrong value for an error message: the type, and the text of a short value. The
// content of an object never appears, because the content may be secret or long.

const MAX_TEXT = 40;

/** A value whose content must not appear, although the value is short. */
export class Hidden {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** Describes `value` in a few words: `-5 (number)`, `"abc" (string)`, `an array of 3`, `null`. */
export function show(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (value instanceof Hidden) return showHidden(value.value);
  if (typeof value === 'string') {
    return value.length > MAX_TEXT ? `text of ${value.length} characters` : `${JSON.stringify(value)} (string)`;
  }
  if (typeof value === 'number' || typeof value === 'boolean') return `${value} (${typeof value})`;
  if (typeof value === 'bigint') return `${value}n (bigint)`;
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'symbol') return 'a symbol';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name;
  return typeof name === 'string' && name !== '' && name !== 'Object' ? `an instance of ${name}` : 'an object';
}

function showHidden(value: unknown): string {
  if (typeof value === 'string') return `text of ${value.length} characters`;
  return typeof value === 'number' || typeof value === 'bigint' ? `a ${typeof value}` : show(value);
}
