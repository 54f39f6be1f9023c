// Orders texts by bytes, as in the locale C.UTF-8. just-bash's commands (`sort`, `ls`, `tree`)
// compare texts by `localeCompare`. A process of the shell runs no other program, so this file
// replaces the method. Next: index.js.

const SURROGATES = 0xd800;
const BEYOND = 0x10000;

// Surrogates are code units of the highest code points.
const rank = (unit) => (unit >= SURROGATES && unit < 0xe000 ? unit + BEYOND : unit);

/** Compares two texts by code points, which is the order of their bytes in UTF-8. */
export function compare(a, b) {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return rank(left) < rank(right) ? -1 : 1;
  }
  return a.length < b.length ? -1 : 1;
}

Object.defineProperty(String.prototype, 'localeCompare', {
  value(other) {
    return compare(String(this), String(other));
  },
  configurable: true,
  writable: true,
});
