// Decides whether lines of a script form complete commands. A shell that reads its script from a
// pipe or a terminal must run each command as soon as the command is complete. The end of the text
// is an error of just-bash's parser, at the last token or at an open quote. Next: script-input.js.

import { parse } from 'just-bash';
import { executionLimits } from './limits.js';

const PARSER = { maxHeredocSize: executionLimits.maxHeredocSize };
const OPEN_QUOTE = /unexpected EOF while looking for matching [`'](.)'/;
const EXPECTED = /^Parse error at \d+:\d+: Expected (\w+), got EOF/;
const CLOSING_WORDS = { __proto__: null, FI: 'fi', DONE: 'done', ESAC: 'esac', THEN: 'then', DO: 'do', RBRACE: '}', RPAREN: ')' };

/**
 * Parses the lines `text`, which end with a line break. Returns `{ script }`, `{ error }` with a
 * syntax error, or `{ more }` if further lines are necessary. `more(line)` returns false for a line
 * after which the commands cannot be complete.
 */
export function parseLines(text) {
  let script;
  try {
    script = parse(endsWithContinuation(text) ? `${text.slice(0, -2)}'` : text, PARSER);
  } catch (error) {
    const more = moreAfter(error, text);
    return more === undefined ? { error } : { more };
  }
  const open = openHereDocument(script);
  if (open !== undefined) return { more: (line) => (open.stripTabs ? line.replace(/^\t+/, '') : line) === `${open.delimiter}\n` };
  if (endsWithOperator(script)) return { more: () => true };
  const { deferredError } = script.statements.find((statement) => statement.deferredError) ?? {};
  return deferredError === undefined ? { script } : { error: new Error(deferredError.message) };
}

/**
 * Parses the last lines of a script. Open here-documents end with the script, as in bash, and make
 * a warning. Returns `{ script, warning }` or `{ error }`.
 */
export function parseRest(text) {
  try {
    const script = parse(text, PARSER);
    const open = openHereDocument(script);
    const warning = open && `warning: here-document delimited by end-of-file (wanted \`${open.delimiter}')`;
    if (!endsWithOperator(script)) return { script, warning };
  } catch (error) {
    if (moreAfter(error, text) === undefined || OPEN_QUOTE.test(error.message)) return { error };
  }
  return { error: new Error('syntax error: unexpected end of file') };
}

/** Returns the words of bash for a syntax error. */
export function syntaxMessage({ message, token }) {
  const text = message.replace(/^(?:Parse error at \d+:\d+|line \d+): /, '');
  if (/^(?:syntax error|unexpected EOF)/.test(text)) return text;
  if (token?.type === 'EOF') return 'syntax error: unexpected end of file';
  return token === undefined ? `syntax error: ${text}` : `syntax error near unexpected token \`${nameOf(token)}'`;
}

const nameOf = ({ type, value }) => (type === 'NEWLINE' ? 'newline' : value);

const endsWithContinuation = (text) => text.endsWith('\\\n') && /\\*$/.exec(text.slice(0, -1))[0].length % 2 === 1;

// Returns the test of the next line if the error is the end of the text, else undefined.
function moreAfter({ name, message, token }, text) {
  const quote = OPEN_QUOTE.exec(message)?.[1];
  if (quote !== undefined) return (line) => line.includes(quote);
  if (name !== 'ParseException' || token?.type !== 'EOF' || token.start < text.trimEnd().length) return undefined;
  const word = CLOSING_WORDS[EXPECTED.exec(message)?.[1]];
  return word === undefined ? () => true : (line) => line.includes(word);
}

// Returns the first here-document whose delimiter is missing.
function openHereDocument(node) {
  if (node === null || typeof node !== 'object') return undefined;
  if (node.type === 'HereDoc' && node.terminated === false) return node;
  for (const child of Array.isArray(node) ? node : Object.values(node)) {
    const found = openHereDocument(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

// Returns whether the last command is missing after `|`, `&&` or `||`. The parser returns an empty
// command there.
function endsWithOperator({ statements }) {
  const pipelines = statements.at(-1)?.pipelines ?? [];
  const commands = pipelines.at(-1)?.commands ?? [];
  if (pipelines.length + commands.length < 3) return false;
  const last = commands.at(-1);
  return last.type === 'SimpleCommand' && !last.name && last.assignments.length === 0 && last.redirections.length === 0;
}
