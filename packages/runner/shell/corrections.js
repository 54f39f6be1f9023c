// Functions that replace parts of just-bash whose results differ from bash. build/just-bash.mjs
// inserts the calls. Next: collation.js.

export { reasonOf } from './reasons.js';

/**
 * Returns the position of the two parentheses that end the arithmetic expression at `from`.
 */
export function endOfArithmetic(text, from) {
  let depth = 0;
  for (let at = from; at < text.length - 1; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"' && text.indexOf('"', at + 1) > 0) at = text.indexOf('"', at + 1);
    else if (text[at] === '(') depth++;
    else if (text[at] === ')' && depth-- === 0) return at;
  }
  return text.length - 1;
}

/**
 * Converts the set of characters of a pattern, such as `[!a-z]`, whose first bracket is at `from`.
 * Returns the regular expression and the position of the last bracket. A bracket without its end is
 * an ordinary character.
 */
export function setOfCharacters(text, from) {
  let at = from + 1;
  let pattern = '[';
  if (text[at] === '!' || text[at] === '^') {
    pattern = '[^';
    at++;
  }
  if (text[at] === ']') {
    pattern += '\\]';
    at++;
  }
  for (; at < text.length; at++) {
    const end = text[at] === '[' && text[at + 1] === ':' ? text.indexOf(':]', at + 2) : -1;
    if (text[at] === ']') return { pattern: `${pattern}]`, end: at };
    if (end > 0) {
      pattern += text.slice(at, end + 2);
      at = end + 1;
    } else if (text[at] === '\\' && at + 1 < text.length) pattern += `\\${text[++at]}`;
    else pattern += text[at] === '[' || text[at] === '\\' ? `\\${text[at]}` : text[at];
  }
  return { pattern: '\\[', end: from };
}
