// `localeCompare`: the order of ICU's root collation for texts in Latin letters. Letters of other
// scripts sort after Latin letters, by code points. The comparison has three levels, as in the
// Unicode collation algorithm: base letters first, then accents, then case (small before capital).
// Normalization splits off accents. The order of ASCII's characters is ICU's own (data.js).
'use strict';

const { order } = require('./data.js');

const FIRST_OTHER = 0x1000;
const FIRST_MARK = 0x300;
const LAST_MARK = 0x36f;

const primary = new Uint16Array(128);
const tertiary = new Uint8Array(128);
order.forEach((group, index) => {
  for (let i = 0; i < group.length; i++) {
    primary[group.charCodeAt(i)] = index + 1;
    tertiary[group.charCodeAt(i)] = i;
  }
});
for (const space of [9, 10, 11, 12, 13]) primary[space] = primary[32];

// Letters that sort as one or more other letters, sometimes with an accent.
const EXPANSIONS = {
  __proto__: null,
  ß: 'ss\u0335',
  ẞ: 'SS\u0335',
  æ: 'ae',
  Æ: 'AE',
  œ: 'oe',
  Œ: 'OE',
  ø: 'o\u0338',
  Ø: 'O\u0338',
  đ: 'd\u0335',
  Đ: 'D\u0335',
  ł: 'l\u0335',
  Ł: 'L\u0335',
};

const normalize = String.prototype.normalize;
const apply = Reflect.apply;
const DIGIT_0 = 48;
const DIGIT_9 = 57;

// Compares two texts. Returns -1, 0 or 1.
function compareTexts(a, b, options) {
  if (a === b) return 0;
  const { numeric = false, sensitivity = 'variant' } = options ?? {};
  const left = elements(a, numeric);
  const right = elements(b, numeric);
  const byLetter = compareLists(left.letters, right.letters);
  if (byLetter !== 0 || sensitivity === 'base') return byLetter;
  const byAccent = sensitivity === 'case' ? 0 : compareLists(left.accents, right.accents);
  if (byAccent !== 0 || sensitivity === 'accent') return byAccent;
  return compareLists(left.cases, right.cases);
}

function compareLists(a, b) {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
  return Math.sign(a.length - b.length);
}

function elements(text, numeric) {
  const letters = [];
  const accents = [];
  const cases = [];
  const string = isAscii(text) ? text : expand(apply(normalize, text, ['NFD']));
  for (let i = 0; i < string.length; i++) {
    const unit = string.charCodeAt(i);
    if (unit >= FIRST_MARK && unit <= LAST_MARK) {
      if (accents.length > 0) accents[accents.length - 1] = accents[accents.length - 1] * 128 + (unit - FIRST_MARK) + 1;
      continue;
    }
    const weight = unit < 128 ? primary[unit] : FIRST_OTHER + unit;
    if (weight === 0) continue;
    if (numeric && unit >= DIGIT_0 && unit <= DIGIT_9) {
      i = numberAt(string, i, letters, primary[DIGIT_0]);
    } else {
      letters.push(weight);
    }
    accents.push(0);
    cases.push(unit < 128 ? tertiary[unit] : caseOf(string[i]));
  }
  return { letters, accents, cases };
}

function expand(text) {
  let out = '';
  for (let i = 0; i < text.length; i++) out += EXPANSIONS[text[i]] ?? text[i];
  return out;
}

// Appends a run of digits to `letters`: the weight of a digit, the length without leading zeros,
// and the digits. Returns the index of the last digit.
function numberAt(string, start, letters, zero) {
  let end = start;
  while (end + 1 < string.length && isDigit(string.charCodeAt(end + 1))) end++;
  let first = start;
  while (first < end && string.charCodeAt(first) === DIGIT_0) first++;
  letters.push(zero, end - first + 1);
  for (let i = first; i <= end; i++) letters.push(string.charCodeAt(i));
  return end;
}

const isDigit = (unit) => unit >= DIGIT_0 && unit <= DIGIT_9;

function caseOf(character) {
  return character.toLowerCase() === character ? 0 : 1;
}

function isAscii(text) {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
}

module.exports = { compareTexts };
