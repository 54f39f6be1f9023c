// The text of a TypeScript program while its types are removed. Ranges become blanks, so that every
// line and column stays. Single characters are overwritten where a blank would change the meaning
// of the code after it. Blanks are as wide in UTF-8 as the replaced text: the output then equals
// the output of Node's stripper. Next: strip.js.
'use strict';

const LINE_BREAK = /[\n\r\u2028\u2029]/;
const WHITE = /[\t\v\f\ufeff \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\n\r\u2028\u2029]/;

class Text {
  #source;
  #ends = new Map();
  #ranges = [];
  #marks = [];

  // `comments` has [start, end] of each comment.
  constructor(source, comments) {
    this.#source = source;
    for (const [start, end] of comments) this.#ends.set(end, start);
  }

  at(index) {
    return this.#source[index];
  }
  blank(start, end) {
    this.#ranges.push([start, end]);
  }
  put(index, character) {
    this.#marks.push([index, character]);
  }
  breaksLine(start, end) {
    return LINE_BREAK.test(this.#source.slice(start, end));
  }

  // Returns the first position from `index` on that is neither white space nor in a comment.
  // Returns the length of the text if no such position exists.
  next(index) {
    const source = this.#source;
    for (let at = index; at < source.length; at++) {
      if (WHITE.test(source[at])) continue;
      if (source.startsWith('//', at)) {
        while (at + 1 < source.length && !LINE_BREAK.test(source[at + 1])) at++;
      } else if (source.startsWith('/*', at)) {
        at = source.indexOf('*/', at + 2) + 1;
      } else {
        return at;
      }
    }
    return source.length;
  }

  // Returns the last position before `index` that is neither white space nor in a comment, or -1.
  previous(index) {
    let at = index;
    while (at > 0) {
      if (this.#ends.has(at)) at = this.#ends.get(at);
      else if (WHITE.test(this.#source[at - 1])) at--;
      else return at - 1;
    }
    return -1;
  }

  word(index) {
    return /^[\w$]*/.exec(this.#source.slice(index, index + 32))[0];
  }

  toString() {
    if (this.#ranges.length === 0 && this.#marks.length === 0) return this.#source;
    const units = this.#source.split('');
    for (const [start, end] of this.#ranges) for (let at = start; at < end; at++) at += blankAt(units, at);
    for (const [index, character] of this.#marks) units[index] = character;
    return units.join('');
  }
}

// Blanks the character at `at`. Returns how many additional units the character had.
function blankAt(units, at) {
  const unit = units[at];
  if (WHITE.test(unit)) return 0;
  const code = unit.charCodeAt(0);
  if (code >= 0xd800 && code < 0xdc00) {
    units[at] = ' ';
    units[at + 1] = '\ufeff';
    return 1;
  }
  units[at] = code < 0x80 ? ' ' : code < 0x800 ? '\u00a0' : '\u2002';
  return 0;
}

module.exports = { Text };
