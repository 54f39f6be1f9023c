// The history of an interactive shell: the list of lines, its file, and the expansion of `!`.
// Next: session.js; the builtin `history` is below.

import fs from 'node:fs';

const LINES = 500;
const FILE_BYTES = 1_048_576;
const LONGEST_LIST = 100_000;

const ok = (stdout = '') => ({ stdout, stderr: '', exitCode: 0 });
const fail = (stderr) => ({ stdout: '', stderr: `bash: history: ${stderr}\n`, exitCode: 1 });

/** The lines of the history, oldest first. `first` is the number of the first line. */
export const history = { isOn: false, lines: [], first: 1 };
let fileLines = 0;

function sizeOf(env, name, fallback) {
  const value = env.get(name);
  if (value === undefined || value === '') return fallback;
  const number = Number.parseInt(value, 10);
  return Number.isNaN(number) ? fallback : number < 0 ? LONGEST_LIST : Math.min(number, LONGEST_LIST);
}

function trim(env) {
  const extra = history.lines.length - sizeOf(env, 'HISTSIZE', LINES);
  if (extra <= 0) return;
  history.lines.splice(0, extra);
  history.first += extra;
  fileLines = Math.max(0, fileLines - extra);
}

/** Adds a line, unless HISTCONTROL excludes the line. */
export function addLine(line, env) {
  const control = (env.get('HISTCONTROL') ?? '').split(':');
  const ignores = (name) => control.includes(name) || control.includes('ignoreboth');
  if (line.trim() === '' || (ignores('ignorespace') && line.startsWith(' '))) return;
  if (ignores('ignoredups') && history.lines.at(-1) === line) return;
  if (control.includes('erasedups')) history.lines = history.lines.filter((other) => other !== line);
  history.lines.push(line);
  trim(env);
}

/** Replaces the last line, when further lines continue a command. */
export function joinLine(line) {
  if (history.lines.length > 0) history.lines[history.lines.length - 1] += `\n${line}`;
}

const fileOf = (env) => env.get('HISTFILE');

