// What: what redirections mean for a child's descriptors, and which output they take away from this process.
// Why twice: what runs here gives its output as text, and just-bash does the redirecting; a child gets real descriptors.
// Next: interpreter.js.

import fs from 'node:fs';
import { posix } from 'node:path';
import { holding } from './descriptors.js';

const BOTH = { out: true, err: true };
const isNumber = (text) => /^\d+$/.test(text);

/** Which output is not this process's any more. */
export function taken(redirections) {
  const result = { out: false, err: false };
  for (const { operator, fd, target } of redirections) {
    if (operator.startsWith('<') && operator !== '<>') continue;
    if (operator.startsWith('&>') || operator === '>&') return BOTH;
    if (target === undefined || (fd ?? 1) === 1) result.out = true;
    else if (fd === 2) result.err = true;
  }
  return result;
}

/**
 * The child's descriptors. `fds`: what they would be without redirections; `prepared`: just-bash's targets by index, and the text of what is
 * read; `opened` gets what must be closed here afterwards.
 */
export function redirect(fds, redirections, prepared, { cwd, noclobber, kept }, opened) {
  const result = [...fds];
  const open = (path, flags) => {
    const fd = fs.openSync(posix.resolve(cwd, path), flags, 0o666);
    opened.push(fd);
    return fd;
  };
  redirections.forEach(({ operator, fd, target }, index) => {
    const text = prepared.targets.get(index);
    const isHere = operator === '<<' || operator === '<<-' || operator === '<<<';
    if (isHere) {
      const content = holding(Buffer.from(prepared.stdin ?? '', 'latin1'));
      opened.push(content);
      result[fd ?? 0] = content;
    } else if (operator === '<') result[fd ?? 0] = open(text, 'r');
    else if (operator === '<>') result[fd ?? 0] = open(text, 'a+');
    else if (operator === '>') result[fd ?? 1] = open(text, noclobber && !isDevice(cwd, text) ? 'wx' : 'w');
    else if (operator === '>|') result[fd ?? 1] = open(text, 'w');
    else if (operator === '>>') result[fd ?? 1] = open(text, 'a');
    else if (operator === '&>' || operator === '&>>') result[1] = result[2] = open(text, operator === '&>' ? 'w' : 'a');
    else duplicate(result, operator, fd, text ?? literal(target), open, kept);
  });
  // A hole is nothing.
  return Array.from(result, (fd) => fd ?? -1);
}

function duplicate(result, operator, fd, text, open, kept) {
  const own = operator === '<&' ? 0 : 1;
  if (text === '-') result[fd ?? own] = -1;
  else if (isNumber(text)) {
    const source = result[Number(text)] ?? keptDescriptor(kept?.get(Number(text)), open);
    if (source === undefined || source < 0) throw new Error(`${text}: Bad file descriptor`);
    result[fd ?? own] = source;
  } else if (operator === '>&') result[1] = result[2] = open(text, 'w');
  else throw new Error(`${text}: ambiguous redirect`);
}

// What `exec 3> file` has opened, just-bash remembers as a path, with a word before it.
const KEPT = /^__(?:file|file_append|rw)__:(?:\d+:)?(.*)$/s;

/** A descriptor for what the shell keeps open under a number, or undefined. */
export function keptDescriptor(entry, open) {
  const path = entry === undefined ? undefined : KEPT.exec(entry)?.[1];
  return path === undefined ? undefined : open(path, 'a+');
}

const literal = (word) => word.parts?.map((part) => part.value ?? '').join('') ?? '';
const isDevice = (cwd, path) => fs.statSync(posix.resolve(cwd, path), { throwIfNoEntry: false })?.isFile() === false;
