// Splits source text into comments, literals and code, as far as the prose linter needs.
//
// `js-tokens` splits JavaScript and TypeScript, because a slash may begin a comment, a division or
// a pattern. In Rust and C a list of expressions is enough: the first expression that matches at a
// position finds the token.

import jsTokens from 'js-tokens';

const RUST = [
  ['line', /\/\/[^\n]*/y],
  ['block', /\/\*/y], // can be nested: see `endOfNested`
  ['string', /b?c?r(#*)"[\s\S]*?"\1/y],
  ['string', /[bc]?"(?:[^"\\]|\\[\s\S])*"/y],
  ['string', /b?'(?:[^'\\\n]|\\(?:u\{[^}]*\}|x..|.))'/y],
  ['name', /[A-Za-z_][A-Za-z0-9_]*/y],
  ['text', /'|[^A-Za-z_"'/]+|\//y],
];

const C = [
  ['line', /\/\/[^\n]*/y],
  ['block', /\/\*[\s\S]*?(?:\*\/|$)/y],
  ['string', /"(?:[^"\\\n]|\\[\s\S])*"/y],
  ['string', /'(?:[^'\\\n]|\\[\s\S])*'/y],
  ['name', /[A-Za-z_][A-Za-z0-9_]*/y],
  ['text', /[^A-Za-z_"'/]+|["'/]/y],
];

/** Returns the end of a Rust block comment, in which block comments may be nested. */
function endOfNested(source, start) {
  const edge = /\/\*|\*\//g;
  edge.lastIndex = start;
  for (let depth = 0; ; ) {
    const found = edge.exec(source);
    if (!found) return source.length;
    depth += found[0] === '/*' ? 1 : -1;
    if (depth === 0) return edge.lastIndex;
  }
}

function* scan(source, patterns) {
  for (let at = 0; at < source.length; ) {
    const start = at;
    for (const [type, pattern] of patterns) {
      pattern.lastIndex = start;
      const found = pattern.exec(source);
      if (!found) continue;
      at = patterns === RUST && type === 'block' ? endOfNested(source, start) : pattern.lastIndex;
      yield { type, value: source.slice(start, at) };
      break;
    }
    if (at === start) yield { type: 'text', value: source[at++] };
  }
}

const SCRIPT_TYPES = {
  SingleLineComment: 'line',
  MultiLineComment: 'block',
  StringLiteral: 'string',
  NoSubstitutionTemplate: 'string',
  TemplateHead: 'template',
  TemplateMiddle: 'template',
  TemplateTail: 'template',
  IdentifierName: 'name',
};

function* scanScript(source) {
  for (const { type, value } of jsTokens(source)) yield { type: SCRIPT_TYPES[type] ?? 'text', value, exact: type };
}

/**
 * Returns the tokens of `source`: `line` and `block` comments, `string`, `template`, `name`, and
 * `text` for other code. `kind` is a kind of files.mjs. The values of all tokens, joined, are the
 * source.
 */
export function tokensOf(source, kind) {
  return [...(kind === 'script' ? scanScript(source) : scan(source, kind === 'rust' ? RUST : C))];
}

/** Counts the line breaks in a token. */
export function breaksIn(text) {
  let breaks = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) breaks++;
  return breaks;
}
