// What: children of the shell: where a command is found, how it is started, what its end means.
// Next: interpreter.js, which decides what is a child and what runs here.

import kernel from 'coldframe:kernel';
import fs from 'node:fs';
import { constants } from 'node:os';
import { posix } from 'node:path';

const ENOENT = -2;
const ENOEXEC = -8;
const EACCES = -13;
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
const SIGNALED = 128;

/** What this process is: the one command that it finds without PATH. `everything`: there are no files (the image is being made). */
export const applet = { name: undefined, everything: false };

/** The file that a command's name stands for, or undefined. */
export function find(name, path, cwd) {
  if (name.includes('/')) return name;
  if (name === applet.name || applet.everything) return `/bin/${name}`;
  for (const folder of (path ?? '/usr/local/bin:/usr/bin:/bin').split(':')) {
    const candidate = posix.resolve(cwd, folder, name);
    try {
      if (!fs.statSync(candidate).isFile()) continue;
      fs.accessSync(candidate, fs.constants.X_OK);
      return candidate;
    } catch {
      // the next folder
    }
  }
  return undefined;
}

/**
 * Starts `file`; a script without a first line that says who runs it is the shell's. `fds`: what the child's descriptors are, by their
 * numbers here. The child's number, or what went wrong: `{ exitCode, message }`.
 */
export function start({ file, args, env, cwd, fds, detached = false }) {
  const pairs = Object.entries(env).map(([key, value]) => `${key}=${value}`);
  let pid = kernel.spawn({ file, args, cwd, env: pairs, fds, detached });
  if (pid === ENOEXEC)
    pid = kernel.spawn({ file: '/bin/sh', args: ['sh', file, ...args.slice(1)], cwd, env: pairs, fds, detached });
  return pid >= 0 ? pid : failure(pid, file, cwd);
}

function failure(error, file, cwd) {
  if (error === ENOENT) return { exitCode: NOT_FOUND, message: 'No such file or directory' };
  if (error !== EACCES) return { exitCode: NOT_EXECUTABLE, message: kernel.describe(error) };
  const isDirectory = fs.statSync(posix.resolve(cwd, file), { throwIfNoEntry: false })?.isDirectory();
  return { exitCode: NOT_EXECUTABLE, message: isDirectory ? 'Is a directory' : 'Permission denied' };
}

const NAMES = Object.fromEntries(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** The number of a signal by name (with or without SIG) or number, or undefined. */
export function signalNumber(text) {
  if (/^\d+$/.test(text)) return Number(text);
  const name = text.toUpperCase();
  return constants.signals[name.startsWith('SIG') ? name : `SIG${name}`];
}

export const signalName = (number) => NAMES[number];

/** `$?` for a wait status. */
export const exitCodeOf = (status) => ((status & 0x7f) > 0 ? SIGNALED + (status & 0x7f) : status >> 8);

/** Resolves with the wait status. Signals are heard meanwhile. */
export const ended = (pid) => new Promise((resolve) => kernel.wait(pid, resolve));

const PASSED_ON = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'];

/** Whether the next program stands in the shell's place: `sh -c` with one program, `exec`. */
export const place = { isGiven: false };

/**
 * For a program in the shell's place: it gets the shell's signals, and the shell ends as it does. Signals are heard from here on, before the program is
 * started: whoever sees its first output may send one at once. `ended(pid)` resolves as the function of that name does; `leave()` when nothing was started.
 */
export function takePlace() {
  let child;
  const pass = (name) => {
    try {
      process.kill(child, name);
    } catch {
      // it has just ended
    }
  };
  for (const name of PASSED_ON) process.on(name, pass);
  const leave = () => {
    for (const name of PASSED_ON) process.removeListener(name, pass);
  };
  return {
    leave,
    async ended(pid) {
      // Set in the turn in which it was started, so before a signal can be heard.
      child = pid;
      const status = await ended(pid);
      leave();
      if ((status & 0x7f) > 0) process.kill(process.pid, status & 0x7f);
      return status;
    },
  };
}
