// Extracts the names of tests: the first argument of `test`, `it` and `describe` in JavaScript, the
// function's name in Rust.

import { breaksIn } from './tokens.mjs';

const CALLS = new Set(['describe', 'it', 'suite', 'test']);

const IGNORED = new Set(['WhiteSpace', 'LineTerminatorSequence', 'SingleLineComment', 'MultiLineComment']);

/** Returns the text of a string literal without quotes, and with X for each placeholder. */
const plain = (literal) =>
  literal
    .slice(1, -1)
    .replace(/\$[\w.]+|%[sdifjo]/g, 'X')
    .replace(/\\(.)/g, '$1')
    .replace(/\s+/g, ' ');

function namesInScript(all) {
  const tokens = [];
  let line = 1;
  for (const token of all) {
    if (!IGNORED.has(token.exact)) tokens.push({ ...token, line });
    line += breaksIn(token.value);
  }
  const names = [];
  for (const [index, { type, value }] of tokens.entries()) {
    if (type !== 'name' || !CALLS.has(value) || tokens[index - 1]?.value === '.') continue;
    const name = nameAt(tokens, index + 1);
    if (name) names.push(name);
  }
  return names;
}

/** Reads the name in `.each(table)(name`, `.skip(name` or `(name` from token `at` on. */
function nameAt(tokens, at) {
  let next = at;
  while (tokens[next]?.value === '.') {
    const takesArguments = /^(?:each|for|runIf|skipIf)$/.test(tokens[next + 1]?.value);
    next += 2;
    if (takesArguments) next = tokens[next]?.value === '(' ? endOfGroup(tokens, next) : endOfTemplate(tokens, next);
  }
  const first = tokens[next + 1];
  if (tokens[next]?.value !== '(' || !first) return undefined;
  if (first.type === 'string') return { line: first.line, name: plain(first.value) };
  if (first.exact !== 'TemplateHead') return undefined;
  const parts = tokens.slice(next + 1, endOfTemplate(tokens, next + 1)).filter(({ type }) => type === 'template');
  return { line: first.line, name: parts.map(({ value }) => value.replace(/^[`}]|(?:`|\$\{)$/g, '')).join('X') };
}

const endOfGroup = (tokens, at) => endOf(tokens, at, 'value', '(', ')');

const endOfTemplate = (tokens, at) =>
  tokens[at]?.exact === 'NoSubstitutionTemplate' ? at + 1 : endOf(tokens, at, 'exact', 'TemplateHead', 'TemplateTail');

/** Returns the index after the token that closes the bracket which token `from` opens. */
function endOf(tokens, from, key, opens, closes) {
  let depth = 0;
  for (let at = from; at < tokens.length; at++) {
    if (tokens[at][key] === opens) depth++;
    if (tokens[at][key] === closes && --depth === 0) return at + 1;
  }
  return tokens.length;
}

const HIDDEN = new Set(['line', 'block', 'string']);

function namesInRust(tokens) {
  const code = tokens.map(({ type, value }) => (HIDDEN.has(type) ? value.replace(/[^\n]/g, ' ') : value)).join('');
  const names = [];
  let isTest = false;
  let line = 1;
  for (const part of code.split(/(?=#\[)|(?=\bfn\s)/)) {
    if (/^#\[(?:\w+::)?test\]/.test(part)) isTest = true;
    const [, name] = /^fn\s+(\w+)/.exec(part) ?? [];
    if (name && isTest) names.push({ line, name: name.replaceAll('_', ' ') });
    if (name) isTest = false;
    line += breaksIn(part);
  }
  return names;
}

/**
 * Returns the names of the tests among `tokens`, as `{ line, name }`, with words separated by
 * spaces.
 */
export function testNamesOf(tokens, kind) {
  if (kind === 'rust') return namesInRust(tokens);
  return kind === 'script' ? namesInScript(tokens) : [];
}
