// Compares one name with a pattern of `*`, `?` and `[...]`. The time is the product of both
// lengths at most, because patterns come from clients.

/** Returns whether a name matches a pattern. */
export function matchesGlob(name: string, pattern: string): boolean {
  const parts = partsOf(pattern);
  let [at, part, star, mark] = [0, 0, -1, 0];
  while (at < name.length) {
    const expected = parts[part];
    if (expected === '*') {
      star = part++;
      mark = at;
    } else if (expected !== undefined && isOne(name[at] as string, expected)) {
      at++;
      part++;
    } else if (star >= 0) {
      part = star + 1;
      at = ++mark;
    } else return false;
  }
  while (parts[part] === '*') part++;
  return part === parts.length;
}

/** Returns whether a pattern has more than one match. */
export const isGlob = (pattern: string): boolean => /[*?[]/.test(pattern);

// Each part is a character, `?`, `*`, or a set with its brackets. A backslash makes a character
// plain.
function partsOf(pattern: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] as string;
    const end = character === '[' ? pattern.indexOf(']', at + 2) : -1;
    if (character === '\\' && at + 1 < pattern.length) parts.push(`\\${pattern[++at]}`);
    else if (end > at) {
      parts.push(pattern.slice(at, end + 1));
      at = end;
    } else parts.push(character);
  }
  return parts;
}

function isOne(character: string, part: string): boolean {
  if (part === '?') return true;
  if (part.startsWith('\\')) return character === part.slice(1);
  if (part.length === 1) return character === part;
  const isNegated = part[1] === '!' || part[1] === '^';
  const set = part.slice(isNegated ? 2 : 1, -1);
  let isIn = false;
  for (let at = 0; at < set.length; at++) {
    const [first, hyphen, last] = [set[at] as string, set[at + 1], set[at + 2]];
    if (hyphen === '-' && last !== undefined) {
      isIn ||= character >= first && character <= last;
      at += 2;
    } else isIn ||= character === first;
  }
  return isIn !== isNegated;
}
