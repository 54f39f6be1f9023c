// Commands that treat each line by itself: grep, sed, cut, tr and others. just-bash runs such a
// command on a whole text. This file runs just-bash's command on the lines that have arrived, so
// that output appears while the input continues. Options that concern several lines are refused,
// and the command then reads its whole input. Next: index.js, which calls `filter`.

import { createCommandContext, stdoutAsBytes } from 'just-bash';
import { readSome, write } from './descriptors.js';
import { filesystem } from './filesystem.js';

const LINE_FEED = 10;

// Returns whether the words name no file. `switches` and `values` match the options without a value
// and with a value. `words` is the number of operands of the command.
function readsInput(args, { switches, values, words }) {
  let operands = 0;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at];
    if (arg === '--') operands += args.length - at - 1;
    if (arg === '--') break;
    if (!/^-./.test(arg)) operands++;
    else if (values.test(arg)) at++;
    else if (!switches.test(arg)) return false;
  }
  return operands <= words;
}

const GREP = {
  switches:
    /^(?:-[EFGPivwxoshq]+|-e.+|-m\d+|--(?:max-count=\d+|quiet|line-buffered|color(?:=.*)?|ignore-case|invert-match|only-matching|extended-regexp))$/,
  values: /^-[EFGPivwxoshq]*e$|^-m$/,
};
const hasPattern = (args) => args.some((arg) => /^-[a-zA-Z]*e/.test(arg));
const grep = (args) => readsInput(args, { ...GREP, words: hasPattern(args) ? 0 : 1 });

// One command of a sed script that concerns a single line: `s`, `y`, `p` or `d`, with or without a
// regular expression before the command.
const SED_COMMAND =
  /^\s*(?:\/(?:[^/\\]|\\.)*\/I?\s*!?\s*)?(?:[pd]|([sy])([^\w\s\\])(?:(?!\2)[^\\]|\\.)*\2(?:(?!\2)[^\\]|\\.)*\2[gpiI\d]*)\s*(?:;|\n|$)/s;

function isOfSingleLines(script) {
  let rest = script;
  while (rest.trim() !== '') {
    const found = SED_COMMAND.exec(rest);
    if (found === null) return false;
    rest = rest.slice(found[0].length);
  }
  return true;
}

function sed(args) {
  const scripts = [];
  const operands = [];
  for (let at = 0; at < args.length; at++) {
    if (/^-[nErsu]*e$/.test(args[at]) || args[at] === '--expression') scripts.push(args[++at] ?? '');
    else if (/^-/.test(args[at])) {
      if (!/^(?:-[nErsu]+|--(?:quiet|silent|regexp-extended|unbuffered))$/.test(args[at])) return false;
    } else operands.push(args[at]);
  }
  if (scripts.length === 0 && operands.length > 0) scripts.push(operands.shift());
  return operands.length === 0 && scripts.length > 0 && scripts.every(isOfSingleLines);
}

const cut = (args) =>
  readsInput(args, { switches: /^-(?:[bcdf].+|s)$|^--(?:complement|delimiter=.*|fields=.*)$/, values: /^-[bcdf]$/, words: 0 });
// Squeezed characters may be on both sides of a boundary between two pieces.
const tr = (args) => !args.some((arg) => /^-[a-z]*s|^--squeeze/.test(arg));
const plain = (args) => args.length === 0;

/** Command → whether the arguments let the command treat each line of its input by itself. */
const LINEWISE = new Map(Object.entries({ grep, egrep: grep, fgrep: grep, sed, cut, tr, rev: plain, expand: plain }));

/** Returns whether the command can write output before the end of its input. */
export const isFilter = (name, args) => LINEWISE.get(name)?.(args) ?? false;

// Separates `-m NUMBER` of grep from the other words. Returns the words and the number.
function withoutCount(args) {
  const words = [];
  let most = Number.POSITIVE_INFINITY;
  for (let at = 0; at < args.length; at++) {
    const [, attached] = /^(?:-m|--max-count=)(\d*)$/.exec(args[at]) ?? [];
    if (attached === undefined) words.push(args[at]);
    else most = Number(attached || args[++at]);
  }
  return { words, most };
}

const isQuiet = (words) => words.some((word) => word === '--quiet' || /^-[EFGPivwxoshq]*q[EFGPivwxoshq]*$/.test(word));

// Yields whole lines of standard input as they arrive. Yields the lines one by one if `single`.
function* arriving(single) {
  let rest = Buffer.alloc(0);
  for (let piece = readSome(0); piece.length > 0; piece = readSome(0)) {
    rest = Buffer.concat([rest, piece]);
    for (;;) {
      const end = (single ? rest.indexOf(LINE_FEED) : rest.lastIndexOf(LINE_FEED)) + 1;
      if (end === 0) break;
      yield rest.subarray(0, end);
      rest = rest.subarray(end);
    }
  }
  if (rest.length > 0) yield rest;
}

/**
 * Runs `command` of just-bash on the lines of standard input as they arrive. Returns the exit code.
 */
export async function filter(name, command, args) {
  const isSearch = name.endsWith('grep');
  const { words, most } = isSearch ? withoutCount(args) : { words: args, most: Number.POSITIVE_INFINITY };
  let left = isSearch && isQuiet(words) ? 1 : most;
  let exitCode = isSearch ? 1 : 0;
  for (const bytes of arriving(Number.isFinite(most))) {
    const stdin = bytes.toString('latin1');
    const result = await command.execute(words, createCommandContext({ fs: filesystem, cwd: process.cwd(), stdin }));
    write(1, Buffer.from(stdoutAsBytes(result), 'latin1'));
    if (result.stderr) write(2, Buffer.from(result.stderr));
    if (!isSearch || result.exitCode > 1) exitCode = result.exitCode;
    else if (result.exitCode === 0) exitCode = 0;
    if (isSearch && (result.exitCode > 1 || (result.exitCode === 0 && --left === 0))) break;
  }
  return exitCode;
}
