// The builtin `read` on the shell's own input. just-bash's `read` splits a given text into
// variables. This file reads this text from a descriptor, exactly as many bytes as the options
// allow, so that the next reader receives the other bytes. Next: script-input.js.

import kernel from 'coldframe:kernel';
import { decodeBytesToUtf8 } from 'just-bash';
import { write } from './descriptors.js';
import { readUntil } from './script-input.js';

const TIMED_OUT = 142;
const LINE_FEED = 10;
const UTF8_TAIL = 0xc0;
const UTF8_LEAD = 0x80;

// Returns the options of `read` that concern the input.
function readOptions(args) {
  const found = { flags: '', values: {} };
  for (let at = 0; at < args.length && /^-./.test(args[at]) && args[at] !== '--'; at++) {
    for (let letter = 1; letter < args[at].length; letter++) {
      const name = args[at][letter];
      if (!'adinNptu'.includes(name)) {
        found.flags += name;
        continue;
      }
      const attached = args[at].slice(letter + 1);
      found.values[name] = attached === '' ? (args[++at] ?? '') : attached;
      break;
    }
  }
  return found;
}

/** Returns whether `read` with these arguments reads descriptor 0. */
export const readsInput = (args) => readOptions(args).values.u === undefined;

// Reads `count` characters, or fewer at the byte `end` or at the end of the input.
async function readCharacters(count, limits) {
  const pieces = [];
  for (let left = count; left > 0; left--) {
    const first = await readUntil(0, { ...limits, most: 1 });
    pieces.push(first.bytes);
    if (first.timedOut || first.bytes.length === 0 || first.bytes[0] === limits.end)
      return { ...first, bytes: Buffer.concat(pieces) };
    const [lead] = first.bytes;
    const tail = lead < UTF8_TAIL ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    if (lead >= UTF8_LEAD && tail > 0) pieces.push((await readUntil(0, { ...limits, most: tail })).bytes);
  }
  return { bytes: Buffer.concat(pieces), timedOut: false };
}

/**
 * Runs `read`. `run` runs just-bash's `read` with a text. Input without an end costs no CPU time
 * while the shell waits.
 */
export async function read(state, args, run) {
  const { flags, values } = readOptions(args);
  const seconds = values.t === undefined ? undefined : Number.parseFloat(values.t);
  if (seconds === 0 || Number.isNaN(seconds) || seconds < 0) return run(args, '');
  const terminal = kernel.isTerminal(0) ? kernel.getAttributes(0) : undefined;
  const limits = {
    end: values.d === undefined ? LINE_FEED : values.d === '' ? 0 : Buffer.from(values.d)[0],
    joins: !flags.includes('r'),
    deadline: seconds === undefined ? undefined : performance.now() + seconds * 1_000,
  };
  const exact = values.N === undefined ? undefined : Number.parseInt(values.N, 10);
  const most = exact ?? (values.n === undefined ? undefined : Number.parseInt(values.n, 10));
  const restore = terminal && prepare(terminal, flags.includes('s'), most !== undefined || limits.end !== LINE_FEED);
  if (terminal !== undefined && values.p !== undefined) write(2, Buffer.from(values.p));
  try {
    const { bytes, timedOut } =
      most > 0 ? await readCharacters(most, exact === undefined ? limits : { ...limits, end: -1 }) : await readUntil(0, limits);
    const result = await assign({ args, values, bytes, most, run, state, isWhole: !timedOut });
    return timedOut ? { ...result, exitCode: TIMED_OUT } : result;
  } finally {
    restore?.();
  }
}

// Assigns the bytes that were read to the variables. With `-N` the whole text is the value of the
// first variable. With `-n` the text ends like a line, because just-bash counts bytes.
function assign({ args, values, bytes, most, run, state, isWhole }) {
  const text = bytes.toString('utf8');
  if (values.N !== undefined) {
    const names = operandsOf(args);
    for (const [index, name] of (names.length === 0 ? ['REPLY'] : names).entries()) state.env.set(name, index === 0 ? text : '');
    return { stdout: '', stderr: '', exitCode: Number([...text].length < most) };
  }
  const isFull = values.n !== undefined && isWhole && [...text].length >= most;
  return run(withoutCount(args), bytes.toString('latin1') + (isFull ? '\n' : ''));
}

// Returns the names of variables among the arguments.
function operandsOf(args) {
  const at = args.findIndex(
    (arg, index) => arg === '--' || (!/^-./.test(arg) && !/^-[a-zA-Z]*[adinNptu]$/.test(args[index - 1] ?? '')),
  );
  return at < 0 ? [] : args.slice(args[at] === '--' ? at + 1 : at);
}

// Removes `-n COUNT` from the arguments.
function withoutCount(args) {
  const at = args.findIndex((arg) => /^-[a-zA-Z]*n\d*$/.test(arg));
  if (at < 0) return args;
  const [, letters, count] = /^-([a-zA-Z]*)n(\d*)$/.exec(args[at]);
  return [...args.slice(0, at), ...(letters === '' ? [] : [`-${letters}`]), ...args.slice(at + (count === '' ? 2 : 1))];
}

const ASSIGNING = { __proto__: null, read: 'REPLY', mapfile: 'MAPFILE', readarray: 'MAPFILE' };

/** Returns whether a builtin assigns its input to variables. */
export const assignsInput = (name) => ASSIGNING[name] !== undefined;

/** Decodes the variables that a builtin has assigned. just-bash assigns bytes. */
export function decodeAssigned(state, command, args) {
  const array = command === 'read' ? readOptions(args).values.a : undefined;
  const names = operandsOf(args);
  for (const name of [...(names.length === 0 ? [ASSIGNING[command]] : names), ...(array === undefined ? [] : [array])]) {
    const value = state.env.get(name);
    if (value !== undefined) state.env.set(name, decodeBytesToUtf8(value));
    const elements = state.arrays.get(name)?.elements;
    for (const [index, element] of elements ?? []) elements.set(index, decodeBytesToUtf8(element));
  }
}

const ICANON = 0o2;
const ECHO = 0o10;
const VTIME = 5;
const VMIN = 6;

// Sets the terminal for `-s` and `-n`. Returns a function that restores the terminal.
function prepare(terminal, isSilent, isByCharacter) {
  const attributes = { ...terminal, cc: Uint8Array.from(terminal.cc) };
  if (isSilent) attributes.lflag &= ~ECHO;
  if (isByCharacter) {
    attributes.lflag &= ~ICANON;
    Object.assign(attributes.cc, { [VMIN]: 1, [VTIME]: 0 });
  }
  if (attributes.lflag === terminal.lflag) return undefined;
  kernel.setAttributes(0, attributes);
  return () => kernel.setAttributes(0, terminal);
}
