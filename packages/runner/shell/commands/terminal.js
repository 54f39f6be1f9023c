// tty, tput, clear and reset. `tput` prints the control sequences of `xterm` and of
// `xterm-256color`; `dumb` has none. Next: stty.js, ../commands.js.

import kernel from 'coldframe:kernel';
import { makeSane } from './stty.js';

const ok = (stdout = '') => ({ stdout, stderr: '', exitCode: 0 });
const fail = (stderr, exitCode = 1) => ({ stdout: '', stderr: `${stderr}\n`, exitCode });

export function tty(args) {
  const isSilent = args.includes('-s') || args.includes('--silent') || args.includes('--quiet');
  if (!kernel.isTerminal(0)) return { ...ok(isSilent ? '' : 'not a tty\n'), exitCode: 1 };
  return ok(isSilent ? '' : `/dev/pts/${kernel.numberOf(0)}\n`);
}

// Returns the size of the terminal of this process, else the size of the environment or 80 x 24.
function dimensions(env) {
  const terminal = [1, 2, 0].find((fd) => kernel.isTerminal(fd));
  const [columns, rows] = terminal === undefined ? [0, 0] : kernel.getSize(terminal);
  return { cols: columns || Number(env.get('COLUMNS')) || 80, lines: rows || Number(env.get('LINES')) || 24 };
}

const CSI = '\x1b[';
const SEQUENCES = {
  __proto__: null,
  bold: `${CSI}1m`,
  dim: `${CSI}2m`,
  smul: `${CSI}4m`,
  rmul: `${CSI}24m`,
  sitm: `${CSI}3m`,
  ritm: `${CSI}23m`,
  blink: `${CSI}5m`,
  rev: `${CSI}7m`,
  smso: `${CSI}7m`,
  rmso: `${CSI}27m`,
  invis: `${CSI}8m`,
  sgr0: '\x1b(B\x1b[m',
  op: `${CSI}39;49m`,
  el: `${CSI}K`,
  el1: `${CSI}1K`,
  ed: `${CSI}J`,
  home: `${CSI}H`,
  cuu1: `${CSI}A`,
  cuf1: `${CSI}C`,
  cub1: '\b',
  cr: '\r',
  bel: '\x07',
  sc: '\x1b7',
  rc: '\x1b8',
  civis: `${CSI}?25l`,
  cnorm: `${CSI}?12l${CSI}?25h`,
  smcup: `${CSI}?1049h${CSI}22;0;0t`,
  rmcup: `${CSI}?1049l${CSI}23;0;0t`,
};
const CLEAR = `${CSI}H${CSI}2J${CSI}3J`;
const RESET = '\x1bc\x1b[!p\x1b[?3;4l\x1b[4l\x1b>';

const color = (base, number, colors) => {
  if (number < 8) return `${CSI}${base}${number}m`;
  if (colors < 256) return `${CSI}${base}${number}m`;
  return number < 16 ? `${CSI}${base + 6}${number - 8}m` : `${CSI}${base}8;5;${number}m`;
};

function capability(name, words, isDumb, colors, env) {
  if (name === 'cols' || name === 'lines') return `${dimensions(env)[name]}\n`;
  if (name === 'colors') return `${isDumb ? -1 : colors}\n`;
  if (name === 'bel' || name === 'cr') return SEQUENCES[name];
  if (isDumb) return undefined;
  const number = Number(words[0] ?? 0);
  if (name === 'setaf') return color(3, number, colors);
  if (name === 'setab') return color(4, number, colors);
  if (name === 'cup') return `${CSI}${number + 1};${Number(words[1] ?? 0) + 1}H`;
  if (name === 'cuu') return `${CSI}${number}A`;
  if (name === 'cud') return `${CSI}${number}B`;
  if (name === 'cuf') return `${CSI}${number}C`;
  if (name === 'cub') return `${CSI}${number}D`;
  if (name === 'clear') return CLEAR;
  if (name === 'reset' || name === 'init') return RESET;
  return SEQUENCES[name];
}

export function tput(args, { env }) {
  let [term, words] = [env.get('TERM'), args];
  if (words[0] === '-T') [term, words] = [words[1], words.slice(2)];
  else if (words[0]?.startsWith('-T')) [term, words] = [words[0].slice(2), words.slice(1)];
  if (!term) return fail('tput: No value for $TERM and no -T specified', 2);
  if (!/^(?:(?:xterm|screen|tmux|vt100|vt220|linux|rxvt)(?:-.*)?|dumb)$/.test(term))
    return fail(`tput: unknown terminal "${term}"`, 3);
  const [name, ...rest] = words;
  if (name === undefined) return fail('usage: tput [-T term] capname [parameters]', 2);
  const isDumb = term === 'dumb';
  const text = capability(name, rest, isDumb, term.includes('256color') ? 256 : 8, env);
  if (text !== undefined) return ok(text);
  const isKnown = SEQUENCES[name] !== undefined || /^(?:set[af]|cu|clear)/.test(name);
  return isKnown ? { ...ok(), exitCode: name === 'clear' ? 2 : 1 } : fail(`tput: unknown terminfo capability '${name}'`, 4);
}

export function clear(_args, { env }) {
  const term = env.get('TERM');
  return term ? ok(term === 'dumb' ? '' : CLEAR) : fail('TERM environment variable not set.');
}

/** Restores the attributes and the screen of the terminal. */
export function reset() {
  if (kernel.isTerminal(0)) makeSane(0);
  return ok(`${RESET}${CLEAR}`);
}
