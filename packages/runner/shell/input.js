// Decides whether a command of just-bash must be a process, because its input may have no end. A
// command in the shell's own process reads its whole input before it writes output. The commands of
// programs.js and filters.js write output while they read, as processes. Next: filters.js.

import kernel from 'coldframe:kernel';
import fs from 'node:fs';
import { close, descriptorOf } from './descriptors.js';
import { isFilter } from './filters.js';
import { followsFile } from './follow.js';

const TEXT = new Set(['Literal', 'SingleQuoted', 'Escaped']);

// Commands that read standard input if no operand names a file.
const isOperand = (arg) => !/^-./.test(arg);
const READERS = new Map(
  Object.entries({
    cat: (args) => args.every((arg) => arg === '-' || arg === '-u'),
    head: (args) => !args.some((arg, index) => isOperand(arg) && !/^(?:-[nc]|--lines|--bytes)$/.test(args[index - 1] ?? '')),
    tee: () => true,
    tail: (args) => args.some((arg) => /^(?:-[nc])?\+\d+$/.test(arg)) && args.length <= 2,
  }),
);

/**
 * Returns whether the command reads standard input and writes output before the end of the input.
 */
export const readsAsItComes = (name, args) => READERS.get(name)?.(args) ?? isFilter(name, args);

/** Returns whether the command reads a file until the command is ended. */
export const follows = (name, args) => name === 'tail' && followsFile(args);

/**
 * Returns whether a read of descriptor 0 can wait. Files and `/dev/null` never wait. Pipes, sockets
 * and streams of the app can wait.
 */
export function inputMayWait() {
  try {
    const stats = fs.fstatSync(0);
    return !stats.isFile() && !stats.isDirectory() && !isNull(stats);
  } catch {
    return false;
  }
}

function isNull({ rdev, mode }) {
  const known = fs.statSync('/dev/null', { throwIfNoEntry: false });
  return (mode & fs.constants.S_IFMT) === fs.constants.S_IFCHR && known?.rdev === rdev;
}

/** Returns the words after a simple command's name; a word that needs an expansion is empty. */
export const plainArguments = (node) =>
  node.args.map((word) => {
    const parts = word.parts.flatMap((part) => (part.type === 'DoubleQuoted' ? part.parts : [part]));
    return parts.every(({ type }) => TEXT.has(type)) ? parts.map(({ value }) => value).join('') : '';
  });

/** Returns whether a redirection replaces the input of the command. */
export const hasOwnInput = (node) =>
  (node.redirections ?? []).some(({ operator, fd }) => operator.startsWith('<') && (fd ?? 0) === 0);

/**
 * Returns the input of a program: this process's own input, unless other input is given. `release`
 * must be called when the program has ended. `release` finds by the file's position which part of a
 * group's input the program has read.
 */
export function inputFor(state, stdin, owned) {
  const isGroups = !owned && stdin === '';
  const text = isGroups ? state.groupStdin : stdin;
  if (text === undefined) return { fd: 0, release: () => {} };
  const fd = descriptorOf(Buffer.from(text, 'latin1'));
  const release = () => {
    if (isGroups && state.groupStdin === text) state.groupStdin = text.slice(kernel.position(fd));
    close(fd);
  };
  return { fd, release };
}
