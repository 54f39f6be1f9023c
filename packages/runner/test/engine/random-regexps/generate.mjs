// Generates random regular expressions with texts. Equal seeds make equal cases. Half of all
// alternatives begin with `^`, because the engine compiles such patterns without a search
// (the patch `anchored-regexps`).
import { randomFrom } from '../random-programs/generate.mjs';

// Without `[^]`: V8 12.4 and earlier match nothing with a repeated `[^]` and the flag v.
const CHARACTERS = [
  'a',
  'b',
  'c',
  'A',
  ' ',
  '1',
  '\\n',
  '.',
  '\\w',
  '\\d',
  '\\s',
  '\\S',
  '[ab]',
  '[^a]',
  '[\\s\\S]',
  '[a-c\\n]',
  'é',
  'k',
];
const ASSERTIONS = ['^', '^', '^', '$', '\\b', '\\B'];
const QUANTIFIERS = ['*', '+', '?', '*?', '+?', '??', '{2}', '{1,2}', '{0,1}', '{0}', '{1,}?'];
const LOOKAROUNDS = ['(?=', '(?!', '(?<=', '(?<!'];
const MODIFIERS = ['(?m:', '(?-m:', '(?i:', '(?s-m:', '(?im-s:'];
const TEXT = ['a', 'b', 'c', 'A', ' ', '1', '\n', '\r', 'a', 'b', 'é'];
const WIDE_TEXT = [...TEXT, '\u2028', 'ſ', '\u212a'];
/** Only without the flags u and v, with which V8 finds empty matches inside a surrogate pair. */
const SURROGATES = ['😀', '\ud83d', '\ude00'];
const MAX_DEPTH = 2;
const MAX_TEXT = 12;

/** Returns a pattern, its flags, a text, and the value of `lastIndex` before the first search. */
export function generateCase(seed) {
  const random = randomFrom(seed);
  const below = (count) => Math.floor(random() * count);
  const one = (list) => list[below(list.length)];
  const chance = (probability) => random() < probability;
  const characters = (list, count) => Array.from({ length: count }, () => one(list)).join('');
  const flags = ['d', 'g', 'i', 'm', 's', 'y'].filter(() => chance(0.25)).join('') + one(['', '', 'u', 'v']);
  const isUnicode = /[uv]/.test(flags);
  let groups = 0;

  const disjunction = (depth) => Array.from({ length: one([1, 1, 1, 2, 3]) }, () => alternative(depth)).join('|');
  const alternative = (depth) =>
    (chance(0.5) ? '^' : '') + Array.from({ length: one([0, 1, 1, 2, 3]) }, () => term(depth)).join('');
  const term = (depth) => {
    if (chance(0.15)) return one(ASSERTIONS);
    if (depth < MAX_DEPTH && chance(0.1)) return `${one(LOOKAROUNDS)}${disjunction(depth + 1)})`;
    return atom(depth) + (chance(0.4) ? one(QUANTIFIERS) : '');
  };
  const atom = (depth) => {
    // With the flags g and u, V8 resets no groups between two empty matches of a replacement.
    if (groups > 0 && !isUnicode && chance(0.08)) return `(?:\\${1 + below(groups)})`;
    if (depth === MAX_DEPTH || chance(0.6)) return one(CHARACTERS);
    return `${groupStart()}${disjunction(depth + 1)})`;
  };
  const groupStart = () => {
    const kind = random();
    if (kind < 0.4) return '(?:';
    if (kind < 0.55) return one(MODIFIERS);
    groups++;
    return kind < 0.9 ? '(' : `(?<g${groups}>`;
  };

  const pattern = disjunction(0) || '(?:)';
  const wideText = isUnicode ? WIDE_TEXT : [...WIDE_TEXT, ...SURROGATES];
  const text = characters(chance(0.3) ? wideText : TEXT, below(MAX_TEXT + 1));
  return { pattern, flags, text, lastIndex: chance(0.5) ? 0 : below(text.length + 2) };
}

/** Whether the pattern has modifiers, which Node supports from version 23. */
export const hasModifiers = ({ pattern }) => /\(\?[ims-]+:/.test(pattern);

/**
 * Returns the results of the methods that search with a regular expression, as a text. The guest
 * runs the source text of this function, so the function uses only the language.
 */
export function describeCase({ pattern, flags, text, lastIndex }) {
  const regexp = new RegExp(pattern, flags);
  const show = (value) =>
    Array.isArray(value)
      ? { values: [...value], index: value.index, groups: value.groups, indices: value.indices, names: value.indices?.groups }
      : value;
  const results = [];
  const attempt = (name, operation) => {
    regexp.lastIndex = lastIndex;
    let result;
    try {
      result = operation();
    } catch (error) {
      result = error.name;
    }
    results.push([name, result, regexp.lastIndex]);
  };
  attempt('exec', () => [1, 2, 3].map(() => [show(regexp.exec(text)), regexp.lastIndex]));
  attempt('test', () => [regexp.test(text), regexp.lastIndex, regexp.test(text)]);
  attempt('match', () => show(text.match(regexp)));
  attempt('matchAll', () => [...text.matchAll(regexp)].map(show));
  attempt('replace', () => text.replace(regexp, '<$&>'));
  // V8 12.4 and earlier pass '' for a group without a match, so the text has only match and index.
  attempt('replaceAll', () => text.replaceAll(regexp, (match, ...rest) => `<${match}@${rest.find(Number.isInteger)}>`));
  attempt('remove', () => text.replace(regexp, ''));
  attempt('search', () => text.search(regexp));
  attempt('split', () => text.split(regexp));
  return JSON.stringify(results);
}
