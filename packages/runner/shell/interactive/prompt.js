// The prompt: the escapes of PS1 and PS2, and then the expansions of the shell. Next: session.js.

import os from 'node:os';
import { posix } from 'node:path';
import { parse } from 'just-bash';
import { allJobs } from '../jobs.js';
import { statementOf } from '../nodes.js';

const VERSION = '5.1';
const RELEASE = '5.1.0';
const NAME = 'COLDFRAME_PROMPT';
const ESCAPE = /\\(D\{[^}]*\}|[0-7]{3}|.)/gs;
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const pad = (number, width = 2, fill = '0') => String(number).padStart(width, fill);
const clock = (date) => `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
const hourOf12 = (date) => pad(date.getHours() % 12 || 12);
const noon = (date) => (date.getHours() < 12 ? 'AM' : 'PM');

function directory({ state }) {
  const home = state.env.get('HOME');
  const { cwd } = state;
  return home && (cwd === home || cwd.startsWith(`${home}/`)) ? `~${cwd.slice(home.length)}` : cwd;
}

// Formats a date by some of the conversions of strftime.
function formatted(format, date) {
  const conversions = {
    H: () => pad(date.getHours()),
    M: () => pad(date.getMinutes()),
    S: () => pad(date.getSeconds()),
    I: () => hourOf12(date),
    p: () => noon(date),
    Y: () => String(date.getFullYear()),
    y: () => pad(date.getFullYear() % 100),
    m: () => pad(date.getMonth() + 1),
    d: () => pad(date.getDate()),
    e: () => pad(date.getDate(), 2, ' '),
    a: () => DAYS[date.getDay()],
    b: () => MONTHS[date.getMonth()],
    T: () => clock(date),
    R: () => clock(date).slice(0, 5),
    F: () => `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`,
    '%': () => '%',
  };
  return (format || '%T').replace(/%(.)/g, (whole, letter) => conversions[letter]?.() ?? whole);
}

const ESCAPES = {
  __proto__: null,
  a: () => '\x07',
  d: ({ date }) => `${DAYS[date.getDay()]} ${MONTHS[date.getMonth()]} ${pad(date.getDate(), 2, ' ')}`,
  e: () => '\x1b',
  h: () => os.hostname().split('.')[0],
  H: () => os.hostname(),
  j: () => String(allJobs().length),
  l: () => 'pts',
  n: () => '\n',
  r: () => '\r',
  s: ({ state }) => posix.basename(state.env.get('0') ?? 'bash').replace(/^-/, ''),
  t: ({ date }) => clock(date),
  T: ({ date }) => `${hourOf12(date)}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`,
  '@': ({ date }) => `${hourOf12(date)}:${pad(date.getMinutes())} ${noon(date)}`,
  A: ({ date }) => clock(date).slice(0, 5),
  u: () => os.userInfo().username,
  v: () => VERSION,
  V: () => RELEASE,
  w: directory,
  W: (context) => (directory(context) === '~' ? '~' : posix.basename(context.state.cwd) || '/'),
  '!': ({ number }) => String(number),
  '#': ({ count }) => String(count),
  $: () => (process.getuid() === 0 ? '#' : '$'),
  '\\': () => '\\',
  '[': () => '',
  ']': () => '',
};

// Expands the variables and substitutions of a text, as between double quotes.
async function expanded(interpreter, text) {
  if (!/[$`]/.test(text)) return text;
  const { state } = interpreter.ctx;
  const { lastExitCode } = state;
  try {
    const [{ pipelines }] = parse(`${NAME}=x <<${NAME}\n${text}\n${NAME}\n`).statements;
    const [command] = pipelines[0].commands;
    const { content } = command.redirections[0].target;
    command.redirections = [];
    command.assignments[0].value = { type: 'Word', parts: [{ type: 'DoubleQuoted', parts: content.parts }] };
    await interpreter.executeStatement(statementOf(pipelines));
    return (state.env.get(NAME) ?? text).replace(/\n$/, '');
  } catch {
    return text;
  } finally {
    state.env.delete(NAME);
    state.lastExitCode = lastExitCode;
    state.env.set('?', String(lastExitCode));
  }
}

/**
 * Returns the prompt of `text`, the value of PS1 or PS2. `number` is the number of the next line in
 * the history, and `count` the number of the next command.
 */
export async function promptOf(interpreter, text, { number, count }) {
  const context = { state: interpreter.ctx.state, date: new Date(), number, count };
  // The characters of a directory's name are not expanded again.
  const shield = (value) => value.replace(/[$`\\"]/g, '\\$&');
  const decoded = text.replace(ESCAPE, (whole, name) => {
    if (/^[0-7]{3}$/.test(name)) return String.fromCharCode(Number.parseInt(name, 8));
    if (name.startsWith('D{')) return formatted(name.slice(2, -1), context.date);
    const value = ESCAPES[name]?.(context);
    if (value === undefined) return whole;
    return /[$`]/.test(text.replace(ESCAPE, '')) ? shield(value) : value;
  });
  return /[$`]/.test(text.replace(ESCAPE, '')) ? expanded(interpreter, decoded) : decoded;
}