// Returns the last lines of a file. A large file is read from its last part only.
function linesOf(path) {
  let fd;
  try {
    fd = fs.openSync(path, 'r');
    const { size } = fs.fstatSync(fd);
    const length = Math.min(size, FILE_BYTES);
    const bytes = Buffer.alloc(length);
    fs.readSync(fd, bytes, 0, length, size - length);
    const lines = bytes.toString('utf8').split('\n').filter(Boolean);
    return length < size ? lines.slice(1) : lines;
  } catch {
    return [];
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

/** Begins the history of this shell with the lines of its file. */
export function loadHistory(env) {
  history.isOn = true;
  if (!env.has('HISTFILE') && env.has('HOME')) env.set('HISTFILE', `${env.get('HOME')}/.bash_history`);
  if (!env.has('HISTSIZE')) env.set('HISTSIZE', String(LINES));
  if (!env.has('HISTFILESIZE')) env.set('HISTFILESIZE', env.get('HISTSIZE'));
  if (fileOf(env)) history.lines = linesOf(fileOf(env));
  fileLines = history.lines.length;
  trim(env);
}

/** Appends the new lines to the file of the history, and bounds the file. */
export function saveHistory(env) {
  const path = fileOf(env);
  if (!history.isOn || !path) return;
  const added = history.lines.slice(fileLines).flatMap((line) => line.split('\n'));
  if (added.length === 0) return;
  const kept = [...linesOf(path), ...added].slice(-Math.max(1, sizeOf(env, 'HISTFILESIZE', LINES)));
  try {
    fs.writeFileSync(path, `${kept.join('\n')}\n`, { mode: 0o600 });
    fileLines = history.lines.length;
  } catch {
    // the history is lost if its file cannot be written
  }
}

// The words of a line. Quotes keep words together.
const wordsOf = (line) => line.match(/(?:'[^']*'|"(?:\\.|[^"])*"|\\.|[^\s'"\\])+/g) ?? [];

function event(name) {
  if (name === '!') return history.lines.at(-1);
  if (/^-\d+$/.test(name)) return history.lines.at(Number(name));
  if (/^\d+$/.test(name)) return history.lines[Number(name) - history.first];
  if (name.startsWith('?')) return history.lines.findLast((line) => line.includes(name.slice(1).replace(/\?$/, '')));
  return history.lines.findLast((line) => line.startsWith(name));
}

function designated(line, designator) {
  const words = wordsOf(line);
  if (designator === '^') return words[1];
  if (designator === '$') return words.at(-1);
  if (designator === '*') return words.slice(1).join(' ');
  const [, from, dash, to] = /^(\d+)(-)?(\d+|\$)?$/.exec(designator) ?? [];
  if (from === undefined) return undefined;
  if (dash === undefined) return words[Number(from)];
  const end = to === undefined ? words.length - 1 : to === '$' ? words.length : Number(to) + 1;
  return words.slice(Number(from), end).join(' ');
}

const REFERENCE =
  /^!(?:(!|-?\d+|\?[^?\n]+\??|[A-Za-z_./][^\s:;&|()<>'"$*^]*)(?::([\^$*]|\d+(?:-[\d$]?\d*)?)|([\^$*]))?|:?([\^$*])|:(\d+(?:-[\d$]?\d*)?))(:p)?/;

/**
 * Expands the history references of a line. Returns `{ line, isChanged, isPrinted }`, or
 * `{ missing }` with a reference that names no line. `isPrinted` is true for `:p`.
 */
export function expandHistory(line) {
  const quick = /^\^([^^\n]+)\^([^^\n]*)\^?/.exec(line);
  if (quick !== null) {
    const last = history.lines.at(-1) ?? '';
    return last.includes(quick[1])
      ? { line: last.replace(quick[1], () => quick[2]), isChanged: true }
      : { missing: `:s${quick[0]}` };
  }
  let result = '';
  let [isChanged, isPrinted, isQuoted] = [false, false, false];
  for (let at = 0; at < line.length; at++) {
    const character = line[at];
    if (character === '\\' && at + 1 < line.length) {
      result += character + line[++at];
      continue;
    }
    if (character === "'") isQuoted = !isQuoted;
    const found = character === '!' && !isQuoted ? REFERENCE.exec(line.slice(at)) : null;
    if (found === null) {
      result += character;
      continue;
    }
    const [whole, name, colon, short, last, number, printed] = found;
    const source = event(name ?? '!');
    const designator = colon ?? short ?? last ?? number;
    const text = source === undefined ? undefined : designator === undefined ? source : designated(source, designator);
    if (text === undefined) return { missing: whole };
    result += text;
    [isChanged, isPrinted] = [true, isPrinted || printed !== undefined];
    at += whole.length - 1;
  }
  return { line: result, isChanged, isPrinted };
}

const listed = (from) =>
  history.lines
    .map((line, index) => `${String(history.first + index).padStart(5)}  ${line}\n`)
    .slice(from)
    .join('');

/** The builtin `history`. */
export function historyBuiltin(interpreter, args) {
  const { env } = interpreter.ctx.state;
  const [option, value] = args;
  if (option === undefined) return ok(listed(0));
  if (/^\d+$/.test(option)) return ok(Number(option) === 0 ? '' : listed(-Number(option)));
  if (option === '-c') {
    Object.assign(history, { lines: [], first: 1 });
    fileLines = 0;
  } else if (option === '-d') {
    const at = Number(value) < 0 ? history.lines.length + Number(value) : Number(value) - history.first;
    if (!(at in history.lines)) return fail(`${value}: history position out of range`);
    history.lines.splice(at, 1);
  } else if (option === '-a' || option === '-w') saveHistory(env);
  else if (option === '-r' || option === '-n') history.lines.push(...linesOf(value ?? fileOf(env)));
  else if (option === '-s') addLine(args.slice(1).join(' '), env);
  else if (/^-/.test(option)) return fail(`${option}: invalid option`);
  else return fail(`${option}: numeric argument required`);
  trim(env);
  return ok();
}
