// The effect of redirections on a child's descriptors, and the streams of this process that
// redirections replace. A command that runs in this process returns text, which just-bash
// redirects. A child needs real descriptors. Next: interpreter.js.

import fs from 'node:fs';
import { posix } from 'node:path';
import { descriptorOf } from './descriptors.js';

const BOTH = { out: true, err: true };
const isNumber = (text) => /^\d+$/.test(text);

/** Returns the streams that redirections replace: `{ out, err }`. */
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
 * Returns the child's descriptors. `fds` are the descriptors without redirections. `prepared` has
 * just-bash's targets by index, and the text of here-documents. `opened` collects the descriptors
 * that the caller must close afterwards.
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
      const content = descriptorOf(Buffer.from(prepared.stdin ?? '', 'latin1'));
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
  // A number without a descriptor becomes -1, which means closed.
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

// just-bash stores the file of `exec 3> file` as a path with a prefix.
const KEPT = /^__(?:file|file_append|rw)__:(?:\d+:)?(.*)$/s;

/** Returns a descriptor for a file that the shell keeps open under a number, or undefined. */
export function keptDescriptor(entry, open) {
  const path = entry === undefined ? undefined : KEPT.exec(entry)?.[1];
  return path === undefined ? undefined : open(path, 'a+');
}

const literal = (word) => word.parts?.map((part) => part.value ?? '').join('') ?? '';
const isDevice = (cwd, path) => fs.statSync(posix.resolve(cwd, path), { throwIfNoEntry: false })?.isFile() === false;
