// Commands that write output while they read input, when each command is a process of its own. In a
// pipeline with programs, no command may wait for the end of its input, which may never be reached.
// Next: index.js, which falls back to just-bash for every other option; input.js, which decides
// when the shell starts these commands as processes.

import fs from 'node:fs';
import { dd } from './commands/dd.js';
import { pager } from './commands/pager.js';
import { runPs } from './commands/processes.js';
import { su, sudo } from './commands/switch-user.js';
import { close, readSome, write } from './descriptors.js';
import { tail } from './follow.js';
import { runLauncher, timeout } from './launchers.js';
import { curl } from './network/curl.js';
import { nc } from './network/nc.js';
import { wget } from './network/wget.js';
import { reasonOf } from './reasons.js';

const PIECE = 65_536;

function* inputs(name, files, result) {
  for (const file of files.length === 0 ? ['-'] : files) {
    if (file === '-') {
      yield 0;
      continue;
    }
    let fd;
    try {
      fd = fs.openSync(file, 'r');
      if (fs.fstatSync(fd).isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
      yield fd;
    } catch (error) {
      if (error.code === undefined) throw error;
      write(2, Buffer.from(`${name}: ${file}: ${reasonOf(error)}\n`));
      result.exitCode = 1;
    } finally {
      if (fd !== undefined) close(fd);
    }
  }
}

function cat(args) {
  if (args.some((arg) => arg.startsWith('-') && arg !== '-' && arg !== '-u')) return undefined;
  const result = { exitCode: 0 };
  for (const fd of inputs(
    'cat',
    args.filter((arg) => arg !== '-u'),
    result,
  ))
    for (let piece = readSome(fd); piece.length > 0; piece = readSome(fd)) write(1, piece);
  return result.exitCode;
}

/**
 * Prints the first lines or bytes of standard input or of one file, and reads no more, because the
 * input may have no end.
 */
function head(args) {
  const read = readHead(args);
  if (read === undefined) return undefined;
  const result = { exitCode: 0 };
  for (const fd of inputs('head', read.files, result)) passHead(fd, read, (piece) => write(1, piece));
  return result.exitCode;
}

/**
 * Parses the arguments of `head`. Returns undefined for options that this file does not implement.
 */
export function readHead(args) {
  const [, lines, bytes, file] = /^(?:(?:-n ?|-)(\d+)|-c ?(\d+)|)(?: ?([^- ][^ ]*))?$/.exec(args.join(' ')) ?? [undefined];
  if (args.length > 3 || !args.every((arg) => arg !== '' && !arg.includes(' '))) return undefined;
  if (lines === undefined && bytes === undefined && file === undefined && args.length > 0) return undefined;
  return { count: Number(bytes ?? lines ?? 10), isBytes: bytes !== undefined, files: file === undefined ? [] : [file] };
}

/** Passes the first lines or bytes of the data in `fd` to `pass`. */
export function passHead(fd, { count, isBytes }, pass) {
  let left = count;
  while (left > 0) {
    const piece = readSome(fd, isBytes ? Math.min(left, PIECE) : PIECE);
    if (piece.length === 0) return;
    let end = 0;
    if (isBytes) {
      end = piece.length;
      left -= end;
    } else {
      while (left > 0 && end < piece.length) if (piece[end++] === 10) left--;
    }
    pass(piece.subarray(0, end));
  }
}

function tee(args) {
  const files = args.filter((arg) => !arg.startsWith('-'));
  if (args.some((arg) => arg.startsWith('-') && arg !== '-a' && arg !== '-i')) return undefined;
  const fds = files.map((file) => fs.openSync(file, args.includes('-a') ? 'a' : 'w'));
  for (let piece = readSome(0); piece.length > 0; piece = readSome(0)) for (const fd of [1, ...fds]) write(fd, piece);
  return 0;
}

function yes(args) {
  const piece = Buffer.from(`${args.join(' ') || 'y'}\n`.repeat(1_000));
  for (;;) write(1, piece);
}

/**
 * Name → function that runs the command and returns the exit code, or a promise of the exit code.
 * The result undefined means that the arguments are not supported. The shell starts a command that
 * is not in just-bash's table too as a process.
 */
export const programs = new Map(
  Object.entries({
    cat,
    curl,
    dd,
    head,
    less: pager('less', cat),
    more: pager('more', cat),
    nc,
    nice: runLauncher('nice'),
    nohup: runLauncher('nohup'),
    ps: runPs,
    setsid: runLauncher('setsid'),
    su,
    sudo,
    tail,
    tee,
    timeout,
    wget,
    yes,
  }),
);
